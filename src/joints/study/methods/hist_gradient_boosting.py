"""Scikit-learn's histogram gradient boosting, which has a side for missing values in every split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from joints.study.methods.tuned import TunedClassifier

MOST_CATEGORIES = 255  # that it takes as such; a feature of more is taken as a number


class HistGradientBoosting(TunedClassifier):
    """Settings are those of `sklearn.ensemble.HistGradientBoostingClassifier`; there is no early stopping."""

    def _train(self, X: np.ndarray, y: np.ndarray, candidate: Mapping[str, Any], seed: int) -> tuple[np.ndarray, Any]:
        # it cannot bin a feature without any value
        return super()._train(np.where(np.isnan(X).all(axis=0), 0.0, X), y, candidate, seed)

    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        categorical = (self.n_categories_ > 0) & (self.n_categories_ <= MOST_CATEGORIES)
        return HistGradientBoostingClassifier(
            **settings, categorical_features=np.flatnonzero(categorical), early_stopping=False, random_state=seed
        )
