"""Leaf densities with the leaf's cell as support (section 3): fully factorised, or a circuit learned by LearnSPN.

A factorised leaf, p_v(x_1) ... p_v(x_m) p_v(y), is one row of a parameter table.  A continuous feature takes three
entries: mean m, h = -1 / (2 s^2) and the log of the normalising constant c, so that its log-density is c + h (x - m)^2
inside the cell; a categorical one takes a log-probability for each category.  Whether a value lies in the cell is
decided on the way down the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf, erfc, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from joints.circuit.nodes import Circuits, no_circuits
from joints.forest.arrays import Forest, TrainingData, leaves_of_training_rows
from joints.forest.route import first_leaf_below
from joints.numerics.buffers import with_room
from joints.numerics.compiled import kernel
from joints.numerics.moments import varies
from joints.numerics.threads import run

LARGEST_VALUE = 1e150  # of a continuous feature: its square, summed over rows, must not overflow
SMALLEST_SD = 1e-150  # nor must one over the square of a standard deviation


class Leaves(NamedTuple):
    """The leaf densities of a forest.

    Attributes
    ----------
    offset : int64 of shape (n_features,)
        Where a feature's entries begin in a leaf's row.
    parameters : float64 of shape (n_leaves, width)
    log_weight : float64 of shape (n_leaves,)
        Log of the product of the sum weights from the root: the fraction of training rows in the leaf.
    class_proba : float64 of shape (n_leaves, n_classes)
    circuits : joints.circuit.nodes.Circuits
        What stands in the place of a leaf's row where the leaf is not factorised.
    """

    offset: np.ndarray
    parameters: np.ndarray
    log_weight: np.ndarray
    class_proba: np.ndarray
    circuits: Circuits

    def given_class(self, k: int) -> Leaves:
        """The leaves weighted by their probability of class k, for answers that condition on the class.

        Circuits look at the class themselves.
        """
        with np.errstate(divide="ignore"):
            log_proba = np.where(self.circuits.of_leaf < 0, np.log(self.class_proba[:, k]), 0.0)
        return self._replace(log_weight=self.log_weight + log_proba)


class Cells(NamedTuple):
    """The cells of one tree's leaves; of a single leaf, the arrays are without their first axis.

    Attributes
    ----------
    low, high : float64 of shape (n_leaves, n_features)
        A continuous feature lies in (low, high].
    allowed : bool of shape (n_leaves, sum of categories)
        The categories in the cell, feature after feature.
    """

    low: np.ndarray
    high: np.ndarray
    allowed: np.ndarray


class Smoothing(NamedTuple):
    """What a density takes from outside of its own rows.

    Attributes
    ----------
    mean, smallest_sd : float64 of shape (n_variables,)
        Of a Gaussian: the mean where none of its rows has a value, and the smallest standard deviation.
    pseudo_count : float
        Added to the count of each category.
    count_missing : bool
        Whether rows without a value count in the total of a categorical distribution.
    """

    mean: np.ndarray
    smallest_sd: np.ndarray
    pseudo_count: float
    count_missing: bool


@kernel
def log_normal_mass(low, high):
    """log of the standard normal's mass between `low` and `high`, accurate in the tails and for narrow intervals."""
    if high - low < 1e-5:
        middle = 0.5 * (low + high)
        return log(high - low) - 0.5 * middle * middle - 0.5 * log(2.0 * pi)
    if low > 0.0:
        mass = 0.5 * (erfc(low / sqrt(2.0)) - erfc(high / sqrt(2.0)))
    elif high < 0.0:
        mass = 0.5 * (erfc(-high / sqrt(2.0)) - erfc(-low / sqrt(2.0)))
    else:
        mass = 0.5 * (erf(high / sqrt(2.0)) - erf(low / sqrt(2.0)))
    return log(mass)


@kernel
def gaussian_entries(mean, sd, low, high, out):
    """Mean, h and c of a Gaussian cut to (low, high]."""
    out[0] = mean
    out[1] = -0.5 / (sd * sd)
    out[2] = -log(sd) - 0.5 * log(2.0 * pi) - log_normal_mass((low - mean) / sd, (high - mean) / sd)


@kernel
def categorical_entries(counts, allowed, smoothing, n_missing):
    """Turn counts into log-probabilities of the allowed categories, in place; uniform where nothing was counted.

    `n_missing` rows without a value are part of the total: the probabilities then sum to less than one.
    """
    total, n_allowed = n_missing, 0
    for c in range(len(counts)):
        if allowed[c]:
            counts[c] += smoothing
            total += counts[c]
            n_allowed += 1
    for c in range(len(counts)):
        if total == 0.0:
            counts[c] = -log(n_allowed) if allowed[c] else -np.inf
        else:
            counts[c] = log(counts[c] / total) if counts[c] > 0.0 else -np.inf


@kernel(counted=False)
def fit_gaussian(data, rows, v, low, high, smoothing, out):
    """A Gaussian for variable v from the given rows, cut to (low, high]."""
    n, total, squares = 0, 0.0, 0.0
    for row in rows:
        if not np.isnan(data[row, v]):
            n += 1
            total += data[row, v]
    centre = min(max(total / n if n else smoothing.mean[v], low), high)
    for row in rows:
        if not np.isnan(data[row, v]):
            squares += (data[row, v] - centre) ** 2
    sd = max(smoothing.smallest_sd[v], sqrt(squares / n) if n else 0.0)
    gaussian_entries(centre, sd, low, high, out)


@kernel(counted=False)
def fit_categorical(data, rows, v, allowed, smoothing, out):
    """Log-probabilities of the allowed categories of variable v from the given rows."""
    out[:] = 0.0
    n_missing = 0.0
    for row in rows:
        if not np.isnan(data[row, v]):
            out[np.int64(data[row, v])] += 1.0
        elif smoothing.count_missing:
            n_missing += 1.0
    categorical_entries(out, allowed, smoothing.pseudo_count, n_missing)


@kernel(inline="always")
def _narrow(forest, node, n_categories, category_start, cells, begin, middle, end):
    """Narrow the cells of the leaves on both sides of a split: `begin` up to `middle`, and `middle` up to `end`.

    A split that has all values on its left parts the rows with a value from those without, and narrows nothing.
    """
    f, flags = forest.feature[node], forest.subset[node]
    if flags < 0:
        if forest.threshold[node] == np.inf:
            return
        for i in range(begin, middle):
            cells.high[i, f] = min(cells.high[i, f], forest.threshold[node])
        for i in range(middle, end):
            cells.low[i, f] = max(cells.low[i, f], forest.threshold[node])
        return
    if forest.goes_left[flags : flags + n_categories[f]].all():
        return
    for c in range(n_categories[f]):
        if forest.goes_left[flags + c]:
            cells.allowed[middle:end, category_start[f] + c] = False
        else:
            cells.allowed[begin:middle, category_start[f] + c] = False


@kernel
def cells_of_tree(forest, tree, n_categories):
    """The cells of one tree's leaves."""
    first_leaf, n_leaves = forest.leaf_start[tree], forest.leaf_start[tree + 1] - forest.leaf_start[tree]
    n_features = len(n_categories)
    category_start = np.zeros(n_features + 1, dtype=np.int64)
    for f in range(n_features):
        category_start[f + 1] = category_start[f] + n_categories[f]
    cells = Cells(
        np.full((n_leaves, n_features), -np.inf),
        np.full((n_leaves, n_features), np.inf),
        np.ones((n_leaves, category_start[-1]), dtype=np.bool_),
    )
    # the leaves of a subtree are a range; each split narrows the cells of the two ranges below it
    stack = np.empty((64, 3), dtype=np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = forest.tree_start[tree], 0, n_leaves
    height = 1
    while height > 0:
        height -= 1
        node, begin, end = stack[height, 0], stack[height, 1], stack[height, 2]
        if forest.feature[node] < 0:
            continue
        right = np.int64(forest.right[node])
        middle = first_leaf_below(forest, right) - first_leaf
        _narrow(forest, node, n_categories, category_start, cells, begin, middle, end)
        stack = with_room(stack, height + 2)
        stack[height, 0], stack[height, 1], stack[height, 2] = right, middle, end
        stack[height + 1, 0], stack[height + 1, 1], stack[height + 1, 2] = node + 1, begin, middle
        height += 2
    return cells


@kernel
def _fit_gaussians(X, f, row_leaf, weights, cells, smoothing, o, out):
    """The Gaussians of feature f in all leaves of a tree, into `out` from column `o` on."""
    n_leaves, low, high = len(out), cells.low, cells.high
    mean_of_all, smallest_sd = smoothing.mean[f], smoothing.smallest_sd[f]
    n, total, squares, centre = np.zeros(n_leaves), np.zeros(n_leaves), np.zeros(n_leaves), np.empty(n_leaves)
    for i in range(X.shape[0]):
        if weights[i] > 0 and not np.isnan(X[i, f]):
            n[row_leaf[i]] += weights[i]
            total[row_leaf[i]] += weights[i] * X[i, f]
    for leaf in range(n_leaves):
        mean = total[leaf] / n[leaf] if n[leaf] > 0 else mean_of_all
        centre[leaf] = min(max(mean, low[leaf, f]), high[leaf, f])
    for i in range(X.shape[0]):
        if weights[i] > 0 and not np.isnan(X[i, f]):
            squares[row_leaf[i]] += weights[i] * (X[i, f] - centre[row_leaf[i]]) ** 2
    for leaf in range(n_leaves):
        sd = smallest_sd
        if n[leaf] > 0:
            sd = max(sd, sqrt(squares[leaf] / n[leaf]))
        gaussian_entries(centre[leaf], sd, low[leaf, f], high[leaf, f], out[leaf, o : o + 3])


@kernel
def _fit_categoricals(X, f, row_leaf, weights, allowed, smoothing, o, out):
    """The distributions of a categorical feature f in all leaves of a tree, into `out` from column `o` on."""
    end = o + allowed.shape[1]
    out[:, o:end] = 0.0
    n_missing = np.zeros(len(out))
    for i in range(X.shape[0]):
        if weights[i] > 0 and not np.isnan(X[i, f]):
            out[row_leaf[i], o + np.int64(X[i, f])] += weights[i]
        elif smoothing.count_missing:
            n_missing[row_leaf[i]] += weights[i]
    for leaf in range(len(out)):
        categorical_entries(out[leaf, o:end], allowed[leaf], smoothing.pseudo_count, n_missing[leaf])


@kernel
def _fit_tree(data, row_leaf, weights, offset, cells, smoothing, out):
    """Maximum-likelihood parameters of one tree's leaves, into `out` (leaves x width)."""
    start = 0
    for f in range(len(data.n_categories)):
        o, n_categories = offset[f], data.n_categories[f]
        if n_categories:
            allowed = cells.allowed[:, start : start + n_categories].copy()
            _fit_categoricals(data.X, f, row_leaf, weights, allowed, smoothing, o, out)
            start += n_categories
        else:
            _fit_gaussians(data.X, f, row_leaf, weights, cells, smoothing, o, out)


def offsets(n_categories: np.ndarray) -> tuple[np.ndarray, int]:
    """Where each feature's entries begin in a leaf's row, and the row's width."""
    widths = np.where(n_categories > 0, n_categories, 3)
    return np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int64), int(widths.sum())


def feature_moments(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each feature over all training rows, by their weights.

    A constant feature has standard deviation 1, one without any value also mean 0.
    """
    too_large = np.flatnonzero((np.abs(data.X) > LARGEST_VALUE).any(axis=0))
    if len(too_large):
        raise ValueError(
            f"Feature {too_large[0]} (counted from 0) has values beyond {LARGEST_VALUE:g}, whose squares are too large "
            "for a Gaussian: divide the feature by a constant."
        )
    X, weight = data.X, np.ones((1, 1))
    if len(data.row_weight):
        counts = data.row_weight > 0
        X, weight = X[counts], data.row_weight[counts, None] * data.unit
    observed = ~np.isnan(X)
    n = (weight * observed).sum(axis=0)
    n = np.where(n > 0, n, 1)
    mean = np.where(observed, weight * X, 0.0).sum(axis=0) / n
    sd = np.sqrt(np.where(observed, weight * (X - mean) ** 2, 0.0).sum(axis=0) / n)
    return mean, np.where(varies(X), np.maximum(sd, SMALLEST_SD), 1.0)


def smallest_sds(sd: np.ndarray, min_sd: float, relative_sd: bool) -> np.ndarray:
    """The smallest standard deviation of each feature's Gaussians, given the feature's own; never below 1e-150."""
    return np.clip(min_sd * sd if relative_sd else np.full_like(sd, min_sd), SMALLEST_SD, 1.0 / SMALLEST_SD)


RowsOfTree = Callable[[int], tuple[np.ndarray, np.ndarray]]  # tree -> leaf of each training row, how often it counts


def fit_leaves(
    forest: Forest,
    data: TrainingData,
    *,
    min_sd: float = 1.0,
    relative_sd: bool = True,
    smoothing: float = 1e-6,
    count_missing: bool = False,
    rows_of_tree: RowsOfTree | None = None,
    n_jobs: int | None = None,
) -> Leaves:
    """Learn the factorised leaf densities of Algorithm 1 on the rows that each tree was grown on.

    `rows_of_tree` says which these are for a forest that was not grown by `joints.forest.arrays.grow_forest`.
    """
    offset, width = offsets(data.n_categories)
    mean, sd = feature_moments(data)
    how = Smoothing(mean, smallest_sds(sd, min_sd, relative_sd), float(smoothing), bool(count_missing))
    parameters = np.empty((forest.n_leaves, width))

    def one(tree: int) -> None:
        first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        row_leaf, weights = rows_of_tree(tree) if rows_of_tree else leaves_of_training_rows(forest, data, tree)
        cells = cells_of_tree(forest, tree, data.n_categories)
        _fit_tree(data, row_leaf - first, weights * data.unit, offset, cells, how, parameters[first:last])

    run(one, [(tree,) for tree in range(forest.n_trees)], n_jobs)
    counts = forest.leaf_counts
    rows = counts.sum(axis=1)
    roots = forest.counts[forest.tree_start[:-1]].sum(axis=1)
    log_weight = np.log(rows / np.repeat(roots, np.diff(forest.leaf_start)))
    return Leaves(offset, parameters, log_weight, counts / rows[:, None], no_circuits(forest.n_leaves))
