"""A compiled grower of classification trees, for the categorical features of MissForest; see `joints.impute.trees`.

Only a few features are tried at a node, so its rows are not kept sorted by all of them: they are sorted by a feature
when it is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.impute.trees import WEIGHT_BITS, finished, midpoint, next_node, split_node, start_growth
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix
from joints.numerics.sorting import INSERTION, insertion_sort

LOWER_HALF = np.uint64(0xFFFFFFFF)
# A member of a node is one word: weight, class, and row, from the highest bits to the lowest.
ROW = np.uint64((1 << WEIGHT_BITS) - 1)
CLASS_BITS = 64 - 2 * WEIGHT_BITS
MOST_CLASSES = 1 << CLASS_BITS
CLASS = np.uint64(MOST_CLASSES - 1)
CLASS_SHIFT, WEIGHT_SHIFT = np.uint64(WEIGHT_BITS), np.uint64(WEIGHT_BITS + CLASS_BITS)


class GiniCut(NamedTuple):
    """The best split of a node so far, between two ranks of a column that follow each other; column -1 if none."""

    score: float
    column: int
    under: int
    over: int


@kernel
def grow_classification_tree(rows, target, y, n_classes, counts, n_tried, seed):
    """Grow one tree that predicts a categorical feature from all others.

    Parameters
    ----------
    rows : RankedTable
    target : int
        The feature that is predicted, and left out of the predictors.
    y : int64 ndarray of shape (n_samples,)
        Its values, as classes 0, ..., `n_classes` - 1.
    n_classes : int
    counts : int64 ndarray of shape (n_samples,)
        How often the bootstrap sample has each row.
    n_tried : int
        Number of features drawn at a node; more while none of them has two values there.
    seed : int
        Decides which features are drawn.

    Returns
    -------
    tree : GrownTree
        With an output per class, its frequency.
    """
    members = _draw_members(y, counts)
    n_drawn = len(members)
    keys, spare = np.empty(n_drawn, dtype=np.uint64), np.empty(n_drawn, dtype=np.uint64)
    table = np.zeros((max(1, min(rows.n_values.max(), 4 * n_drawn // n_classes + 1)), n_classes))
    left = np.empty(n_classes)
    predictors, stream = np.arange(len(rows.rank) - 1), np.array([seed, 0], dtype=np.uint64)
    growth = start_growth(n_drawn, n_classes)
    sizes, value, rank, values, n_values = growth.sizes, growth.value, rows.rank, rows.values, rows.n_values
    while sizes[1] > 0:
        node = next_node(growth)
        totals = value[node.number]
        total = _add_classes(members, node, totals)
        best = GiniCut(-1.0, -1, 0, 0)
        pure = totals.max() == total
        n_seen = 0
        while not pure and n_seen < len(predictors) and (n_seen < n_tried or best.column < 0):
            j = _column_of(_draw_predictor(predictors, n_seen, stream), target)
            n_seen += 1
            if n_values[j] * n_classes <= 4 * (node.end - node.start):
                _count_members(rank[j], members, node, table)
                best = _sweep_counts(table, n_values[j], totals, total, left, j, best)
            else:
                _sort_members(rank[j], members, node, keys)
                best = _sweep_sorted(keys, members, node, totals, total, left, j, best)
        totals /= total
        if best.column >= 0:
            middle = _divide_members(members, node, rank[best.column], best.under, spare)
            split_node(growth, node, best.column, midpoint(values, best.column, best.under, best.over), middle)
    return finished(growth)


@kernel
def _draw_members(y, counts):
    """The rows that were drawn: row, class and weight in one word, so that a node is read from end to end."""
    members = np.empty(np.sum(counts > 0), dtype=np.uint64)
    at = 0
    for i in range(len(y)):
        if counts[i] > 0:
            members[at] = np.uint64(i) | np.uint64(y[i]) << CLASS_SHIFT | np.uint64(counts[i]) << WEIGHT_SHIFT
            at += 1
    return members


@kernel(inline="always")
def _draw_predictor(predictors, n_drawn, stream):
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
def _column_of(predictor, target):
    """The column of the table that a predictor is: predictors are numbered without the target."""
    return predictor if predictor < target else predictor + 1


@kernel(inline="always")
def _upper_half(word):
    return np.int64(word >> np.uint64(32))


@kernel(inline="always")
def _unpack(member):
    """Row, class and weight of a member of a node."""
    return member & ROW, (member >> CLASS_SHIFT) & CLASS, float(member >> WEIGHT_SHIFT)


@kernel(inline="always")
def _add_classes(members, node, totals):
    """Add up the weight of each class at a node, and of all."""
    for p in range(node.start, node.end):
        _, k, weight = _unpack(members[p])
        totals[k] += weight
    return totals.sum()


@kernel(inline="always")
def _count_members(rank, members, node, table):
    """Add up the weight of each class at each rank of a column with few values."""
    for p in range(node.start, node.end):
        i, k, weight = _unpack(members[p])
        table[rank[i], k] += weight


@kernel(inline="always")
def _sort_members(rank, members, node, keys):
    """Sort the members of a node by a column with many values: keys of rank and place in `members`."""
    for p in range(node.start, node.end):
        i, _, _ = _unpack(members[p])
        keys[p] = np.uint64(rank[i]) << np.uint64(32) | np.uint64(p)
    _sort(keys[node.start : node.end])


@kernel(inline="always")
def _sweep_counts(table, n_values, totals, total, left, column, best):
    """The best split of a node whose members were counted, or `best` where none is better; clears the table."""
    squares = _all_on_the_right(totals, left)
    left_total = 0.0
    last = -1
    for r in range(n_values):
        weight = 0.0
        for k in range(len(totals)):
            weight += table[r, k]
        if weight == 0.0:
            continue
        if last >= 0:
            best = _better(squares, left_total, total, column, last, r, best)
        for k in range(len(totals)):
            squares = _to_the_left(squares, k, table[r, k], totals, left)
            table[r, k] = 0.0
        left_total += weight
        last = r
    return best


@kernel(inline="always")
def _sweep_sorted(keys, members, node, totals, total, left, column, best):
    """The best split of a node whose members were sorted, or `best` where none is better."""
    squares = _all_on_the_right(totals, left)
    left_total = 0.0
    for p in range(node.start, node.end - 1):
        _, k, weight = _unpack(members[keys[p] & LOWER_HALF])
        squares = _to_the_left(squares, k, weight, totals, left)
        left_total += weight
        if (keys[p] ^ keys[p + 1]) > LOWER_HALF:
            best = _better(squares, left_total, total, column, _upper_half(keys[p]), _upper_half(keys[p + 1]), best)
    return best


@kernel(inline="always")
def _all_on_the_right(totals, left):
    """The sums of the squared weights of the classes, left and right of a split before the first row."""
    right_squares = 0.0
    for k in range(len(totals)):
        left[k] = 0.0
        right_squares += totals[k] * totals[k]
    return 0.0, right_squares


@kernel(inline="always")
def _to_the_left(squares, k, weight, totals, left):
    """The sums of squares after some weight of a class went from the right to the left."""
    left_squares, right_squares = squares
    left_squares += weight * (2.0 * left[k] + weight)
    right_squares -= weight * (2.0 * (totals[k] - left[k]) - weight)
    left[k] += weight
    return left_squares, right_squares


@kernel(inline="always")
def _better(squares, left_total, total, column, under, over, best):
    """The split between two ranks, or `best` where it leaves no less impurity."""
    score = squares[0] / left_total + squares[1] / (total - left_total)
    if score > best.score:
        best = GiniCut(score, column, under, over)
    return best


@kernel(inline="always")
def _divide_members(members, node, rank, last, spare):
    """Put the members with a rank of at most `last` before the others, in their order, and return where those start."""
    to_left = node.start
    to_right = 0
    for p in range(node.start, node.end):
        member = members[p]
        left = 1 if rank[member & ROW] <= last else 0
        members[to_left] = member
        spare[to_right] = member
        to_left += left
        to_right += 1 - left
    for p in range(to_right):
        members[to_left + p] = spare[p]
    return to_left


@kernel
def _sort(keys):
    if len(keys) > INSERTION:
        keys.sort()
    else:
        insertion_sort(keys, len(keys), np.uint64(0))
