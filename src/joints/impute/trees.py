"""What the two growers of MissForest's trees share: sorted rows, the order of nodes, and how rows go to the children.

`regression_tree` and `classification_tree` grow the trees of scikit-learn's `RandomForestRegressor` and
`RandomForestClassifier` with default settings, from the same bootstrap samples for the same seed: midpoint thresholds,
leaves of equal targets, and either squared error with all features tried at every node or Gini impurity with the square
root of their number.  Regression trees differ from scikit-learn's only where two features split a node equally well,
classification trees also in the features drawn.

In both, the rows of a node are a range of 64-bit words whose lower half is the row.

A node may be two rows, so calls matter: numba counts references to every array of a record that a call with branches
receives.  What runs per node and feature is therefore inlined, and the growers take the arrays out of records once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix

LOWER_HALF = np.uint64(0xFFFFFFFF)


class SortedTable(NamedTuple):
    """The rows of a complete table, sorted by each feature.

    Attributes
    ----------
    order : int32 ndarray of shape (n_features, n_samples)
        Row indices by increasing value.
    rank : int32 ndarray of shape (n_features, n_samples)
        For each row, how many distinct smaller values the feature has.
    values : float32 ndarray of shape (n_features, n_samples)
        The distinct values by rank; entries beyond the last rank are unused.
    n_values : int64 ndarray of shape (n_features,)
        Number of distinct values.
    """

    order: np.ndarray
    rank: np.ndarray
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
        A stack of nodes yet to be grown: first word, end, and parent.
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
    """A node of a growing tree, and the range of words that are its rows."""

    number: int
    start: int
    end: int


def sort_table(table: np.ndarray) -> SortedTable:
    """Sort the rows of a complete table by each of its features, in the precision of scikit-learn's trees."""
    cells = np.ascontiguousarray(table.T, dtype=np.float32)
    order = np.argsort(cells, axis=1, kind="stable").astype(np.int32)
    ascending = np.take_along_axis(cells, order, axis=1)
    position = np.zeros(order.shape, dtype=np.int32)
    position[:, 1:] = np.cumsum(ascending[:, 1:] > ascending[:, :-1], axis=1)
    rank = np.empty_like(position)
    np.put_along_axis(rank, order, position, axis=1)
    values = np.zeros_like(cells)
    np.put_along_axis(values, position, ascending, axis=1)
    return SortedTable(order, rank, values, position[:, -1].astype(np.int64) + 1)


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
    growth.right[waiting[last, 2]] = number  # of two children the right one is numbered last, and stays
    return NodeRange(number, waiting[last, 0], waiting[last, 1])


@kernel(inline="always")
def split_node(growth, node, feature, threshold, middle):
    """Give a node two children, which wait from now on: the words before `middle`, and the others."""
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


@kernel(inline="always")
def draw_predictor(predictors, n_drawn, stream):
    """Draw one of the predictors behind the `n_drawn` already drawn at this node, and put it next to them.

    `stream` is a seed and how often it was drawn from.
    """
    stream[1] += np.uint64(1)
    at = n_drawn + below(mix(stream[0], stream[1]), len(predictors) - n_drawn)
    predictor = predictors[at]
    predictors[at] = predictors[n_drawn]
    predictors[n_drawn] = predictor
    return predictor


@kernel(inline="always")
def column_of(predictor, target):
    """The column of the table that a predictor is: predictors are numbered without the target."""
    return predictor if predictor < target else predictor + 1


@kernel(inline="always")
def upper_half(word):
    return np.int64(word >> np.uint64(32))


@kernel(inline="always")
def partition_words(words, line, start, end, rank, last, spare):
    """Put the words whose rows have a rank of at most `last` before the others, and return where the others start.

    The words are a range in a line of a matrix, and keep their order on both sides.
    """
    to_left = start
    to_right = 0
    for p in range(start, end):
        word = words[line, p]
        left = 1 if rank[word & LOWER_HALF] <= last else 0
        words[line, to_left] = word
        spare[to_right] = word
        to_left += left
        to_right += 1 - left
    for p in range(to_right):
        words[line, to_left + p] = spare[p]
    return to_left
