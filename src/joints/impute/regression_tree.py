"""A compiled grower of regression trees, for the continuous features of MissForest; see `joints.impute.trees`.

All features are tried at every node, so the rows are sorted once per tree and not once per node: a node is a range in
each feature's sorted rows, and a split keeps the order within its two halves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.impute.trees import (
    LOWER_HALF,
    column_of,
    draw_predictor,
    finished,
    midpoint,
    next_node,
    partition_words,
    split_node,
    start_growth,
    upper_half,
)
from joints.numerics.compiled import kernel


class Sample(NamedTuple):
    """The rows of a bootstrap sample, each once, numbered among themselves.

    Attributes
    ----------
    weight, target, weighted : float64 ndarray of shape (n_drawn,)
        How often a row was drawn, the value to predict, and their product.
    words : uint64 ndarray of shape (n_predictors, n_drawn)
        The rows sorted by each predictor, with the rank of their value in the upper half: a scan reads one array, and
        apart from it touches only the rows' targets.
    side : int8 ndarray of shape (n_drawn,)
        Space for the side of a split that a row goes to.
    spare : uint64 ndarray of shape (n_drawn,)
        Space for words.
    """

    weight: np.ndarray
    target: np.ndarray
    weighted: np.ndarray
    words: np.ndarray
    side: np.ndarray
    spare: np.ndarray


class MeanCut(NamedTuple):
    """A split of a node: its gain is a fraction, and its left half ends with `position` in the predictor's words."""

    gain: float
    scale: float
    predictor: int
    position: int


@kernel
def grow_regression_tree(rows, target, y, counts, seed):
    """Grow one tree that predicts a continuous feature from all others.

    Parameters
    ----------
    rows : SortedTable
    target : int
        The feature that is predicted, and left out of the predictors.
    y : float64 ndarray of shape (n_samples,)
        Its values.
    counts : int64 ndarray of shape (n_samples,)
        How often the bootstrap sample has each row.
    seed : int
        Decides between features that split a node equally well.

    Returns
    -------
    tree : GrownTree
        With one output, the mean.
    """
    sample = _draw_sample(rows, target, y, counts)
    predictors, stream = np.arange(len(sample.words)), np.array([seed, 0], dtype=np.uint64)
    growth = start_growth(len(sample.weight), 1)
    value, sizes, words, values = growth.value, growth.sizes, sample.words, rows.values
    while sizes[1] > 0:
        node = next_node(growth)
        weight, mean, constant = _node_mean(sample, node)
        value[node.number, 0] = mean
        if constant:
            continue
        cut = _best_mean_cut(sample, node, weight, mean, predictors, stream)
        if cut.predictor < 0:
            continue
        column = column_of(cut.predictor, target)
        under, over = upper_half(words[cut.predictor, cut.position]), upper_half(words[cut.predictor, cut.position + 1])
        split_node(growth, node, column, midpoint(values, column, under, over), cut.position + 1)
        if node.end - node.start > 2:
            _divide_sample(sample, node, cut)
        else:  # two leaves, which are read in the order of the first predictor
            words[0, node.start] = words[cut.predictor, node.start]
            words[0, node.start + 1] = words[cut.predictor, node.start + 1]
    return finished(growth)


@kernel
def _draw_sample(rows, target, y, counts):
    """Number the rows that were drawn, and sort them by each predictor."""
    n_drawn = 0
    number = np.empty(len(y), dtype=np.int64)
    weight, goal, weighted = np.empty(len(y)), np.empty(len(y)), np.empty(len(y))
    for i in range(len(y)):
        if counts[i] > 0:
            number[i] = n_drawn
            weight[n_drawn] = counts[i]
            goal[n_drawn] = y[i]
            weighted[n_drawn] = counts[i] * y[i]
            n_drawn += 1
    words = np.empty((len(rows.order) - 1, n_drawn), dtype=np.uint64)
    for k in range(len(words)):
        _sort_drawn(rows, column_of(k, target), counts, number, words[k])
    spare = np.empty(n_drawn, dtype=np.uint64)
    return Sample(weight[:n_drawn], goal[:n_drawn], weighted[:n_drawn], words, np.zeros(n_drawn, dtype=np.int8), spare)


@kernel
def _sort_drawn(rows, column, counts, number, words):
    """The rows that were drawn, by the values of a column: rank and number in a word."""
    order, rank = rows.order, rows.rank
    at = 0
    for p in range(len(counts)):
        i = order[column, p]
        if counts[i] > 0:
            words[at] = (np.uint64(rank[column, i]) << np.uint64(32)) | np.uint64(number[i])
            at += 1


@kernel
def _node_mean(sample, node):
    """The weight and the mean of a node, and whether all its rows have the same target."""
    words, row_weight, row_weighted, goal = sample.words, sample.weight, sample.weighted, sample.target
    first = goal[words[0, node.start] & LOWER_HALF]
    weight = 0.0
    total = 0.0
    constant = True
    for p in range(node.start, node.end):
        i = words[0, p] & LOWER_HALF
        weight += row_weight[i]
        total += row_weighted[i]
        constant = constant and goal[i] == first
    return weight, total / weight, constant


@kernel
def _best_mean_cut(sample, node, weight, mean, predictors, stream):
    """The split of a node that leaves the least squared error; predictor -1 where there is none."""
    words = sample.words
    best = MeanCut(-1.0, 1.0, -1, 0)
    for n_drawn in range(len(words)):
        k = draw_predictor(predictors, n_drawn, stream)
        if upper_half(words[k, node.start]) == upper_half(words[k, node.end - 1]):
            continue
        if node.end - node.start == 2:
            return MeanCut(0.0, 1.0, k, node.start)
        best = _sweep_means(sample, node, weight, mean, k, best)
    return best


@kernel(inline="always")
def _sweep_means(sample, node, weight, mean, predictor, best):
    """The best split of a node by one predictor, or `best` where none is better."""
    words, row_weight, row_weighted = sample.words, sample.weight, sample.weighted
    best_gain, best_scale, chosen, position = best
    left_weight = 0.0
    left_sum = 0.0
    word = words[predictor, node.start]
    for p in range(node.start, node.end - 1):
        i = word & LOWER_HALF
        following = words[predictor, p + 1]
        left_weight += row_weight[i]
        left_sum += row_weighted[i]
        if (word ^ following) > LOWER_HALF:
            excess = left_sum - left_weight * mean
            gain = excess * excess
            scale = left_weight * (weight - left_weight)
            if gain * best_scale > best_gain * scale:
                best_gain, best_scale, chosen, position = gain, scale, predictor, p
        word = following
    return MeanCut(best_gain, best_scale, chosen, position)


@kernel
def _divide_sample(sample, node, cut):
    """Put the rows of the left child before those of the right one, in the order of each predictor."""
    words, side, spare = sample.words, sample.side, sample.spare
    for p in range(node.start, node.end):
        side[words[cut.predictor, p] & LOWER_HALF] = 0 if p <= cut.position else 1
    for k in range(len(words)):
        if k != cut.predictor:
            partition_words(words, k, node.start, node.end, side, 0, spare)
