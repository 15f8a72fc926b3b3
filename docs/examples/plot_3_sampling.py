"""
Sampling: new rows like the old ones
====================================

A joint distribution can be sampled: rows and their classes come from the mixture of the trees.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from joints import GenerativeForestClassifier

X, y = make_moons(500, noise=0.1, random_state=0)
gef = GenerativeForestClassifier(50, min_sd=0.05, random_state=0).fit(X, y)
drawn, classes = gef.sample(500, random_state=0)

fig, axes = plt.subplots(1, 2, figsize=(7, 3), sharex=True, sharey=True, layout="constrained")
for ax, points, labels, title in zip(axes, (X, drawn), (y, classes), ("data", "samples"), strict=True):
    ax.scatter(*points.T, c=np.where(labels == 0, "#0072B2", "#D55E00"), s=5)
    ax.set(title=title, xticks=[], yticks=[])
