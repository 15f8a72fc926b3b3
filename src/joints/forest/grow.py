"""Growing the paper's trees (appendix C): Gini, sqrt(m) features a split, deep, binary, on a bootstrap sample.

Feature values are replaced once by their ranks, so a node sorts small integers; rows drawn several times into a
bootstrap sample are kept once, with a weight.  A tree is a pure function of the data and its seed.
"""

import numpy as np

from joints.forest.splits import MISSING, best_ordered_subset, best_subset, best_threshold, sort_by_rank
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix

BOOTSTRAP, FEATURES, SIDE = np.uint64(1) << np.uint64(40), np.uint64(2) << np.uint64(40), np.uint64(3) << np.uint64(40)


@kernel
def bootstrap_weights(seed, class_rows, class_start, weights):
    """How often each row is drawn when every class is sampled with replacement to its own size (into `weights`)."""
    weights[:] = 0
    draw = np.uint64(0)
    for k in range(class_start.shape[0] - 1):
        first, size = class_start[k], class_start[k + 1] - class_start[k]
        for _ in range(size):
            weights[class_rows[first + below(mix(seed ^ BOOTSTRAP, draw), size)]] += 1
            draw += np.uint64(1)


@kernel(inline="always")
def missing_goes_left(seed, node, row):
    """The side of a training row whose split feature is missing: a fair coin."""
    return mix(mix(seed ^ SIDE, np.uint64(node)), np.uint64(row)) >> np.uint64(63) == 0


@kernel
def draw_feature(seed, node, i, pool):
    """The i-th feature drawn without replacement at a node: swaps it to ``pool[i]`` and returns where it stood."""
    bits = mix(mix(seed ^ FEATURES, np.uint64(node)), np.uint64(i))
    j = i + below(bits, pool.shape[0] - i)
    pool[i], pool[j] = pool[j], pool[i]
    return j


@kernel
def _longer(array, size):
    out = np.empty(size, dtype=array.dtype)
    out[: array.shape[0]] = array
    return out


@kernel
def grow_tree(
    ranks, values, value_start, n_categories, y, weights, n_classes, seed,
    max_features, redraw, purity, min_rows, max_depth, by_proportion,
):  # fmt: skip
    """Grow one tree.

    Parameters
    ----------
    ranks : uint32 of shape (n_features, n_rows)
        Rank of each value among the feature's distinct values, or the category's code; `MISSING` where missing.
    values, value_start : float64, int64
        The distinct values of feature f, in order, from ``values[value_start[f]]`` on.
    n_categories : int64 of shape (n_features,)
        0 for a continuous feature.
    y, weights : int64 of shape (n_rows,)
        Class codes and how often each row counts.

    Returns
    -------
    feature, threshold, right, subset, goes_left, counts
        One entry a node in preorder (the left child of node v is v + 1); see `joints.forest.arrays.Forest`.
    """
    n_features, n_rows = ranks.shape
    rows = np.empty(n_rows, dtype=np.int64)
    payload = np.empty(n_rows, dtype=np.uint64)
    n_used = 0
    for row in range(n_rows):
        if weights[row] > 0:
            rows[n_used] = row
            n_used += 1
        payload[row] = (np.uint64(y[row]) << np.uint64(16)) | np.uint64(min(weights[row], 0xFFFF))
    spare_rows = np.empty(n_used, dtype=np.int64)
    keys = np.empty(n_used, dtype=np.uint64)
    spare_keys = np.empty(n_used, dtype=np.uint64)
    pool = np.arange(n_features)
    swaps = np.empty(n_features, dtype=np.int64)
    most_categories = max(n_categories.max(), 1)
    table = np.empty((most_categories, n_classes))
    candidate_left = np.empty(most_categories, dtype=np.bool_)
    best_left = np.empty(most_categories, dtype=np.bool_)
    class_weights = np.empty(n_classes)
    observed_weights = np.empty(n_classes)

    capacity = 64
    feature = np.empty(capacity, dtype=np.int32)
    threshold = np.empty(capacity, dtype=np.float64)
    right = np.empty(capacity, dtype=np.int32)
    subset = np.empty(capacity, dtype=np.int64)
    counts = np.empty(capacity * n_classes, dtype=np.float64)
    goes_left = np.empty(64, dtype=np.bool_)
    n_nodes, n_left_flags = 0, 0

    stack = np.empty((64, 4), dtype=np.int64)  # first row, end, parent of a right child or -1, depth
    stack[0] = np.array([0, n_used, -1, 0])
    height = 1
    while height > 0:
        height -= 1
        start, end, parent, depth = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        node = n_nodes
        n_nodes += 1
        if n_nodes > capacity:
            capacity *= 2
            feature, threshold = _longer(feature, capacity), _longer(threshold, capacity)
            right, subset = _longer(right, capacity), _longer(subset, capacity)
            counts = _longer(counts, capacity * n_classes)
        if parent >= 0:
            right[parent] = node
        feature[node], threshold[node], right[node], subset[node] = -1, np.nan, -1, -1
        class_weights[:] = 0.0
        for i in range(start, end):
            class_weights[y[rows[i]]] += weights[rows[i]]
        n_node = class_weights.sum()
        counts[node * n_classes : (node + 1) * n_classes] = class_weights
        if class_weights.max() >= purity * n_node or n_node < 2 * min_rows or depth >= max_depth:
            continue

        best_score, best_feature, best_rank = -np.inf, -1, np.int64(-1)
        drawn, tried = 0, 0
        while drawn < n_features and tried < max_features:
            swaps[drawn] = draw_feature(seed, node, drawn, pool)
            f = pool[drawn]
            drawn += 1
            column = ranks[f]
            lowest, highest, n_observed = MISSING, np.uint32(0), 0
            for i in range(start, end):
                rank = column[rows[i]]
                if rank != MISSING:
                    lowest, highest = min(lowest, rank), max(highest, rank)
                    keys[n_observed] = (np.uint64(rank) << np.uint64(32)) | payload[rows[i]]
                    n_observed += 1
            constant = n_observed < 2 or lowest == highest
            if not (constant and redraw):
                tried += 1
            if constant:
                continue
            if n_categories[f] == 0:
                base = np.uint64(lowest) << np.uint64(32)
                observed_weights[:] = 0.0
                for i in range(n_observed):
                    keys[i] -= base
                    observed_weights[(keys[i] >> np.uint64(16)) & np.uint64(0xFFFF)] += keys[i] & np.uint64(0xFFFF)
                ordered = sort_by_rank(keys, spare_keys, n_observed, np.int64(highest - lowest))
                score, rank = best_threshold(ordered, n_observed, observed_weights, min_rows)
                if score > best_score:
                    best_score, best_feature, best_rank = score, f, np.int64(lowest) + rank
            else:
                used = table[: n_categories[f]]
                used[:] = 0.0
                for i in range(n_observed):
                    c, k = keys[i] >> np.uint64(32), (keys[i] >> np.uint64(16)) & np.uint64(0xFFFF)
                    used[c, k] += keys[i] & np.uint64(0xFFFF)
                if n_classes == 2:
                    score = best_ordered_subset(used, by_proportion, min_rows, candidate_left[: n_categories[f]])
                else:
                    score = best_subset(used, min_rows, candidate_left[: n_categories[f]])
                if score > best_score:
                    best_score, best_feature = score, f
                    best_left[: n_categories[f]] = candidate_left[: n_categories[f]]
        while drawn > 0:  # put the features back, so that a node's draw depends on nothing but the seed and the node
            drawn -= 1
            pool[drawn], pool[swaps[drawn]] = pool[swaps[drawn]], pool[drawn]
        if best_feature < 0:
            continue

        f = best_feature
        feature[node] = f
        if n_categories[f] == 0:
            threshold[node] = values[value_start[f] + best_rank]
        else:
            subset[node] = n_left_flags
            while n_left_flags + n_categories[f] > goes_left.shape[0]:
                goes_left = _longer(goes_left, 2 * goes_left.shape[0])
            goes_left[n_left_flags : n_left_flags + n_categories[f]] = best_left[: n_categories[f]]
            n_left_flags += n_categories[f]
        column = ranks[f]
        n_left, n_right = 0, 0
        for i in range(start, end):
            row = rows[i]
            rank = column[row]
            if rank == MISSING:
                left = missing_goes_left(seed, node, row)
            elif n_categories[f] == 0:
                left = rank <= best_rank
            else:
                left = best_left[rank]
            if left:
                rows[start + n_left] = row
                n_left += 1
            else:
                spare_rows[n_right] = row
                n_right += 1
        middle = start + n_left
        rows[middle:end] = spare_rows[:n_right]
        if height + 2 > stack.shape[0]:
            taller = np.empty((2 * stack.shape[0], 4), dtype=np.int64)
            taller[:height] = stack[:height]
            stack = taller
        for first, last, of_right in ((middle, end, node), (start, middle, -1)):
            stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = first, last, of_right, depth + 1
            height += 1

    return (
        feature[:n_nodes].copy(), threshold[:n_nodes].copy(), right[:n_nodes].copy(), subset[:n_nodes].copy(),
        goes_left[:n_left_flags].copy(), counts[: n_nodes * n_classes].copy().reshape((n_nodes, n_classes)),
    )  # fmt: skip
