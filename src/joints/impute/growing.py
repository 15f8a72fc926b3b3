"""A compiled grower for the regression forests of MissForest.

It grows the trees of scikit-learn's `RandomForestRegressor` with default settings, from the same bootstrap samples for
the same seed: squared error, all features tried at every node, midpoint thresholds, leaves of equal targets.  The trees
differ only where two features split a node equally well.  Because every feature of the table is a predictor of every
other one, the rows are sorted once a feature and not once a node: a node is a range in each feature's sorted rows, and
a split keeps the order within its two halves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from joints.random import below, mix


@dataclass(frozen=True)
class SortedTable:
    """The rows of a complete table, sorted by each feature.

    Attributes
    ----------
    order : int32 ndarray of shape (n_features, n_samples)
        Row indices by increasing value.
    rank : int32 ndarray of shape (n_features, n_samples)
        For each entry of `order`, how many distinct smaller values the feature has.
    levels : float32 ndarray of shape (n_features, n_samples)
        The distinct values by rank; entries beyond the last rank are unused.
    """

    order: np.ndarray
    rank: np.ndarray
    levels: np.ndarray


def sort_table(table: np.ndarray) -> SortedTable:
    """Sort the rows of a complete table by each of its features, in the precision of scikit-learn's trees."""
    values = np.ascontiguousarray(table.T, dtype=np.float32)
    order = np.argsort(values, axis=1, kind="stable").astype(np.int32)
    ascending = np.take_along_axis(values, order, axis=1)
    rank = np.zeros(order.shape, dtype=np.int32)
    rank[:, 1:] = np.cumsum(ascending[:, 1:] > ascending[:, :-1], axis=1)
    levels = np.zeros_like(values)
    np.put_along_axis(levels, rank, ascending, axis=1)
    return SortedTable(order, rank, levels)


@njit(cache=True, nogil=True)
def grow_regression_tree(order, rank, levels, target, y, counts, seed):
    """Grow one tree that predicts a feature from all others.

    Parameters
    ----------
    order, rank, levels : ndarray of shape (n_features, n_samples)
        See `SortedTable`.
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
    feature, threshold, right, value : ndarray of shape (n_nodes,)
        Nodes in depth-first order: the left child follows its parent, `right` is the other one, and a leaf has
        feature -1.
    """
    n_features, n_rows = order.shape
    n_drawn = 0
    local = np.empty(n_rows, dtype=np.int64)
    for i in range(n_rows):
        if counts[i] > 0:
            local[i] = n_drawn
            n_drawn += 1
    weight = np.empty(n_drawn)
    goal = np.empty(n_drawn)
    weighted = np.empty(n_drawn)
    for i in range(n_rows):
        if counts[i] > 0:
            weight[local[i]] = counts[i]
            goal[local[i]] = y[i]
            weighted[local[i]] = counts[i] * y[i]

    # Rank and row share a word, so that a scan reads one array and touches the rows' targets only.
    keys = np.empty((n_features - 1, n_drawn), dtype=np.uint64)
    columns = np.empty(n_features - 1, dtype=np.int64)
    k = 0
    for j in range(n_features):
        if j == target:
            continue
        columns[k] = j
        at = 0
        for p in range(n_rows):
            i = order[j, p]
            if counts[i] > 0:
                keys[k, at] = (np.uint64(rank[j, p]) << np.uint64(32)) | np.uint64(local[i])
                at += 1
        k += 1

    capacity = 2 * n_drawn - 1
    feature = np.full(capacity, -1, dtype=np.int32)
    threshold = np.zeros(capacity)
    right = np.zeros(capacity, dtype=np.int32)
    value = np.zeros(capacity)
    low_word = np.uint64(0xFFFFFFFF)
    goes_left = np.zeros(n_drawn, dtype=np.int64)
    spare = np.empty(n_drawn, dtype=np.uint64)
    tried = np.arange(n_features - 1)
    stack = np.empty((n_drawn + 1, 3), dtype=np.int64)  # first row, end, parent whose right child it is
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n_drawn, -1
    depth = 1
    n_nodes = 0
    stream = np.uint64(seed)
    draw = np.uint64(0)

    while depth > 0:
        depth -= 1
        start, end, parent = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        node = n_nodes
        n_nodes += 1
        if parent >= 0:
            right[parent] = node
        total_weight = 0.0
        total = 0.0
        constant = True
        first = goal[keys[0, start] & low_word]
        for p in range(start, end):
            i = keys[0, p] & low_word
            total_weight += weight[i]
            total += weighted[i]
            constant = constant and goal[i] == first
        mean = total / total_weight
        value[node] = mean
        if constant:
            continue

        best_gain = -1.0
        best_scale = 1.0
        best = -1
        best_position = 0
        for t in range(len(tried)):
            draw += np.uint64(1)
            swap = t + below(mix(stream, draw), len(tried) - t)
            f = tried[swap]
            tried[swap] = tried[t]
            tried[t] = f
            key = keys[f, start]
            if key >> np.uint64(32) == keys[f, end - 1] >> np.uint64(32):
                continue
            if end - start == 2:
                best = f
                best_position = start
                break
            left_weight = 0.0
            left_sum = 0.0
            for p in range(start, end - 1):
                i = key & low_word
                following = keys[f, p + 1]
                left_weight += weight[i]
                left_sum += weighted[i]
                if (key ^ following) > low_word:
                    excess = left_sum - left_weight * mean
                    gain = excess * excess
                    scale = left_weight * (total_weight - left_weight)
                    if gain * best_scale > best_gain * scale:
                        best_gain = gain
                        best_scale = scale
                        best = f
                        best_position = p
                key = following
        if best < 0:
            continue

        under = levels[columns[best], keys[best, best_position] >> np.uint64(32)]
        over = levels[columns[best], keys[best, best_position + 1] >> np.uint64(32)]
        middle = under / 2.0 + over / 2.0
        feature[node] = columns[best]
        threshold[node] = middle if middle < over else under
        if end - start > 2:
            for p in range(start, end):
                goes_left[keys[best, p] & low_word] = 1 if p <= best_position else 0
            for f in range(n_features - 1):
                if f == best:
                    continue
                to_left = start
                to_right = 0
                for p in range(start, end):
                    key = keys[f, p]
                    left = goes_left[key & low_word]
                    keys[f, to_left] = key
                    spare[to_right] = key
                    to_left += left
                    to_right += 1 - left
                for p in range(to_right):
                    keys[f, to_left + p] = spare[p]
        else:
            keys[0, start], keys[0, start + 1] = keys[best, start], keys[best, start + 1]
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = best_position + 1, end, node
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = start, best_position + 1, -1
        depth += 2
    return feature[:n_nodes].copy(), threshold[:n_nodes].copy(), right[:n_nodes].copy(), value[:n_nodes].copy()
