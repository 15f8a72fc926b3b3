"""
Regression: quantiles, whatever is missing
==========================================

``GenerativeForestRegressor`` has a density of the target in every leaf.  A row gets a whole distribution, also where
features are missing: what is not known makes it wider.
"""

import matplotlib.pyplot as plt
import numpy as np

from joints import GenerativeForestRegressor

rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(-3, 3, 1500), rng.random(1500) < 0.3])
y = np.sin(X[:, 0]) + 2 * X[:, 1] + rng.normal(0, 0.1 + 0.1 * np.abs(X[:, 0]))
gef = GenerativeForestRegressor(50, min_samples_leaf=15, categorical_features={1: 2}, random_state=0).fit(X, y)

# %%
# With both features, and with the second one missing: it decides between two bands, of which one is rarer.

grid = np.linspace(-3, 3, 200)
fig, axes = plt.subplots(1, 2, figsize=(7, 3.2), sharey=True, layout="constrained")
for ax, second, title in zip(axes, (0.0, np.nan), ("second feature: 0", "second feature: missing"), strict=True):
    rows = np.column_stack([grid, np.full(200, second)])
    low, middle, high = gef.distribution(rows).quantile([0.05, 0.5, 0.95]).T
    ax.scatter(X[::3, 0], y[::3], s=4, color="#c3cad4")
    ax.fill_between(grid, low, high, color="#0072B2", alpha=0.25, label="90 % of the distribution")
    ax.plot(grid, middle, color="#0072B2", label="median")
    ax.set(title=title, xlabel="first feature")
axes[0].set_ylabel("target")
axes[0].legend(frameon=False, loc="upper left", fontsize=8)
