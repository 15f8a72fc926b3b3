"""
Outliers: rows with a low density
=================================

A classifier always answers, even far from anything that it has seen.  ``score_samples`` tells how likely the features
themselves are: log p(x).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from joints import GenerativeForestClassifier

X, y = make_moons(400, noise=0.12, random_state=0)
gef = GenerativeForestClassifier(50, min_sd=0.1, random_state=0).fit(X, y)

horizontal, vertical = np.meshgrid(np.linspace(-2, 3, 80), np.linspace(-1.6, 2.1, 80))
grid = np.column_stack([horizontal.ravel(), vertical.ravel()])
density = gef.score_samples(grid).reshape(horizontal.shape)
strange = np.array([[0.5, 2.0], [2.8, 1.6], [-1.7, -1.2]])

# %%
# The lowest five percent of the training rows are a natural threshold.

threshold = np.quantile(gef.score_samples(X), 0.05)
print("rows that look strange:", gef.score_samples(strange) < threshold)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.contourf(horizontal, vertical, density.clip(-8), levels=20, cmap="Blues")
ax.contour(horizontal, vertical, density, levels=[threshold], colors="black", linewidths=0.8, linestyles="--")
ax.scatter(*X.T, c=np.where(y == 0, "#0072B2", "#D55E00"), s=6)
ax.scatter(*strange.T, marker="x", s=70, color="black")
ax.set(xticks=[], yticks=[])
