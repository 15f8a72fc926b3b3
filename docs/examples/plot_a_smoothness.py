"""
How smooth the leaves are
=========================

``min_sd`` is the smallest standard deviation of a leaf's Gaussian, in units of the feature's own.  Small values follow
the data closely, large ones give cautious answers about rows with holes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from joints import ForestClassifier, GenerativeForestClassifier

X, y = make_moons(300, noise=0.15, random_state=0)
forest = ForestClassifier(50, random_state=0).fit(X, y)
horizontal, vertical = np.meshgrid(np.linspace(-1.8, 2.8, 70), np.linspace(-1.2, 1.7, 70))
grid = np.column_stack([horizontal.ravel(), vertical.ravel()])

fig, axes = plt.subplots(1, 3, figsize=(8, 2.6), sharex=True, sharey=True, layout="constrained")
for ax, min_sd in zip(axes, (0.03, 0.2, 1.0), strict=True):
    gef = GenerativeForestClassifier.from_forest(forest, min_sd=min_sd)
    density = gef.score_samples(grid).reshape(horizontal.shape)
    ax.contourf(horizontal, vertical, np.exp(density), levels=15, cmap="Blues")
    ax.scatter(*X.T, c=np.where(y == 0, "#0072B2", "#D55E00"), s=3)
    ax.set(title=f"min_sd = {min_sd}", xticks=[], yticks=[])
