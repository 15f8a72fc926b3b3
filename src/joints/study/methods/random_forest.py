"""Scikit-learn's random forest, which has a side for missing values in every split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from joints.study.methods.tuned import TunedClassifier, one_hot


class RandomForest(TunedClassifier):
    """Settings are those of `sklearn.ensemble.RandomForestClassifier`; categories are columns of 0 and 1.

    Where a feature has no missing values in training, its splits send missing values to the side with more rows.
    """

    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        return RandomForestClassifier(**settings, random_state=seed, n_jobs=1)

    def encode(self, X: np.ndarray) -> np.ndarray:
        return one_hot(X, self.n_categories_, first=0)
