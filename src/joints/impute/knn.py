"""Imputation from the nearest training rows, with a distance for mixed data.

Appendix C of the paper describes Huang's distance for continuous and categorical features; the numbers it prints were
made with another one.  Both are here, and both are exact: every training row is compared with every row to fill, a row
at a time, so that no matrix of distances is ever held.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from joints.features import fit_table
from joints.impute.imputer import TableImputer
from joints.impute.mean import typical_values
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix
from joints.numerics.threads import blocks, run

METRICS = ("published", "huang")
ROWS_PER_TASK = 32


class KNNImputer(TableImputer):
    """Fill missing values with the mean or most frequent category of the nearest training rows.

    With m features, of which s are observed in both rows, the distance between a row and a training row is

    ``metric="published"``
        the square root of (m / s) · Σ w_i (difference)² over the continuous features observed in both, plus γ · Σ w_i
        over the categorical features that differ, where a missing category differs from everything.  This is what
        made the paper's tables, with γ = w = 1; without categorical features it is scikit-learn's
        ``nan_euclidean``.
    ``metric="huang"``
        (m / s) · (γ · Σ w_i over the differing categorical features + Σ w_i \\|difference\\| over the continuous
        ones), both over the features observed in both rows.  This is the formula of the paper's appendix.

    The donors of a cell are the training rows that have a value there and share an observed feature with the row;
    equally distant ones, of which categories make many, are taken in an order that is random but always the same,
    because the first rows of a table are seldom typical of it.  A cell with fewer than `n_neighbors` donors is filled
    from those there are, and one without any from the training mean or most frequent category.  Continuous features
    should be standardised beforehand.

    Parameters
    ----------
    n_neighbors : int, default=7
    metric : {"published", "huang"}, default="published"
    gamma : float, default=1.0
        The weight γ of categorical against continuous features.
    weights : array-like of shape (n_features,), default=None
        The weight w_i of each feature; None for one each.
    categorical_features : "from_dtype", None, mask, indices, names, or mapping, default="from_dtype"
        Which columns hold categories; see :func:`joints.features.describe_features`.
    n_jobs : int, default=None
        Number of threads; None means one unless in a joblib context, -1 means all.

    Attributes
    ----------
    donors_ : ndarray of shape (n_features, n_samples)
        The training table, encoded, one row a feature; equally distant donors are taken from the left.
    statistics_ : ndarray of shape (n_features,)
        What fills a cell without donors.
    features_ : joints.features.Features
        Names and categories of the columns.
    n_features_in_ : int

    Notes
    -----
    The published code also takes donors that share no observed feature when there are fewer than `n_neighbors` others,
    in no particular order.  That needs training rows with missing values, and has no sensible definition: here they
    are left out, as scikit-learn does by now.

    Examples
    --------
    >>> import numpy as np
    >>> from joints.impute import KNNImputer
    >>> X = np.array([[0.0, 1.0], [0.1, 3.0], [5.0, 9.0]])
    >>> KNNImputer(n_neighbors=2).fit(X).transform([[0.0, np.nan]])
    array([[0., 2.]])
    """

    donors_: np.ndarray
    statistics_: np.ndarray
    _feature_weights: np.ndarray

    def __init__(
        self,
        n_neighbors: int = 7,
        *,
        metric: str = "published",
        gamma: float = 1.0,
        weights: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.gamma = gamma
        self.weights = weights
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KNNImputer:
        """Keep the training rows as donors.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The training fold; NaN where a value is missing.
        y : ignored

        Returns
        -------
        self : KNNImputer
        """
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors is {self.n_neighbors!r}: give a whole number of at least 1.")
        if self.metric not in METRICS:
            raise ValueError(f"metric is {self.metric!r}: give one of {METRICS}.")
        if not self.gamma >= 0:
            raise ValueError(f"gamma is {self.gamma!r}: give a number that is not negative.")
        table = fit_table(self, X)
        self._feature_weights = self._check_weights(table.shape[1])
        self.donors_ = np.ascontiguousarray(table[_random_order(len(table))].T)
        self.statistics_ = typical_values(table, self.features_.n_categories)
        return self

    def _check_weights(self, n_features: int) -> np.ndarray:
        if self.weights is None:
            return np.ones(n_features)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (n_features,) or not (weights >= 0).all():
            raise ValueError(
                f"weights has shape {weights.shape} for {n_features} features: give each one a number, none negative."
            )
        return weights

    def _impute(self, table: np.ndarray) -> None:
        n_categories = self.features_.n_categories
        weights = np.where(n_categories > 0, self.gamma, 1.0) * self._feature_weights
        complete = ~np.isnan(self.donors_).any(axis=1)
        rows = np.flatnonzero(np.isnan(table).any(axis=1))
        donors = (self.donors_, complete, n_categories, weights, self.metric == "published", int(self.n_neighbors))
        run(
            _fill_rows,
            [(table, rows[a:b], *donors, self.statistics_) for a, b in blocks(len(rows), ROWS_PER_TASK)],
            self.n_jobs,
        )


@kernel
def _random_order(n):
    """The numbers below n in a random order that depends on n alone."""
    order = np.arange(n)
    for i in range(n - 1):
        j = i + below(mix(np.uint64(n), np.uint64(i)), n - i)
        order[i], order[j] = order[j], order[i]
    return order


@kernel
def _fill_rows(table, rows, donors, complete, n_categories, weights, published, n_neighbors, statistics):
    """Fill the missing cells of some rows of the table."""
    n_features, n_donors = donors.shape
    distance = np.empty(n_donors)
    mismatch = np.empty(n_donors)
    shared = np.empty(n_donors)
    nearest = np.empty(n_neighbors, dtype=np.int64)
    nearest_complete = np.empty(n_neighbors, dtype=np.int64)
    nearest_distance = np.empty(n_neighbors)
    for r in rows:
        row = table[r].copy()
        _distances(row, donors, complete, n_categories, weights, published, distance, mismatch, shared)
        n_complete = -1  # the neighbours for complete columns are the same: found once, when first needed
        for j in range(n_features):
            if row[j] == row[j]:
                continue
            if complete[j]:
                if n_complete < 0:
                    n_complete = _nearest(distance, donors[j], True, nearest_complete, nearest_distance)
                found = n_complete
                chosen = nearest_complete
            else:
                found = _nearest(distance, donors[j], False, nearest, nearest_distance)
                chosen = nearest
            if found == 0:
                table[r, j] = statistics[j]
            elif n_categories[j] > 0:
                table[r, j] = _mode(donors[j], chosen, found, n_categories[j])
            else:
                total = 0.0
                for i in range(found):
                    total += donors[j, chosen[i]]
                table[r, j] = total / found


@kernel
def _distances(row, donors, complete, n_categories, weights, published, distance, mismatch, shared):
    """Distance of a row to every donor, up to a monotone function; infinite without a shared feature."""
    n_features, n_donors = donors.shape
    distance[:] = 0.0
    mismatch[:] = 0.0
    shared[:] = 0.0
    n_shared = 0  # by every donor; `shared` counts the features that only some donors have
    for j in range(n_features):
        x = row[j]
        w = weights[j]
        if x != x:
            continue  # adds the same to every donor, in both metrics
        values = donors[j]
        if complete[j]:
            n_shared += 1
            if n_categories[j] > 0:
                for i in range(n_donors):
                    mismatch[i] += w if values[i] != x else 0.0
            elif published:
                for i in range(n_donors):
                    distance[i] += w * ((values[i] - x) * (values[i] - x))
            else:
                for i in range(n_donors):
                    distance[i] += w * abs(values[i] - x)
        else:
            for i in range(n_donors):
                value = values[i]
                if value != value:
                    if n_categories[j] > 0 and published:
                        mismatch[i] += w
                    continue
                shared[i] += 1.0
                if n_categories[j] > 0:
                    mismatch[i] += w if value != x else 0.0
                elif published:
                    distance[i] += w * ((value - x) * (value - x))
                else:
                    distance[i] += w * abs(value - x)
    for i in range(n_donors):
        count = n_shared + shared[i]
        if count == 0.0:
            distance[i] = np.inf
        elif published:
            distance[i] = distance[i] * (n_features / count) + mismatch[i]
        else:
            distance[i] = (distance[i] + mismatch[i]) * (n_features / count)


@kernel
def _nearest(distance, values, complete, nearest, nearest_distance):
    """Find the nearest donors that have a value, the leftmost of equals; returns how many there are."""
    size = len(nearest)
    nearest_distance[:] = np.inf
    found = 0
    for i in range(len(distance)):
        d = distance[i]
        if d < nearest_distance[size - 1] and (complete or values[i] == values[i]):
            at = min(found, size - 1)
            while at > 0 and nearest_distance[at - 1] > d:
                nearest_distance[at] = nearest_distance[at - 1]
                nearest[at] = nearest[at - 1]
                at -= 1
            nearest_distance[at] = d
            nearest[at] = i
            found = min(found + 1, size)
    return found


@kernel
def _mode(values, chosen, found, n_categories):
    """The most frequent code of the chosen donors, the smallest of equals."""
    counts = np.zeros(n_categories, dtype=np.int64)
    for i in range(found):
        counts[int(values[chosen[i]])] += 1
    return float(np.argmax(counts))
