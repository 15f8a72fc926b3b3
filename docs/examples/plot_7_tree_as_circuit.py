"""
A tree, and the circuit that it is
==================================

Each decision node becomes a sum node, weighted by the fractions of training rows that go left and right; each leaf
becomes a product of densities over the features and the class.  (The paper's Figure 1.)
"""

import io

import matplotlib.pyplot as plt
import numpy as np

from joints import GenerativeForestClassifier
from joints.render.diagrams import circuit, decision_tree

rng = np.random.default_rng(1)
X = rng.normal(size=(60, 2))
y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
gef = GenerativeForestClassifier(
    1, max_depth=2, max_features=None, min_sd=0.1, smoothing=0.1, combine="average", random_state=0
).fit(X, y)

# %%
# Pictures are figures of matplotlib, and can be saved as PNG, SVG, PDF or TikZ.


def as_image(picture):
    buffer = io.BytesIO()
    picture.figure().savefig(buffer, format="png", dpi=150)
    buffer.seek(0)
    return plt.imread(buffer)


fig, axes = plt.subplots(2, 1, figsize=(7, 7.5), layout="constrained", height_ratios=[1, 1.2])
for ax, picture, title in zip(axes, (decision_tree(gef), circuit(gef)), ("the tree", "the circuit"), strict=True):
    ax.imshow(as_image(picture))
    ax.set_title(title)
    ax.axis("off")
