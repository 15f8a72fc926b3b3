"""Friedman's method: both branches where a split's feature is missing, and the counts of all reached leaves."""

from __future__ import annotations

from typing import Self

import numpy as np

from joints.interface import Method, TrainingFold


class FriedmansMethod(Method):
    """The forest itself, following both branches."""

    def fit(self, fold: TrainingFold) -> Self:
        self.forest_ = fold.forest
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.forest_.predict_proba(X, missing="friedman")
