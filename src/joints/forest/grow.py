"""Growing the paper's trees (appendix C): Gini, sqrt(m) features per split, deep, binary, on a bootstrap sample.

Feature values are replaced once by their ranks, so a node sorts small integers; rows drawn several times into a
bootstrap sample are kept once, with a weight.  A tree is a pure function of the data and its seed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.forest.splits import MISSING, best_ordered_subset, best_subset, best_threshold
from joints.numerics.buffers import partition, with_room
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix
from joints.numerics.sorting import sort_by_rank

BOOTSTRAP, FEATURES, SIDE = np.uint64(1) << np.uint64(40), np.uint64(2) << np.uint64(40), np.uint64(3) << np.uint64(40)
LOW_BITS = np.uint64(0xFFFF)


class Ranked(NamedTuple):
    """A table whose values are replaced by their ranks.

    Attributes
    ----------
    ranks : uint32 of shape (n_features, n_rows)
        Rank of each value among the feature's distinct values, or the category's code; `MISSING` where missing.
    values : float64
        The distinct values of feature f, in order, from ``values[value_start[f]]`` on.
    value_start : int64 of shape (n_features + 1,)
    """

    ranks: np.ndarray
    values: np.ndarray
    value_start: np.ndarray


class GrowthSettings(NamedTuple):
    """How trees are grown; see `joints.ForestClassifier`."""

    max_features: int
    redraw: bool
    purity: float
    min_rows: int
    max_depth: int
    by_proportion: bool


class Tree(NamedTuple):
    """One tree: an entry per node in preorder, so that the left child of node v is v + 1.

    The fields are those of `joints.forest.arrays.Forest`, counted from the tree's own root.
    """

    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    subset: np.ndarray
    goes_left: np.ndarray
    counts: np.ndarray


class _Scratch(NamedTuple):
    """What the search for a node's split writes to; allocated once per tree.

    A key is a row's rank, class and weight in 32, 16 and 16 bits; `payload` has the last two for every row.
    """

    payload: np.ndarray
    keys: np.ndarray
    spare_keys: np.ndarray
    pool: np.ndarray  # the features, those drawn at a node first
    swaps: np.ndarray  # where the drawn ones stood
    table: np.ndarray  # categories by classes
    class_weights: np.ndarray
    candidate_left: np.ndarray  # categories on the left, of the split being tried and of the best one
    best_left: np.ndarray


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


@kernel(inline="always")
def put_back(drawn, pool, swaps):
    """Undo a node's draws, so that a draw depends on nothing but the seed and the node."""
    while drawn > 0:
        drawn -= 1
        pool[drawn], pool[swaps[drawn]] = pool[swaps[drawn]], pool[drawn]


@kernel(inline="always")
def _scratch(data, weights, n_used):
    n_features = len(data.n_categories)
    payload = np.empty(len(weights), dtype=np.uint64)
    for row in range(len(weights)):
        payload[row] = (np.uint64(data.y[row]) << np.uint64(16)) | np.uint64(min(weights[row], 0xFFFF))
    most_categories = max(data.n_categories.max(), 1)
    return _Scratch(
        payload,
        np.empty(n_used, dtype=np.uint64),
        np.empty(n_used, dtype=np.uint64),
        np.arange(n_features),
        np.empty(n_features, dtype=np.int64),
        np.empty((most_categories, data.n_classes)),
        np.empty(data.n_classes),
        np.empty(most_categories, dtype=np.bool_),
        np.empty(most_categories, dtype=np.bool_),
    )


@kernel
def _collect_keys(column, rows, payload, keys):
    """The keys of the rows with a value; returns how many there are, their lowest and their highest rank."""
    n, lowest, highest = 0, MISSING, np.uint32(0)
    for row in rows:
        rank = column[row]
        if rank != MISSING:
            lowest, highest = min(lowest, rank), max(highest, rank)
            keys[n] = (np.uint64(rank) << np.uint64(32)) | payload[row]
            n += 1
    return n, lowest, highest


@kernel(counted=True)
def _cut_values(n, lowest, highest, min_rows, scratch):
    """Best threshold of a continuous feature for the n rows of ``scratch.keys``: score and last rank on the left."""
    keys, class_weights = scratch.keys, scratch.class_weights
    base = np.uint64(lowest) << np.uint64(32)
    class_weights[:] = 0.0
    for i in range(n):
        keys[i] -= base
        class_weights[(keys[i] >> np.uint64(16)) & LOW_BITS] += keys[i] & LOW_BITS
    ordered = sort_by_rank(keys, scratch.spare_keys, n, np.int64(highest - lowest))
    score, rank = best_threshold(ordered, n, class_weights, min_rows)
    return score, np.int64(lowest) + rank


@kernel(inline="always")
def _cut_categories(n, n_categories, settings, scratch):
    """Best two subsets of a categorical feature, into ``scratch.candidate_left``; returns the score."""
    keys, table, goes_left = scratch.keys, scratch.table[:n_categories], scratch.candidate_left[:n_categories]
    table[:] = 0.0
    for i in range(n):
        c, k = keys[i] >> np.uint64(32), (keys[i] >> np.uint64(16)) & LOW_BITS
        table[c, k] += keys[i] & LOW_BITS
    if table.shape[1] == 2:
        return best_ordered_subset(table, settings.by_proportion, settings.min_rows, goes_left)
    return best_subset(table, settings.min_rows, goes_left)


@kernel(counted=False)
def _best_split(n_categories, ranks, rows, node, seed, settings, scratch):
    """The best split of these rows on features drawn at the node: the feature (-1: none) and its last rank on the left.

    The subset of a categorical feature is in ``scratch.best_left``.
    """
    pool, swaps, payload, keys = scratch.pool, scratch.swaps, scratch.payload, scratch.keys
    best_score, best_feature, best_rank = -np.inf, -1, np.int64(-1)
    drawn, tried = np.int64(0), 0
    while drawn < len(pool) and tried < settings.max_features:
        swaps[drawn] = draw_feature(seed, node, drawn, pool)
        f = pool[drawn]
        drawn += 1
        n, lowest, highest = _collect_keys(ranks[f], rows, payload, keys)
        constant = n < 2 or lowest == highest
        if not (constant and settings.redraw):
            tried += 1
        if constant:
            continue
        if n_categories[f] == 0:
            score, rank = _cut_values(n, lowest, highest, settings.min_rows, scratch)
            if score > best_score:
                best_score, best_feature, best_rank = score, f, rank
        else:
            score = _cut_categories(n, n_categories[f], settings, scratch)
            if score > best_score:
                best_score, best_feature = score, f
                for c in range(n_categories[f]):
                    scratch.best_left[c] = scratch.candidate_left[c]
    put_back(drawn, pool, swaps)
    return best_feature, best_rank


@kernel(counted=False)
def sides_of_rows(column, rows, node, seed, last_rank, subset, left):
    """Whether each row goes left: by rank, or by `subset` where the split is one of categories (it is not empty)."""
    for i in range(len(rows)):
        rank = column[rows[i]]
        if rank == MISSING:
            left[i] = missing_goes_left(seed, node, rows[i])
        elif len(subset) == 0:
            left[i] = rank <= last_rank
        else:
            left[i] = subset[rank]


@kernel(inline="always")
def tree_of(size, n_classes):
    """A tree with room for `size` nodes, all of them leaves."""
    return Tree(
        np.empty(size, dtype=np.int32),
        np.empty(size),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty(64, dtype=np.bool_),
        np.empty((size, n_classes)),
    )


@kernel(inline="always")
def tree_with_room(tree, n_nodes, n_flags):
    return Tree(
        with_room(tree.feature, n_nodes),
        with_room(tree.threshold, n_nodes),
        with_room(tree.right, n_nodes),
        with_room(tree.subset, n_nodes),
        with_room(tree.goes_left, n_flags),
        with_room(tree.counts, n_nodes),
    )


@kernel(inline="always")
def trimmed_tree(tree, n_nodes, n_flags):
    return Tree(
        tree.feature[:n_nodes].copy(),
        tree.threshold[:n_nodes].copy(),
        tree.right[:n_nodes].copy(),
        tree.subset[:n_nodes].copy(),
        tree.goes_left[:n_flags].copy(),
        tree.counts[:n_nodes].copy(),
    )


@kernel(counted=False)
def _add_leaf(tree, node, y, weights, rows):
    """Make a node a leaf with the class weights of its rows."""
    tree.feature[node], tree.threshold[node], tree.right[node], tree.subset[node] = -1, np.nan, -1, -1
    counts = tree.counts[node]
    counts[:] = 0.0
    for row in rows:
        counts[y[row]] += weights[row]


@kernel(inline="always")
def add_split(tree, node, f, last_rank, subset, ranked, n_flags):
    """Make a leaf a split on feature f, of its ranks or, if there are any, its categories; the flags that are used."""
    tree.feature[node] = f
    if len(subset) == 0:
        tree.threshold[node] = ranked.values[ranked.value_start[f] + last_rank]
        return n_flags
    tree.subset[node] = n_flags
    tree.goes_left[n_flags : n_flags + len(subset)] = subset
    return n_flags + len(subset)


@kernel(inline="always")
def add_children(stack, height, start, middle, end, node, depth):
    """Put both children of a node on the stack, the left one on top; its new height."""
    for first, last, of_right in ((middle, end, node), (start, middle, -1)):
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = first, last, of_right, depth + 1
        height += 1
    return height


@kernel(inline="always")
def _is_final(counts, depth, settings):
    """Whether a node stays a leaf without a look at its features."""
    n = counts.sum()
    return counts.max() >= settings.purity * n or n < 2 * settings.min_rows or depth >= settings.max_depth


@kernel
def grow_tree(data, ranked, weights, seed, settings):
    """Grow one tree on rows that count `weights` times (int64 of shape (n_rows,)).

    `data` is a `joints.forest.arrays.TrainingData`, `ranked` its ranks.
    """
    rows = np.flatnonzero(weights > 0)
    spare, left = np.empty_like(rows), np.empty(len(rows), dtype=np.bool_)
    scratch = _scratch(data, weights, len(rows))
    most_categories = len(scratch.best_left)
    tree = tree_of(64, data.n_classes)
    n_nodes, n_flags = np.int64(0), np.int64(0)  # a literal 0 would compile what takes them twice
    stack = np.empty((64, 4), dtype=np.int64)  # first row, end, parent of a right child or -1, depth
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(rows), -1, 0
    height = 1
    while height > 0:
        height -= 1
        start, end, parent, depth = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        here = rows[start:end]
        node = n_nodes
        n_nodes += 1
        if n_nodes > len(tree.feature) or n_flags + most_categories > len(tree.goes_left):
            tree = tree_with_room(tree, n_nodes, n_flags + most_categories)
        if parent >= 0:
            tree.right[parent] = node
        _add_leaf(tree, node, data.y, weights, here)
        if _is_final(tree.counts[node], depth, settings):
            continue
        f, last_rank = _best_split(data.n_categories, ranked.ranks, here, node, seed, settings, scratch)
        if f < 0:
            continue
        subset = scratch.best_left[: data.n_categories[f]]
        n_flags = add_split(tree, node, f, last_rank, subset, ranked, n_flags)
        sides_of_rows(ranked.ranks[f], here, node, seed, last_rank, subset, left)
        middle = start + partition(here, left, spare)
        stack = with_room(stack, height + 2)
        height = add_children(stack, height, start, middle, end, node, depth)
    return trimmed_tree(tree, n_nodes, n_flags)
