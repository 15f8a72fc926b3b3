"""What a method of the study is: it learns from a training fold and classifies rows with missing values.

This module is below all others of the study and imports none of them.  A new method is one class here described, in a
file of its own, and one entry in `config/methods.yaml`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np


@dataclass(frozen=True, eq=False)
class TrainingFold:
    """What a method may learn from.

    Attributes
    ----------
    X : float64 of shape (n_rows, n_features)
        Continuous features standardised, categories as codes 0, ..., K - 1, NaN where missing.
    y : int64 of shape (n_rows,)
        Class codes.
    n_categories : int64 of shape (n_features,)
        K of each categorical feature, 0 for a continuous one.
    forest : fitted joints.ForestClassifier
        The forest grown on these rows, the same for all methods.
    seed : int
        For whatever the method draws at random.
    n_jobs : int
        Threads that it may use; its answers must not depend on them.
    """

    X: np.ndarray
    y: np.ndarray
    n_categories: np.ndarray
    forest: Any
    seed: int = 0
    n_jobs: int = 1

    @property
    def categorical_features(self) -> dict[int, int]:
        """Index and number of categories of every categorical feature, as the estimators take them."""
        return {j: int(k) for j, k in enumerate(self.n_categories) if k}


class Method(ABC):
    """One method; its parameters in `config/methods.yaml` are the arguments of its constructor."""

    @abstractmethod
    def fit(self, fold: TrainingFold) -> Self:
        """Learn from a training fold."""

    @abstractmethod
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Class probabilities of rows with NaN where a value is missing.

        Returns
        -------
        float64 of shape (n_rows, n_classes)
            Columns in the order of the training fold's classes, sorted.
        """

    def answers(self, X: np.ndarray) -> dict[str, np.ndarray]:
        """What one pass over the rows answers, by name.

        A model that answers for several methods at once (GeF and GeF+) overrides this; `answer` in
        `config/methods.yaml` then says which one belongs to a method.
        """
        return {"": self.predict_proba(X)}
