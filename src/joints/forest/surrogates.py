"""Surrogate splits (Breiman et al. 1984; Therneau 1997): stand-ins for a split whose feature is missing.

At each node alternative splits are ranked by how many training rows they send to the same side as the node's own: the
share of the rows that have a value of both features, which must be above the share of these rows' majority.  (As a
number of rows, which is rpart's default, a stand-in with many missing training values could never win: with 60 % of
wdbc missing, accuracy falls from 93 to 76.)  Two readings are kept.  `text` is the paper's and rpart's: every other
feature gives its best stand-in, a category goes to the side where most of its rows went.  `published` is what the
published numbers rest on: stand-ins come from the features drawn at that node only and must beat the majority of all
rows that the node splits, categories count as ordered numbers, and where the node splits categories a row counts as
sent right when its code is above that of the first category on the left, not by membership of the subset.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.forest.arrays import Forest, TrainingData
from joints.forest.grow import LOW_BITS, draw_feature, missing_goes_left, put_back
from joints.forest.route import goes_to_left
from joints.forest.splits import MISSING, published_order
from joints.numerics.buffers import partition, with_room
from joints.numerics.compiled import kernel
from joints.numerics.sorting import sort_by_rank
from joints.numerics.threads import run

UNSEEN, LEFT, RIGHT = 0, 1, 2
TO_LEFT, TO_RIGHT, TO_NEITHER = np.uint64(0), np.uint64(1), np.uint64(2)  # of a training row, by the node's own split


class Surrogates(NamedTuple):
    """The stand-ins of every node of a forest, or of one tree.

    Attributes
    ----------
    start : int64 of shape (n_nodes + 1,)
        The stand-ins of node v are ``start[v]`` up to ``start[v + 1]``, in the order in which they are tried.
    feature, threshold, below_left : int32, float64, bool
        Values up to the threshold go left where `below_left`, else right.
    subset, sides : int64, uint8
        For a stand-in on categories, where its row of `sides` begins (else -1): 1 left, 2 right, 0 says nothing.
    agreement : float64
        Fraction of the training rows with both values that go to the same side as by the node's own split.
    majority_left : bool of shape (n_nodes,)
        Where rows go that no stand-in can place.
    """

    start: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    below_left: np.ndarray
    subset: np.ndarray
    sides: np.ndarray
    agreement: np.ndarray
    majority_left: np.ndarray


class _Reading(NamedTuple):
    """How stand-ins are looked for: in which reading, and how many features are drawn at a node (`published`)."""

    published: bool
    max_features: int
    redraw: bool


class _Node(NamedTuple):
    """A node that stand-ins are looked for: its number in the tree, its feature, the training weights on its sides."""

    number: int
    feature: int
    n_left: float
    n_right: float


class _Found(NamedTuple):
    """The stand-ins found at one node, in the order of their features."""

    feature: np.ndarray
    agreement: np.ndarray
    threshold: np.ndarray
    below_left: np.ndarray
    sides: np.ndarray


class _Scratch(NamedTuple):
    """What the search at a node writes to; allocated once per tree.

    A key is a row's rank, side and weight in 32, 16 and 16 bits.
    """

    side: np.ndarray  # of every training row
    keys: np.ndarray
    spare_keys: np.ndarray
    pool: np.ndarray
    swaps: np.ndarray
    table: np.ndarray  # categories by classes, or by sides
    found: _Found


@kernel(inline="always")
def _scratch(n_rows, n_used, n_features, most_categories, n_classes):
    found = _Found(
        np.empty(n_features, dtype=np.int32),
        np.empty(n_features),
        np.empty(n_features),
        np.empty(n_features, dtype=np.bool_),
        np.empty((n_features, most_categories), dtype=np.uint8),
    )
    return _Scratch(
        np.empty(n_rows, dtype=np.uint64),
        np.empty(n_used, dtype=np.uint64),
        np.empty(n_used, dtype=np.uint64),
        np.arange(n_features),
        np.empty(n_features, dtype=np.int64),
        np.zeros((most_categories, max(n_classes, 2))),
        found,
    )


@kernel(inline="always")
def _none_of_tree(n_nodes, size):
    """No stand-ins yet, and room for `size`."""
    return Surrogates(
        np.zeros(n_nodes + 1, dtype=np.int64),
        np.empty(size, dtype=np.int32),
        np.empty(size),
        np.empty(size, dtype=np.bool_),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.uint8),
        np.empty(size),
        np.ones(n_nodes, dtype=np.bool_),
    )


@kernel(inline="always")
def _with_room(of_tree, n, n_sides):
    return Surrogates(
        of_tree.start,
        with_room(of_tree.feature, n),
        with_room(of_tree.threshold, n),
        with_room(of_tree.below_left, n),
        with_room(of_tree.subset, n),
        with_room(of_tree.sides, n_sides),
        with_room(of_tree.agreement, n),
        of_tree.majority_left,
    )


@kernel(inline="always")
def _trimmed(of_tree, n, n_sides):
    return Surrogates(
        of_tree.start,
        of_tree.feature[:n].copy(),
        of_tree.threshold[:n].copy(),
        of_tree.below_left[:n].copy(),
        of_tree.subset[:n].copy(),
        of_tree.sides[:n_sides].copy(),
        of_tree.agreement[:n].copy(),
        of_tree.majority_left,
    )


@kernel
def _best_cut(keys, n, n_left, n_right, min_below, min_above):
    """Best agreement of a cut of rows sorted by rank with the sides given in the keys.

    Returns (agreeing weight, last rank below, rank above, whether below goes left); the lowest cut wins a tie.
    """
    below_left, below_right = 0.0, 0.0
    best, rank_below, rank_above, left = -1.0, np.int64(0), np.int64(0), True
    for i in range(n - 1):
        w = np.float64(keys[i] & np.uint64(0xFFFF))
        if (keys[i] >> np.uint64(16)) & np.uint64(1):
            below_right += w
        else:
            below_left += w
        rank, following = np.int64(keys[i] >> np.uint64(32)), np.int64(keys[i + 1] >> np.uint64(32))
        n_below = below_left + below_right
        if rank == following or n_below < min_below or n_left + n_right - n_below < min_above:
            continue
        same = below_left + n_right - below_right
        other = n_left + n_right - same
        if max(same, other) > best:
            best, rank_below, rank_above, left = max(same, other), rank, following, same >= other
    return best, rank_below, rank_above, left


@kernel
def _first_left_category(counts, goes_left, n_classes):
    """The category that the published reading compares codes with: the first of the left subset in its own order."""
    if n_classes == 2:
        return published_order(counts)[0]
    for c in range(counts.shape[0]):
        if goes_left[c]:
            return c
    return -1


@kernel(inline="always")
def _reference_category(data, column, rows, weights, forest, node, table):
    """`_first_left_category` at a node that splits categories; -1 where the split is one of values."""
    if forest.subset[node] < 0:
        return -1
    n_categories = data.n_categories[forest.feature[node]]
    table[:] = 0.0
    for row in rows:
        if column[row] != MISSING:
            table[column[row], data.y[row]] += weights[row]
    flags = forest.subset[node]
    return _first_left_category(table[:n_categories], forest.goes_left[flags : flags + n_categories], data.n_classes)


@kernel
def _send_rows(X, rows, weights, forest, node, reference, side):
    """The side of every row, into `side`, and the weights on the left and right.

    With a `reference` category, codes up to it count as left.  The third number returned is by how much the left is
    heavier by the split itself.
    """
    f = forest.feature[node]
    n_left, n_right, more_left = 0.0, 0.0, 0.0
    for row in rows:
        if np.isnan(X[row, f]):
            side[row] = TO_NEITHER
            continue
        left = goes_to_left(X[row, f], forest, node)
        more_left += weights[row] if left else -weights[row]
        if reference >= 0:
            left = X[row, f] <= reference
        side[row] = TO_LEFT if left else TO_RIGHT
        if left:
            n_left += weights[row]
        else:
            n_right += weights[row]
    return n_left, n_right, more_left


@kernel
def _collect_keys(column, rows, weights, scratch):
    """The keys of the rows with a value and a side.

    Returns how many there are, their lowest and highest rank, their weights on the left and right, and whether all rows
    with a value have the same.
    """
    side, keys = scratch.side, scratch.keys
    lowest, highest, n, n_left, n_right = MISSING, np.uint32(0), 0, 0.0, 0.0
    constant, first_rank = True, MISSING
    for row in rows:
        rank = column[row]
        if rank == MISSING:
            continue
        if first_rank == MISSING:
            first_rank = rank
        elif rank != first_rank:
            constant = False
        if side[row] == TO_NEITHER:
            continue
        lowest, highest = min(lowest, rank), max(highest, rank)
        keys[n] = (np.uint64(rank) << np.uint64(32)) | (side[row] << np.uint64(16)) | np.uint64(weights[row])
        n += 1
        if side[row] == TO_LEFT:
            n_left += weights[row]
        else:
            n_right += weights[row]
    return n, lowest, highest, n_left, n_right, constant


@kernel
def _cut_values(values, n, lowest, highest, n_left, n_right, min_below, scratch):
    """The best cut of the n rows of ``scratch.keys``: agreeing weight, threshold, and whether values below go left."""
    base = np.uint64(lowest) << np.uint64(32)
    for i in range(n):
        scratch.keys[i] -= base
    ordered = sort_by_rank(scratch.keys, scratch.spare_keys, n, np.int64(highest - lowest))
    agree, below, above, left = _best_cut(ordered, n, n_left, n_right, min_below, 2.0)
    return agree, 0.5 * (values[lowest + below] + values[lowest + above]), left


@kernel
def _send_categories(n, n_categories, left_wins_tie, scratch, sides):
    """Send each category where most of its rows go, into `sides`; returns the agreeing weight."""
    keys, table = scratch.keys, scratch.table
    table[:] = 0.0
    for i in range(n):
        c, side = keys[i] >> np.uint64(32), (keys[i] >> np.uint64(16)) & np.uint64(1)
        table[c, side] += keys[i] & LOW_BITS
    agree = 0.0
    for c in range(n_categories):
        a, b = table[c, 0], table[c, 1]
        sides[c] = UNSEEN
        if a + b > 0:
            agree += max(a, b)
            sides[c] = LEFT if a > b or (a == b and left_wins_tie) else RIGHT
    return agree


@kernel
def _find_at_node(data, ranked, rows, weights, node, seed, reading, scratch):
    """The stand-ins for a node with these rows, into ``scratch.found``; returns how many there are."""
    pool, swaps, found, n_features = scratch.pool, scratch.swaps, scratch.found, len(data.n_categories)
    majority = max(node.n_left, node.n_right) / (node.n_left + node.n_right)
    n_found, drawn, tried = np.int64(0), np.int64(0), 0
    while drawn < n_features and tried < (reading.max_features if reading.published else n_features):
        g = drawn
        if reading.published:
            swaps[drawn] = draw_feature(seed, node.number, drawn, pool)
            g = pool[drawn]
        drawn += 1
        n, lowest, highest, seen_left, seen_right, constant = _collect_keys(ranked.ranks[g], rows, weights, scratch)
        if not (constant and reading.redraw):
            tried += 1
        if constant or g == node.feature or n == 0 or lowest == highest:
            continue
        if data.n_categories[g] == 0 or reading.published:
            values = ranked.values[ranked.value_start[g] : ranked.value_start[g + 1]]
            min_below = 3.0 if reading.published else 2.0
            agree, found.threshold[n_found], found.below_left[n_found] = _cut_values(
                values, n, lowest, highest, seen_left, seen_right, min_below, scratch
            )
        else:
            agree = _send_categories(n, data.n_categories[g], seen_left > seen_right, scratch, found.sides[n_found])
            found.threshold[n_found], found.below_left[n_found] = np.nan, False
        agreement = agree / (seen_left + seen_right)
        majority_seen = max(seen_left, seen_right) / (seen_left + seen_right)
        if agreement > (majority if reading.published else majority_seen):
            found.agreement[n_found] = agreement
            found.feature[n_found] = g
            n_found += 1
    if reading.published:
        put_back(drawn, pool, swaps)
    return n_found


@kernel(inline="always")
def _add(of_tree, n, n_sides, found, n_found, n_categories, published):
    """Add the stand-ins of a node to those of the tree, the best first; returns all, and the length of `sides`."""
    of_tree = _with_room(of_tree, n + n_found, n_sides + n_found * found.sides.shape[1])
    for j in np.argsort(-found.agreement[:n_found], kind="mergesort"):
        g = found.feature[j]
        of_tree.feature[n], of_tree.threshold[n] = g, found.threshold[j]
        of_tree.below_left[n], of_tree.agreement[n] = found.below_left[j], found.agreement[j]
        of_tree.subset[n] = -1
        if n_categories[g] and not published:
            of_tree.subset[n] = n_sides
            of_tree.sides[n_sides : n_sides + n_categories[g]] = found.sides[j, : n_categories[g]]
            n_sides += n_categories[g]
        n += 1
    return of_tree, n_sides


@kernel
def _find(data, ranked, weights, forest, tree, reading):
    """The stand-ins of one tree, node after node."""
    n_features, most = len(data.n_categories), max(data.n_categories.max(), 1)
    root, seed = forest.tree_start[tree], forest.seeds[tree]
    n_nodes = forest.tree_start[tree + 1] - root
    rows = np.flatnonzero(weights > 0)
    spare, left = np.empty_like(rows), np.empty(len(rows), dtype=np.bool_)
    scratch = _scratch(len(weights), len(rows), n_features, most, data.n_classes)
    of_tree = _none_of_tree(n_nodes, 64)
    n_sides = np.int64(0)
    first_row, end_row = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    end_row[0] = len(rows)
    for v in range(n_nodes):
        of_tree.start[v + 1] = of_tree.start[v]
        node = root + v
        f = forest.feature[node]
        if f < 0:
            continue
        begin, end = first_row[v], end_row[v]
        here = rows[begin:end]
        reference = -1
        if reading.published:
            reference = _reference_category(data, ranked.ranks[f], here, weights, forest, node, scratch.table)
        n_left, n_right, more_left = _send_rows(data.X, here, weights, forest, node, reference, scratch.side)
        of_tree.majority_left[v] = n_left >= n_right if reading.published else more_left >= 0
        this = _Node(v, f, n_left, n_right)
        n_found = _find_at_node(data, ranked, here, weights, this, seed, reading, scratch)
        n = of_tree.start[v]
        of_tree, n_sides = _add(of_tree, n, n_sides, scratch.found, n_found, data.n_categories, reading.published)
        of_tree.start[v + 1] = n + n_found

        for i in range(len(here)):
            x = data.X[here[i], f]
            left[i] = missing_goes_left(seed, v, here[i]) if np.isnan(x) else goes_to_left(x, forest, node)
        middle = begin + partition(here, left, spare)
        other = forest.right[node] - root
        first_row[v + 1], end_row[v + 1] = begin, middle
        first_row[other], end_row[other] = middle, end
    return _trimmed(of_tree, of_tree.start[n_nodes], n_sides)


def find_surrogates(
    forest: Forest, data: TrainingData, reading: str, max_features: int, redraw: bool = False, n_jobs: int | None = None
) -> Surrogates:
    """Rank stand-ins at every node, in the `text` or the `published` reading."""
    ranked = data.ranked()
    how = _Reading(reading == "published", int(max_features), bool(redraw))

    def one(tree: int) -> Surrogates:
        return _find(data, ranked, data.weights(forest.seeds[tree]), forest, tree, how)

    trees = run(one, [(tree,) for tree in range(forest.n_trees)], n_jobs)
    n_found = [len(tree.feature) for tree in trees]
    side_start = np.concatenate([[0], np.cumsum([len(tree.sides) for tree in trees])])[:-1]
    per_node = np.concatenate([np.diff(tree.start) for tree in trees])
    all_of = Surrogates(*(np.concatenate(part) for part in zip(*trees, strict=True)))
    return all_of._replace(
        start=np.concatenate([[0], np.cumsum(per_node)]),
        subset=np.where(all_of.subset >= 0, all_of.subset + np.repeat(side_start, n_found), -1),
    )


@kernel
def surrogate_side(x, node, surrogates):
    """Whether a row goes left at a node whose own split feature is missing in it."""
    for s in range(surrogates.start[node], surrogates.start[node + 1]):
        value = x[surrogates.feature[s]]
        if np.isnan(value):
            continue
        if surrogates.subset[s] < 0:
            return (value <= surrogates.threshold[s]) == surrogates.below_left[s]
        side = surrogates.sides[surrogates.subset[s] + np.int64(value)]
        if side != UNSEEN:
            return side == LEFT
    return surrogates.majority_left[node]


@kernel
def surrogate_proba(X, forest, leaf_proba, surrogates, out):
    """Average over the trees of the class frequencies in the leaf that surrogate splits lead to."""
    n_trees = len(forest.tree_start) - 1
    out[:] = 0.0
    for tree in range(n_trees):
        for i in range(X.shape[0]):
            node = forest.tree_start[tree]
            while forest.feature[node] >= 0:
                x = X[i, forest.feature[node]]
                left = surrogate_side(X[i], node, surrogates) if np.isnan(x) else goes_to_left(x, forest, node)
                node = node + 1 if left else np.int64(forest.right[node])
            for k in range(out.shape[1]):
                out[i, k] += leaf_proba[forest.leaf[node], k]
    for i in range(X.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] /= n_trees
