"""The interfaces of the study: methods, and mechanisms by which values go missing.

A method learns from a training fold and classifies rows with missing values; a mechanism says in which order the cells
of a table go missing.  To add one, subclass a class of this module in a file of its own, and add an entry to
`config/methods.yaml` or `config/mechanisms.yaml`.  This module imports nothing else from the package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

ONLY_ANSWER = "probabilities"  # the name of the answer of a model that has only one


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
        The forest grown on these rows, the same for all methods; None for a method that does not need it.
    seed : int
        Seed for anything random in the method.
    n_jobs : int
        Number of threads it may use; its answers must not depend on it.
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

    needs_forest: ClassVar[bool] = True  # False: it does not use the fold's forest, which may then be None

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
        """All answers from one pass over the rows, by name.

        A model that answers for several methods at once (GeF and GeF+) overrides this; `answer` in
        `config/methods.yaml` then says which one belongs to a method.  All answers are scored, whether or not a method
        uses them, so that a new method that uses one needs no further computation.
        """
        return {ONLY_ANSWER: self.predict_proba(X)}


class Mechanism(ABC):
    """How values go missing; its parameters in `config/mechanisms.yaml` are the arguments of its constructor."""

    @abstractmethod
    def order(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The cells of a table in the order in which they go missing.

        At a missing rate r, the first floor(r * cells) of them are removed.  So exactly the stated share is missing,
        and what is missing at one rate is missing at every higher one.

        Parameters
        ----------
        X : float64 of shape (n_rows, n_features)
            Test rows: continuous features standardised, categories as codes, NaN where the data lacks a value.
        n_categories : int64 of shape (n_features,)
            Number of categories of each feature, 0 for a continuous one.
        random : numpy.random.Generator
            The only source of randomness.  Draw what describes the mechanism, such as which features decide, before
            anything whose size depends on the rows: then it is the same where values are missing in training too.

        Returns
        -------
        int64 of shape (n_rows * n_features,)
            A permutation of the cells, counted row after row.
        """
