"""
What the forest chooses by itself
=================================

By default a forest chooses how smooth its leaves are and how its trees answer together, by the log-loss of training
rows of which random features are removed, each answered by the trees that did not see it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from joints import GenerativeForestClassifier
from joints.render.choice_plot import draw_choice

X, y = load_wine(return_X_y=True)
gef = GenerativeForestClassifier(50, random_state=0).fit(X, y)
print(f"chosen: min_sd={gef.min_sd_}, combine={gef.combine_}; out-of-bag accuracy {gef.oob_score_:.2f}")

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
draw_choice(gef, ax)
