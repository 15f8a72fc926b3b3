"""
Missing values: marginalise instead of imputing
===============================================

A Generative Forest answers for rows with holes by exact inference: it sums over what is missing.  Here 0 to 80 % of the
test cells are removed at random, and the forest is compared with the same forest after mean imputation.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from joints import ForestClassifier, GenerativeForestClassifier
from joints.impute import MeanImputer

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)

forest = ForestClassifier(50, random_state=0).fit(X_train, y_train)
gef = GenerativeForestClassifier.from_forest(forest, combine="average")
imputer = MeanImputer().fit(X_train)

rates = np.arange(0, 0.9, 0.1)
rng = np.random.default_rng(0)
places = rng.random((20, *X_test.shape))  # a cell is missing where its number is below the rate
accuracy = {"Generative Forest": [], "mean imputation": []}
for rate in rates:
    tables = [np.where(place < rate, np.nan, X_test) for place in places]
    accuracy["Generative Forest"].append(np.mean([gef.score(table, y_test) for table in tables]))
    accuracy["mean imputation"].append(np.mean([forest.score(imputer.transform(table), y_test) for table in tables]))

# %%
# On complete rows both are the same forest (Theorem 1 of the paper).

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, values), colour in zip(accuracy.items(), ("#0072B2", "#D55E00"), strict=True):
    ax.plot(100 * rates, 100 * np.array(values), marker="o", color=colour, label=name)
ax.set(xlabel="missing test values (%)", ylabel="accuracy (%)")
ax.legend(frameon=False)
