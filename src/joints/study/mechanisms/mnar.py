"""Missing not at random: what is missing depends on values that are themselves missing."""

from __future__ import annotations

import numpy as np

from joints.study.mechanisms.logistic import LogisticMechanism, numbers_of, standardised


class SelfMasking(LogisticMechanism):
    """Large values and rare categories go missing.

    The score of a cell is its own value, standardised; for a categorical feature, minus the logarithm of its category's
    frequency in the table, standardised.
    """

    def scores(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        out = X.copy()
        for j in np.flatnonzero(n_categories):
            known = ~np.isnan(X[:, j])
            codes = X[known, j].astype(np.int64)
            counts = np.bincount(codes, minlength=n_categories[j])
            out[known, j] = -np.log(counts[codes])
        return standardised(out)


class MissingNotAtRandom(LogisticMechanism):
    """Everything decides about everything: the score depends on all features, hidden ones included.

    The score of feature j in row i is the standardised sum over all features k of b[j, k] * z[i, k], with z and b as in
    `joints.study.mechanisms.mar.MissingAtRandom`.
    """

    def scores(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        m = X.shape[1]
        return standardised(numbers_of(X, n_categories, random) @ random.normal(size=(m, m)))
