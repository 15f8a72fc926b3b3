"""Mechanisms in which a cell's probability of being missing is a logistic function of values.

Each cell has a score; at the missing rate r, the cell in row i and feature j is missing with probability

    P(missing) = 1 / (1 + exp(c - slope * score[i, j]))

with the same c, which depends on r, for all cells.  This is the same as adding standard logistic noise to slope *
score and removing the cells with the largest sums: so exactly the stated share is missing, and what is missing at one
rate is missing at every higher one.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from joints.interface import Mechanism


class LogisticMechanism(Mechanism):
    """A mechanism by scores.

    Parameters
    ----------
    slope : float, default=2
        How strongly the scores decide; with 0 values are missing completely at random.  A cell whose score is one
        standard deviation above average has exp(slope) times the average odds of being missing.
    """

    def __init__(self, slope: float = 2.0) -> None:
        if not slope >= 0:
            raise ValueError(f"slope is {slope!r}: choose a number of at least 0")
        self.slope = slope

    @abstractmethod
    def scores(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The score of every cell, in standard deviations: float64 of the shape of X; -inf for cells that come last."""

    def order(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        scores = self.scores(X, n_categories, random)
        noise = random.logistic(size=X.shape)
        sums = np.where(np.isneginf(scores), -np.inf, self.slope * np.nan_to_num(scores, neginf=0.0) + noise)
        return np.lexsort((-noise.ravel(), -sums.ravel()))


def standardised(values: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and standard deviation 1; 0 where there is no value and in constant columns."""
    known = ~np.isnan(values)
    n = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / n, 0.0)
    sd = np.sqrt((centred**2).sum(axis=0) / n)
    return centred / np.where(sd > 1e-12, sd, 1.0)


def numbers_of(X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A table as standardised numbers: each category of a categorical feature stands for a random normal number."""
    out = X.copy()
    for j, k in enumerate(n_categories):
        if k:
            effects, known = random.normal(size=k), ~np.isnan(X[:, j])
            out[known, j] = effects[X[known, j].astype(np.int64)]
    return standardised(out)
