"""Imputation from the nearest training rows, with a distance for mixed data.

Appendix C of the paper describes Huang's distance for continuous and categorical features; the numbers it prints were
made with another one.  Both are here, and both are exact: every training row is compared with every row to fill, a row
at a time, so that no matrix of distances is ever held.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import StrOptions

from joints.impute.imputer import TableImputer
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix
from joints.numerics.threads import blocks, run
from joints.parameters import AT_LEAST_ONE, Number

ROWS_PER_TASK = 32


class Donors(NamedTuple):
    """The training rows, feature by feature.

    Attributes
    ----------
    values : float64 ndarray of shape (n_features, n_donors)
    complete : bool ndarray of shape (n_features,)
        Whether every donor has a value.
    n_categories : int64 ndarray of shape (n_features,)
        0 where a feature is continuous.
    weights : float64 ndarray of shape (n_features,)
        The weight of a feature in the distance.
    statistics : float64 ndarray of shape (n_features,)
        What fills a cell without donors.
    """

    values: np.ndarray
    complete: np.ndarray
    n_categories: np.ndarray
    weights: np.ndarray
    statistics: np.ndarray


class Distances(NamedTuple):
    """What the distance of a row to each donor is made of; float64 arrays of shape (n_donors,).

    Attributes
    ----------
    continuous, mismatch : ndarray
        The sums over the continuous and over the categorical features; the former becomes the distance.
    shared : ndarray
        Number of features observed in both, without those that every donor has.
    """

    continuous: np.ndarray
    mismatch: np.ndarray
    shared: np.ndarray


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
    ties, which are common with categorical features, are taken in an order that is random but always the same,
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
        The training table, encoded, one row per feature; equally distant donors are taken from the left.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TableImputer._parameter_constraints,
        "n_neighbors": [AT_LEAST_ONE],
        "metric": [StrOptions({"published", "huang"})],
        "gamma": [Number(Real, 0, None, closed="both")],
        "weights": ["array-like", None],
    }

    donors_: np.ndarray
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

    def _learn(self, table: np.ndarray) -> None:
        self._feature_weights = self._check_weights(table.shape[1])
        self.donors_ = np.ascontiguousarray(table[_random_order(len(table))].T)

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
        donors = Donors(self.donors_, complete, n_categories, weights, self.statistics_)
        rows = np.flatnonzero(np.isnan(table).any(axis=1))
        pieces = [rows[a:b] for a, b in blocks(len(rows), ROWS_PER_TASK)]
        published, n_neighbors = self.metric == "published", int(self.n_neighbors)
        run(_fill_rows, [(table, piece, donors, published, n_neighbors) for piece in pieces], self.n_jobs)


@kernel
def _random_order(n):
    """The numbers below n in a random order that depends on n alone."""
    order = np.arange(n)
    for i in range(n - 1):
        j = i + below(mix(np.uint64(n), np.uint64(i)), n - i)
        order[i], order[j] = order[j], order[i]
    return order


@kernel
def _fill_rows(table, rows, donors, published, n_neighbors):
    """Fill the missing cells of some rows of the table."""
    n_features, n_donors = donors.values.shape
    values, complete = donors.values, donors.complete
    distances = Distances(np.empty(n_donors), np.empty(n_donors), np.empty(n_donors))
    distance = distances.continuous
    nearest = np.empty(n_neighbors, dtype=np.int64)
    nearest_complete = np.empty(n_neighbors, dtype=np.int64)
    nearest_distance = np.empty(n_neighbors)
    for r in rows:
        row = table[r].copy()
        _measure(row, donors, published, distances)
        n_complete = -1  # the neighbours for complete columns are the same: found once, when first needed
        for j in range(n_features):
            if row[j] == row[j]:
                continue
            if not complete[j]:
                found = _nearest(distance, values[j], False, nearest, nearest_distance)
                table[r, j] = _fill(donors, j, nearest, found)
                continue
            if n_complete < 0:
                n_complete = _nearest(distance, values[j], True, nearest_complete, nearest_distance)
            table[r, j] = _fill(donors, j, nearest_complete, n_complete)


@kernel
def _measure(row, donors, published, distances):
    """Distance of a row to every donor, up to a monotone function; infinite without a shared feature."""
    distances.continuous[:] = 0.0
    distances.mismatch[:] = 0.0
    distances.shared[:] = 0.0
    n_shared = 0  # by every donor
    for j in range(len(row)):
        if row[j] != row[j]:
            continue  # adds the same to every donor, in both metrics
        if donors.complete[j]:
            n_shared += 1
            _add_complete(row, donors, j, published, distances)
        else:
            _add_incomplete(row, donors, j, published, distances)
    _combine(len(row), n_shared, published, distances)


@kernel
def _add_complete(row, donors, j, published, distances):
    """Add a feature that every donor has: loops without a condition, which the compiler can vectorise."""
    x, w, values = row[j], donors.weights[j], donors.values[j]
    distance, mismatch = distances.continuous, distances.mismatch
    if donors.n_categories[j] > 0:
        for i in range(len(values)):
            mismatch[i] += w if values[i] != x else 0.0
    elif published:
        for i in range(len(values)):
            distance[i] += w * ((values[i] - x) * (values[i] - x))
    else:
        for i in range(len(values)):
            distance[i] += w * abs(values[i] - x)


@kernel
def _add_incomplete(row, donors, j, published, distances):
    """Add a feature that some donors lack."""
    x, w, values = row[j], donors.weights[j], donors.values[j]
    distance, mismatch, shared = distances.continuous, distances.mismatch, distances.shared
    categorical = donors.n_categories[j] > 0
    for i in range(len(values)):
        value = values[i]
        if value != value:
            if categorical and published:
                mismatch[i] += w
            continue
        shared[i] += 1.0
        if categorical:
            mismatch[i] += w if value != x else 0.0
        elif published:
            distance[i] += w * ((value - x) * (value - x))
        else:
            distance[i] += w * abs(value - x)


@kernel
def _combine(n_features, n_shared, published, distances):
    """Make distances of the sums over the features."""
    distance, mismatch, shared = distances.continuous, distances.mismatch, distances.shared
    for i in range(len(distance)):
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
def _fill(donors, j, chosen, found):
    """The mean, or the most frequent category, of a feature among the first `found` of the chosen donors."""
    if found == 0:
        return donors.statistics[j]
    if donors.n_categories[j] > 0:
        return _mode(donors.values[j], chosen, found, donors.n_categories[j])
    total = 0.0
    for i in range(found):
        total += donors.values[j, chosen[i]]
    return total / found


@kernel
def _mode(values, chosen, found, n_categories):
    """The most frequent code of the chosen donors, the smallest of equals."""
    counts = np.zeros(n_categories, dtype=np.int64)
    for i in range(found):
        counts[int(values[chosen[i]])] += 1
    return float(np.argmax(counts))
