"""Compiled growers for the forests of MissForest.

They grow the trees of scikit-learn's `RandomForestRegressor` and `RandomForestClassifier` with default settings, from
the same bootstrap samples for the same seed: midpoint thresholds, leaves of equal targets, and either squared error
with all features tried at every node or Gini impurity with the square root of their number.  Regression trees differ
from scikit-learn's only where two features split a node equally well, classification trees also in the features drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix


@dataclass(frozen=True)
class SortedTable:
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
def grow_regression_tree(order, rank, values, target, y, counts, seed):
    """Grow one tree that predicts a continuous feature from all others.

    All features are tried at every node, so the rows are sorted once a tree and not once a node: a node is a range in
    each feature's sorted rows, and a split keeps the order within its two halves.

    Parameters
    ----------
    order, rank, values : ndarray of shape (n_features, n_samples)
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
                keys[k, at] = (np.uint64(rank[j, i]) << np.uint64(32)) | np.uint64(local[i])
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

        under = values[columns[best], keys[best, best_position] >> np.uint64(32)]
        over = values[columns[best], keys[best, best_position + 1] >> np.uint64(32)]
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


@kernel
def grow_classification_tree(rank, values, n_values, target, y, n_classes, counts, n_tried, seed):
    """Grow one tree that predicts a categorical feature from all others.

    Parameters
    ----------
    rank, values, n_values : ndarray
        See `SortedTable`.
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
    feature, threshold, right : ndarray of shape (n_nodes,)
        Nodes in depth-first order: the left child follows its parent, `right` is the other one, and a leaf has
        feature -1.
    value : ndarray of shape (n_nodes, n_classes)
        Class frequencies.
    """
    n_features = len(rank)
    # A member of a node is a row, its class and its weight in one word, so that a node is read from end to end.
    members = np.empty(len(y), dtype=np.uint64)
    n_drawn = 0
    for i in range(len(y)):
        if counts[i] > 0:
            members[n_drawn] = np.uint64(i) | np.uint64(y[i]) << np.uint64(32) | np.uint64(counts[i]) << np.uint64(48)
            n_drawn += 1
    columns = np.empty(n_features - 1, dtype=np.int64)
    for j in range(n_features - 1):
        columns[j] = j if j < target else j + 1

    capacity = 2 * n_drawn - 1
    feature = np.full(capacity, -1, dtype=np.int32)
    threshold = np.zeros(capacity)
    right = np.zeros(capacity, dtype=np.int32)
    value = np.zeros((capacity, n_classes))
    keys = np.empty(n_drawn, dtype=np.uint64)
    low_word = np.uint64(0xFFFFFFFF)
    spare = np.empty(n_drawn, dtype=np.uint64)
    table = np.zeros((max(1, min(n_values.max(), 4 * n_drawn // n_classes + 1)), n_classes))
    left_counts = np.empty(n_classes)
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
        totals = value[node]
        for p in range(start, end):
            _, k, w = _unpack(members[p])
            totals[k] += w
        total = totals.sum()
        best_score = -1.0
        best, best_rank, best_next = -1, 0, 0
        visited = 0
        varied = False
        pure = totals.max() == total
        while not pure and visited < n_features - 1 and (visited < n_tried or not varied):
            draw += np.uint64(1)
            swap = visited + below(mix(stream, draw), n_features - 1 - visited)
            j = columns[swap]
            columns[swap] = columns[visited]
            columns[visited] = j
            visited += 1
            ranks = rank[j]
            left_counts[:] = 0.0
            left_total = 0.0
            left_squares = 0.0
            right_squares = 0.0
            for k in range(n_classes):
                right_squares += totals[k] * totals[k]
            if n_values[j] * n_classes <= 4 * (end - start):
                for p in range(start, end):
                    i, k, w = _unpack(members[p])
                    table[ranks[i], k] += w
                last = -1
                for r in range(n_values[j]):
                    here = 0.0
                    for k in range(n_classes):
                        here += table[r, k]
                    if here == 0.0:
                        continue
                    if last >= 0:
                        varied = True
                        score = left_squares / left_total + right_squares / (total - left_total)
                        if score > best_score:
                            best_score = score
                            best, best_rank, best_next = j, last, r
                    for k in range(n_classes):
                        w = table[r, k]
                        table[r, k] = 0.0
                        left_squares += w * (2.0 * left_counts[k] + w)
                        right_squares -= w * (2.0 * (totals[k] - left_counts[k]) - w)
                        left_counts[k] += w
                    left_total += here
                    last = r
            else:
                for p in range(start, end):
                    i, k, w = _unpack(members[p])
                    keys[p] = np.uint64(ranks[i]) << np.uint64(32) | np.uint64(p)
                _sort(keys[start:end])
                for p in range(start, end - 1):
                    i, k, w = _unpack(members[keys[p] & low_word])
                    left_squares += w * (2.0 * left_counts[k] + w)
                    right_squares -= w * (2.0 * (totals[k] - left_counts[k]) - w)
                    left_counts[k] += w
                    left_total += w
                    if (keys[p] ^ keys[p + 1]) > low_word:
                        varied = True
                        score = left_squares / left_total + right_squares / (total - left_total)
                        if score > best_score:
                            best_score = score
                            best = j
                            best_rank = _rank(keys[p])
                            best_next = _rank(keys[p + 1])
        totals /= total
        if best < 0:
            continue

        under, over = values[best, best_rank], values[best, best_next]
        middle = under / 2.0 + over / 2.0
        feature[node] = best
        threshold[node] = middle if middle < over else under
        to_left = start
        to_right = 0
        for p in range(start, end):
            member = members[p]
            i, k, w = _unpack(member)
            left = 1 if rank[best, i] <= best_rank else 0
            members[to_left] = member
            spare[to_right] = member
            to_left += left
            to_right += 1 - left
        members[to_left:end] = spare[:to_right]
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = to_left, end, node
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = start, to_left, -1
        depth += 2
    return feature[:n_nodes].copy(), threshold[:n_nodes].copy(), right[:n_nodes].copy(), value[:n_nodes].copy()


@kernel(inline="always")
def _unpack(member):
    """Row, class and weight of a member of a node."""
    return member & np.uint64(0xFFFFFFFF), (member >> np.uint64(32)) & np.uint64(0xFFFF), float(member >> np.uint64(48))


@kernel(inline="always")
def _rank(key):
    return np.int64(key >> np.uint64(32))


@kernel
def _sort(keys):
    if len(keys) > 40:
        keys.sort()
        return
    for i in range(1, len(keys)):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
