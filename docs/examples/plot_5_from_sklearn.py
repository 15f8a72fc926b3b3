"""
A scikit-learn forest that you already have
===========================================

``from_sklearn`` turns a fitted random forest into a Generative Forest with the same predictions on complete rows, which
also answers for incomplete ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from joints import GenerativeForestClassifier

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
forest = RandomForestClassifier(50, random_state=0).fit(X_train, y_train)
gef = GenerativeForestClassifier.from_sklearn(forest, X_train, y_train, combine="average")

difference = np.abs(gef.predict_proba(X_test) - forest.predict_proba(X_test)).max()
print(f"largest difference on complete rows: {difference:.1e}")

# %%
# With half of the values gone, probabilities move towards the middle: less is known.

holes = np.where(np.random.default_rng(0).random(X_test.shape) < 0.5, np.nan, X_test)
fig, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
ax.scatter(forest.predict_proba(X_test)[:, 1], gef.predict_proba(holes)[:, 1], s=12, color="#0072B2", alpha=0.6)
ax.plot([0, 1], [0, 1], color="black", linewidth=0.6)
ax.set(xlabel="p(benign | all features), scikit-learn", ylabel="p(benign | half of the features)")
ax.set_title(f"accuracy {gef.score(X_test, y_test):.2f}, and {gef.score(holes, y_test):.2f} with holes", fontsize=10)
