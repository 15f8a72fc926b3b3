"""
Imputation: how far are the values off?
=======================================

The imputers of the paper's experiments are ordinary transformers of scikit-learn: fitted on training rows, applied to
rows with holes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from joints.impute import GenerativeForestImputer, KNNImputer, MeanImputer, MissForestImputer

X, _ = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
rng = np.random.default_rng(0)
train, test = X[::2], X[1::2]
hidden = rng.random(test.shape) < 0.3
holes = np.where(hidden, np.nan, test)

errors = {}
generative = GenerativeForestImputer(50, random_state=0)
for imputer in (MeanImputer(), KNNImputer(7), MissForestImputer(20, random_state=0), generative):
    filled = imputer.fit(train).transform(holes)
    errors[type(imputer).__name__.removesuffix("Imputer")] = np.abs(filled - test)[hidden]

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.boxplot(list(errors.values()), tick_labels=list(errors), showfliers=False, medianprops={"color": "#0072B2"})
ax.set(ylabel="error in standard deviations")
ax.spines[["top", "right"]].set_visible(False)

# %%
# One value says nothing about its own error.  Several draws do: the spread of the generative forest's draws for each
# cell encloses the truth about as often as it says.

draws = np.array(generative.draw(holes, n_draws=40, random_state=0))
low, high = np.quantile(draws, [0.05, 0.95], axis=0)
print(f"90 % intervals enclose {100 * ((low <= test) & (test <= high))[hidden].mean():.0f} % of the hidden cells")
