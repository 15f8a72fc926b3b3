"""
One row, three ways to do without a value
=========================================

A forest meets a split on a feature that a row lacks.  Friedman's method follows both branches and counts; surrogate
splits ask another feature that agrees best; a Generative Forest weighs the branches by how likely they are given
everything that is observed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from joints import ForestClassifier, GenerativeForestClassifier

X, y = load_iris(return_X_y=True)
forest = ForestClassifier(100, random_state=0).fit(X, y)
gef = GenerativeForestClassifier.from_forest(forest)

sepals = np.column_stack([X[:, :2], np.full((len(X), 2), np.nan)])  # only the sepals are known
answers = {
    "Friedman": forest.predict_proba(sepals, missing="friedman"),
    "surrogate splits": forest.predict_proba(sepals, missing="surrogate"),
    "Generative Forest": gef.predict_proba(sepals),
}

# %%
# Log-loss of the three: how much probability the true class gets.

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
loss = {name: -np.log(p[np.arange(len(y)), y].clip(1e-6)).mean() for name, p in answers.items()}
ax.barh(list(loss), list(loss.values()), color=["#E69F00", "#D55E00", "#0072B2"])
ax.bar_label(ax.containers[0], fmt="%.2f", padding=4)
ax.set(xlabel="log-loss on iris with sepals alone (lower is better)")
ax.spines[["top", "right"]].set_visible(False)
