"""
Categories: tables of pandas, and predicting any feature
========================================================

Columns of dtype ``category`` are categorical features.  The circuit is a joint distribution, so every categorical
feature can be predicted from the others, not only the class.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from joints import GenerativeForestClassifier

rng = np.random.default_rng(0)
n = 600
season = rng.choice(["winter", "spring", "summer", "autumn"], n)
warmth = {"winter": 2.0, "spring": 11.0, "summer": 22.0, "autumn": 12.0}
temperature = np.array([warmth[name] for name in season]) + rng.normal(0, 4, n)
seasons = pd.CategoricalDtype(["winter", "spring", "summer", "autumn"])
table = pd.DataFrame({"season": pd.Series(season, dtype=seasons), "temperature": temperature})
swims = np.where(temperature + rng.normal(0, 5, n) > 18, "swims", "stays ashore")

gef = GenerativeForestClassifier(50, min_sd=0.3, min_samples_leaf=10, random_state=0).fit(table, swims)

# %%
# The season, given the temperature alone: p(season | temperature).

degrees = np.linspace(-6, 32, 60)
asked = pd.DataFrame({"season": pd.Series([None] * 60, dtype=seasons), "temperature": degrees})
probabilities = gef.predict_proba(asked, target="season")

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
colours = ["#0072B2", "#009E73", "#E69F00", "#D55E00"]
ax.stackplot(degrees, probabilities.T, labels=gef.features_.categories[0], colors=colours, alpha=0.8)
ax.set(xlabel="temperature", ylabel="p(season | temperature)", xlim=(-6, 32), ylim=(0, 1))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
