"""What the two growers of MissForest's trees share: the ranks of a table, and the order of nodes.

`regression_tree` and `classification_tree` grow the trees of scikit-learn's `RandomForestRegressor` and
`RandomForestClassifier` with default settings, from the same bootstrap samples for the same seed: midpoint thresholds,
leaves of equal targets, and either squared error with all features tried at every node or Gini impurity with the square
root of their number.  Regression trees differ from scikit-learn's only where two features split a node about equally
well, classification trees also in the features drawn.

A node may be two rows, so calls matter: numba counts references to every array of a record that a call with branches
receives.  What runs per node is therefore inlined or not counted, and the growers take the arrays out of records once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.numerics.compiled import kernel

WEIGHT_BITS = 24
MOST_ROWS = np.int64((1 << WEIGHT_BITS) - 1)  # of a sample: their number, as a weight, is part of a word
LANES = 8  # numbers that processors handle at once, or a multiple of them


class RankedTable(NamedTuple):
    """A complete table whose values were replaced by their ranks: how many distinct smaller ones a feature has.

    Attributes
    ----------
    rank : uint16 or uint32 ndarray of shape (n_features, n_samples)
        By feature.
    by_row : uint16 or uint32 ndarray of shape (n_samples, n_lanes)
        The same by row, with zeros up to a multiple of `LANES`.
    values : float32 ndarray of shape (n_features, n_samples)
        The distinct values by rank; entries beyond the last rank are unused.
    n_values : int64 ndarray of shape (n_features,)
        Number of distinct values.
    """

    rank: np.ndarray
    by_row: np.ndarray
    values: np.ndarray
    n_values: np.ndarray


class GrownTree(NamedTuple):
    """A tree, its nodes in depth-first order: the left child of a node follows it.

    Attributes
    ----------
    feature : int ndarray of shape (n_nodes,)
        The column of the table that a node looks at; -1 at a leaf.
    threshold : float64 ndarray of shape (n_nodes,)
        Rows with a value of at most this go to the left.
    right : int ndarray of shape (n_nodes,)
        The right child.
    value : float64 ndarray of shape (n_nodes, n_outputs)
        The mean of a continuous target, or the class frequencies of a categorical one.
    """

    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    value: np.ndarray


class Growth(NamedTuple):
    """A tree that is being grown, with room for every node it may get.

    Attributes
    ----------
    feature, threshold, right, value : ndarray of shape (2 * n_rows - 1, ...)
        See `GrownTree`.
    waiting : int64 ndarray of shape (n_rows + 1, 3)
        A stack of nodes yet to be grown: first row, end, and parent.
    sizes : int64 ndarray of shape (2,)
        Number of nodes of the tree, and of waiting ones.
    """

    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    value: np.ndarray
    waiting: np.ndarray
    sizes: np.ndarray


class NodeRange(NamedTuple):
    """A node of a growing tree, its parent (the root is its own), and the range that its rows are."""

    number: int
    parent: int
    start: int
    end: int


def rank_values(table: np.ndarray) -> RankedTable:
    """Rank the values of a complete table, in the precision of scikit-learn's trees."""
    n_rows, n_features = table.shape
    kind = np.uint16 if n_rows < 1 << 16 else np.uint32
    ranked = RankedTable(
        np.empty((n_features, n_rows), dtype=kind),
        np.zeros((n_rows, -(-n_features // LANES) * LANES), dtype=kind),
        np.zeros((n_features, n_rows), dtype=np.float32),
        np.empty(n_features, dtype=np.int64),
    )
    for j in range(n_features):
        rank_column(ranked, table, j)
    return ranked


def rank_column(ranked: RankedTable, table: np.ndarray, j: int) -> None:
    """Rank a column again whose values have changed."""
    values, rank = np.unique(table[:, j].astype(np.float32), return_inverse=True)
    ranked.values[j, : len(values)] = values
    ranked.n_values[j] = len(values)
    ranked.rank[j] = ranked.by_row[:, j] = rank


@kernel
def start_growth(n_rows, n_outputs):
    """A tree without nodes, whose root, with all rows, is waiting."""
    capacity = 2 * n_rows - 1
    waiting = np.empty((n_rows + 1, 3), dtype=np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, n_rows, 0
    return Growth(
        np.full(capacity, -1, dtype=np.int32),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int32),
        np.zeros((capacity, n_outputs)),
        waiting,
        np.array([0, 1]),
    )


@kernel(inline="always")
def next_node(growth):
    """Number the node that was the last to wait."""
    waiting, sizes = growth.waiting, growth.sizes
    number, last = sizes[0], sizes[1] - 1
    sizes[0], sizes[1] = number + 1, last
    parent = waiting[last, 2]
    growth.right[parent] = number  # of two children the right one is numbered last, and stays
    return NodeRange(number, parent, waiting[last, 0], waiting[last, 1])


@kernel(inline="always")
def split_node(growth, node, feature, threshold, middle):
    """Give a node two children, which wait from now on: the rows before `middle`, and the others."""
    growth.feature[node.number] = feature
    growth.threshold[node.number] = threshold
    waiting, sizes = growth.waiting, growth.sizes
    top = sizes[1]
    waiting[top, 0], waiting[top, 1], waiting[top, 2] = middle, node.end, node.number
    waiting[top + 1, 0], waiting[top + 1, 1], waiting[top + 1, 2] = node.start, middle, node.number
    sizes[1] = top + 2


@kernel
def finished(growth):
    """The grown tree, without the room that was not needed."""
    n = growth.sizes[0]
    return GrownTree(
        growth.feature[:n].copy(), growth.threshold[:n].copy(), growth.right[:n].copy(), growth.value[:n].copy()
    )


@kernel(inline="always")
def midpoint(values, column, under, over):
    """The threshold between two values of a column that follow each other, given by their ranks."""
    low, high = values[column, under], values[column, over]
    middle = low / 2.0 + high / 2.0
    return middle if middle < high else low
