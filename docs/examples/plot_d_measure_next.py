"""
Which feature is worth measuring next?
======================================

``joints.inspect.information_gain`` says by how much each missing feature would reduce the entropy of the class, on
average over the values that it may have.  Here wines are measured one feature at a time, the best first, or in random
order.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from joints import GenerativeForestClassifier
from joints.inspect import information_gain

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
gef = GenerativeForestClassifier(20, random_state=0).fit(X_train, y_train)


def random_order(rows):
    return np.where(np.isnan(rows), np.random.default_rng(0).random(rows.shape), 0)


def best_first(rows):
    return np.where(np.isnan(rows), information_gain(gef, rows, n_points=4) + 1, 0)


# %%
# After every measurement the gains are asked for again: what is worth measuring depends on what is known.

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for worth, name, colour in (
    (best_first, "most informative first", "#0072B2"),
    (random_order, "in random order", "#D55E00"),
):
    rows, accuracy = np.full_like(X_test, np.nan), []
    for _ in range(6):
        accuracy.append(100 * gef.score(rows, y_test))
        chosen = worth(rows).argmax(axis=1)[:, None]
        np.put_along_axis(rows, chosen, np.take_along_axis(X_test, chosen, axis=1), axis=1)
    ax.plot(accuracy, marker="o", color=colour, label=name)
ax.set(xlabel="features measured, of 13", ylabel="accuracy (%)")
ax.legend(frameon=False)
