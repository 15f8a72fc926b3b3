"""Growing regression trees: squared error in place of Gini impurity, everything else as in `joints.forest.grow`.

The target is the last column of the training data.  Categories are cut in the order of the target's mean, which finds
the best two subsets (Fisher 1958).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.forest.arrays import Forest, TrainingData, join_trees
from joints.forest.grow import (
    GrowthSettings,
    Tree,
    add_children,
    add_split,
    draw_feature,
    put_back,
    sides_of_rows,
    tree_of,
    tree_with_room,
    trimmed_tree,
)
from joints.forest.splits import MISSING
from joints.numerics.buffers import partition, with_room
from joints.numerics.compiled import kernel
from joints.numerics.sorting import sort_by_rank
from joints.numerics.threads import run

LOWER_HALF = np.uint64(0xFFFFFFFF)


class _Room(NamedTuple):
    """What the search for a node's split writes to; a key is a row's rank and its number in 32 bits each."""

    keys: np.ndarray
    spare_keys: np.ndarray
    pool: np.ndarray
    swaps: np.ndarray
    table: np.ndarray  # of each category the weight and the sum of the target
    candidate_left: np.ndarray
    best_left: np.ndarray


class _Goal(NamedTuple):
    """The target of each row, how often the row counts, and the mean at the node."""

    y: np.ndarray
    weights: np.ndarray
    mean: float


@kernel
def _mean_at(y, weights, rows):
    """Weight and mean of the target at a node, and whether it is constant."""
    weight, total, constant = 0.0, 0.0, True
    for row in rows:
        weight += weights[row]
        total += weights[row] * y[row]
        constant &= y[row] == y[rows[0]]
    return weight, total / weight, constant


@kernel
def _cut_by_mean(column, rows, goal, min_rows, room):
    """Best threshold of a continuous feature: score and last rank on the left; -inf where there is none."""
    keys, n, lowest, highest = room.keys, 0, MISSING, np.uint32(0)
    right, right_sum = 0.0, 0.0
    for row in rows:
        rank = column[row]
        if rank != MISSING:
            lowest, highest = min(lowest, rank), max(highest, rank)
            keys[n] = (np.uint64(rank) << np.uint64(32)) | np.uint64(row)
            right += goal.weights[row]
            right_sum += goal.weights[row] * (goal.y[row] - goal.mean)
            n += 1
    if n < 2 or lowest == highest:
        return -np.inf, np.int64(-1)
    base = np.uint64(lowest) << np.uint64(32)
    for i in range(n):
        keys[i] -= base
    ordered = sort_by_rank(keys, room.spare_keys, n, np.int64(highest - lowest))
    left, left_sum, best, best_rank = 0.0, 0.0, -np.inf, np.int64(-1)
    for i in range(n - 1):
        row, rank = ordered[i] & LOWER_HALF, ordered[i] >> np.uint64(32)
        w = goal.weights[row]
        d = w * (goal.y[row] - goal.mean)
        left, left_sum, right, right_sum = left + w, left_sum + d, right - w, right_sum - d
        if rank != ordered[i + 1] >> np.uint64(32) and left >= min_rows and right >= min_rows:
            score = left_sum * left_sum / left + right_sum * right_sum / right
            if score > best:
                best, best_rank = score, np.int64(lowest) + np.int64(rank)
    return best, best_rank


@kernel
def _cut_categories_by_mean(column, rows, n_categories, goal, min_rows, room):
    """Best two subsets of the categories, into ``room.candidate_left``; those that do not occur are on the left."""
    table, goes_left = room.table[:n_categories], room.candidate_left[:n_categories]
    table[:] = 0.0
    for row in rows:
        if column[row] != MISSING:
            table[column[row], 0] += goal.weights[row]
            table[column[row], 1] += goal.weights[row] * (goal.y[row] - goal.mean)
    means = np.full(n_categories, -np.inf)
    for c in range(n_categories):
        if table[c, 0] > 0.0:
            means[c] = table[c, 1] / table[c, 0]
    order = np.argsort(means, kind="mergesort")
    right, right_sum = table[:, 0].sum(), table[:, 1].sum()
    left, left_sum, best, cut = 0.0, 0.0, -np.inf, 0
    for i in range(n_categories - 1):
        w, d = table[order[i], 0], table[order[i], 1]
        left, left_sum, right, right_sum = left + w, left_sum + d, right - w, right_sum - d
        if left >= min_rows and right >= min_rows:
            score = left_sum * left_sum / left + right_sum * right_sum / right
            if score > best:
                best, cut = score, i + 1
    goes_left[:] = True
    for i in range(cut, n_categories):
        goes_left[order[i]] = False
    return best


@kernel
def _best_split_by_mean(n_categories, ranks, rows, node, seed, settings, goal, room):
    """The best split of these rows on features drawn at the node: the feature (-1: none), its last rank on the left.

    Another feature is drawn in place of one that allows no split, if `settings` say so.
    """
    best_score, best_feature, best_rank, drawn, tried = -np.inf, -1, np.int64(-1), np.int64(0), 0
    while drawn < len(room.pool) and tried < settings.max_features:
        room.swaps[drawn] = draw_feature(seed, node, drawn, room.pool)
        f = room.pool[drawn]
        drawn += 1
        rank = np.int64(-1)
        if n_categories[f]:
            score = _cut_categories_by_mean(ranks[f], rows, n_categories[f], goal, settings.min_rows, room)
        else:
            score, rank = _cut_by_mean(ranks[f], rows, goal, settings.min_rows, room)
        if score > -np.inf or not settings.redraw:
            tried += 1
        if score > best_score:
            best_score, best_feature, best_rank = score, f, rank
            for c in range(n_categories[f]):
                room.best_left[c] = room.candidate_left[c]
    put_back(drawn, room.pool, room.swaps)
    return best_feature, best_rank


@kernel(inline="always")
def _room_for(data, n_used):
    most = max(data.n_categories.max(), 1)
    n_features = len(data.n_categories) - 1
    return _Room(
        np.empty(n_used, dtype=np.uint64),
        np.empty(n_used, dtype=np.uint64),
        np.arange(n_features),
        np.empty(n_features, dtype=np.int64),
        np.empty((most, 2)),
        np.empty(most, dtype=np.bool_),
        np.empty(most, dtype=np.bool_),
    )


@kernel
def grow_mean_tree(data, ranked, weights, seed, settings):
    """Grow one tree on rows that count `weights` times; the target is the last column of ``data.X``."""
    rows, y = np.flatnonzero(weights > 0), data.X[:, -1].copy()
    spare, left = np.empty_like(rows), np.empty(len(rows), dtype=np.bool_)
    room = _room_for(data, len(rows))
    most_categories = len(room.best_left)
    tree = tree_of(64, 1)
    n_nodes, n_flags = np.int64(0), np.int64(0)
    stack = np.empty((64, 4), dtype=np.int64)  # first row, end, parent of a right child or -1, depth
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(rows), -1, 0
    height = 1
    while height > 0:
        height -= 1
        start, end, parent, depth = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        here, node = rows[start:end], n_nodes
        n_nodes += 1
        if n_nodes > len(tree.feature) or n_flags + most_categories > len(tree.goes_left):
            tree = tree_with_room(tree, n_nodes, n_flags + most_categories)
        if parent >= 0:
            tree.right[parent] = node
        weight, mean, constant = _mean_at(y, weights, here)
        tree.feature[node], tree.threshold[node], tree.right[node], tree.subset[node] = -1, np.nan, -1, -1
        tree.counts[node, 0] = weight
        if constant or weight < 2 * settings.min_rows or depth >= settings.max_depth:
            continue
        goal = _Goal(y, weights, mean)
        f, last_rank = _best_split_by_mean(data.n_categories, ranked.ranks, here, node, seed, settings, goal, room)
        if f < 0:
            continue
        subset = room.best_left[: data.n_categories[f]]
        n_flags = add_split(tree, node, f, last_rank, subset, ranked, n_flags)
        sides_of_rows(ranked.ranks[f], here, node, seed, last_rank, subset, left)
        middle = start + partition(here, left, spare)
        stack = with_room(stack, height + 2)
        height = add_children(stack, height, start, middle, end, node, depth)
    return trimmed_tree(tree, n_nodes, n_flags)


def grow_mean_forest(data: TrainingData, seeds: np.ndarray, settings: GrowthSettings, n_jobs: int | None) -> Forest:
    """Grow one regression tree per seed; the only class counts rows."""
    ranked = data.ranked()

    def one(seed: np.uint64) -> Tree:
        return grow_mean_tree(data, ranked, data.weights(seed), seed, settings)

    forest = join_trees(run(one, [(seed,) for seed in seeds], n_jobs), seeds)
    return forest if data.unit == 1.0 else forest._replace(counts=forest.counts * data.unit)
