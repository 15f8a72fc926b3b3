"""Surrogate splits (Breiman et al. 1984; Therneau 1997): stand-ins for a split whose feature is missing.

At each node alternative splits are ranked by how many training rows they send to the same side as the node's own.  Two
readings are kept.  `text` is the paper's and rpart's: every other feature gives its best stand-in, a category goes to
the side where most of its rows went.  `published` is what the published numbers rest on: stand-ins come from the
features drawn at that node only, categories count as ordered numbers, and where the node splits categories a row counts
as sent right when its code is above that of the first category on the left, not by membership of the subset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from joints.forest.arrays import Forest, TrainingData
from joints.forest.grow import draw_feature, missing_goes_left
from joints.forest.route import goes_to_left
from joints.forest.splits import MISSING, published_order, sort_by_rank
from joints.numerics.compiled import kernel
from joints.numerics.threads import run

UNSEEN, LEFT, RIGHT = 0, 1, 2


@dataclass(frozen=True)
class Surrogates:
    """The stand-ins of every node of a forest.

    Attributes
    ----------
    start : int64 of shape (n_nodes + 1,)
        The stand-ins of node v are ``start[v]`` up to ``start[v + 1]``, in the order in which they are tried.
    feature, threshold, below_left : int32, float64, bool
        Values up to the threshold go left where `below_left`, else right.
    subset, sides : int64, uint8
        For a stand-in on categories, where its row of `sides` begins (else -1): 1 left, 2 right, 0 says nothing.
    agreement : float64
        Fraction of the training rows sent to the same side as by the node's own split.
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

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What a row needs on its way down, in the order in which kernels take them."""
        return (
            self.start, self.feature, self.threshold, self.below_left, self.subset, self.sides, self.majority_left
        )  # fmt: skip


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


@kernel
def _find(
    X, ranks, values, value_start, n_categories, y, n_classes, weights, seed, max_features, redraw, published,
    feature, threshold, subset, goes_left, right, root, n_nodes,
):  # fmt: skip
    """The stand-ins of one tree, node after node; see `Surrogates`."""
    n_rows, n_features = X.shape
    rows = np.flatnonzero(weights > 0)
    spare_rows = np.empty_like(rows)
    keys, spare_keys = np.empty(len(rows), dtype=np.uint64), np.empty(len(rows), dtype=np.uint64)
    side = np.empty(n_rows, dtype=np.uint64)  # 0 left, 1 right, 2 the split's feature is missing
    pool = np.arange(n_features)
    swaps = np.empty(n_features, dtype=np.int64)
    most = max(n_categories.max(), 1)
    table = np.zeros((most, max(n_classes, 2)))
    found_feature = np.empty(n_features, dtype=np.int32)
    found_score = np.empty(n_features)
    found_agreement = np.empty(n_features)
    found_threshold = np.empty(n_features)
    found_left = np.empty(n_features, dtype=np.bool_)
    found_sides = np.empty((n_features, most), dtype=np.uint8)

    start = np.zeros(n_nodes + 1, dtype=np.int64)
    majority_left = np.ones(n_nodes, dtype=np.bool_)
    out_feature, out_threshold, out_agreement = [np.int32(0)], [0.0], [0.0]  # typed lists; the first entry is dropped
    out_left, out_subset, out_sides = [True], [np.int64(0)], [np.uint8(0)]
    first_row = np.zeros(n_nodes, dtype=np.int64)
    end_row = np.zeros(n_nodes, dtype=np.int64)
    end_row[0] = len(rows)
    for v in range(n_nodes):
        start[v + 1] = start[v]
        node = root + v
        f = feature[node]
        if f < 0:
            continue
        begin, end = first_row[v], end_row[v]
        reference = -1
        if published and subset[node] >= 0:
            table[:] = 0.0
            for i in range(begin, end):
                if ranks[f, rows[i]] != MISSING:
                    table[ranks[f, rows[i]], y[rows[i]]] += weights[rows[i]]
            split_left = goes_left[subset[node] : subset[node] + n_categories[f]]
            reference = _first_left_category(table[: n_categories[f]], split_left, n_classes)
        n_left, n_right, rows_left = 0.0, 0.0, 0.0
        for i in range(begin, end):
            row = rows[i]
            if np.isnan(X[row, f]):
                side[row] = 2
                continue
            left = goes_to_left(X[row, f], threshold, subset, goes_left, node)
            rows_left += weights[row] if left else -weights[row]
            if reference >= 0:
                left = X[row, f] <= reference
            side[row] = 0 if left else 1
            if left:
                n_left += weights[row]
            else:
                n_right += weights[row]
        majority_left[v] = n_left >= n_right if published else rows_left >= 0
        majority = max(n_left, n_right)

        n_found = 0
        drawn, tried = 0, 0
        limit = max_features if published else n_features
        while drawn < n_features and tried < limit:
            if published:
                swaps[drawn] = draw_feature(seed, v, drawn, pool)
                g = pool[drawn]
            else:
                g = drawn
            drawn += 1
            column = ranks[g]
            lowest, highest, n, seen_left, seen_right = MISSING, np.uint32(0), 0, 0.0, 0.0
            constant, first_rank = True, MISSING
            for i in range(begin, end):
                row = rows[i]
                rank = column[row]
                if rank == MISSING:
                    continue
                if first_rank == MISSING:
                    first_rank = rank
                elif rank != first_rank:
                    constant = False
                if side[row] == 2:
                    continue
                lowest, highest = min(lowest, rank), max(highest, rank)
                keys[n] = (np.uint64(rank) << np.uint64(32)) | (side[row] << np.uint64(16)) | np.uint64(weights[row])
                n += 1
                if side[row] == 0:
                    seen_left += weights[row]
                else:
                    seen_right += weights[row]
            if not (constant and redraw):
                tried += 1
            if constant or g == f or n == 0 or lowest == highest:
                continue
            seen = seen_left + seen_right
            if n_categories[g] == 0 or published:
                base = np.uint64(lowest) << np.uint64(32)
                for i in range(n):
                    keys[i] -= base
                ordered = sort_by_rank(keys, spare_keys, n, np.int64(highest - lowest))
                agree, below, above, left = _best_cut(ordered, n, seen_left, seen_right, 3.0 if published else 2.0, 2.0)
                lower, upper = values[value_start[g] + lowest + below], values[value_start[g] + lowest + above]
                found_threshold[n_found], found_left[n_found] = 0.5 * (lower + upper), left
            else:
                table[:] = 0.0
                for i in range(n):
                    table[keys[i] >> np.uint64(32), (keys[i] >> np.uint64(16)) & np.uint64(1)] += keys[i] & np.uint64(
                        0xFFFF
                    )
                agree = 0.0
                for c in range(n_categories[g]):
                    a, b = table[c, 0], table[c, 1]
                    found_sides[n_found, c] = UNSEEN
                    if a + b > 0:
                        agree += max(a, b)
                        to_left = a > b or (a == b and seen_left > seen_right)
                        found_sides[n_found, c] = LEFT if to_left else RIGHT
            if published:
                good = agree / seen > majority / (n_left + n_right)
                score = agree / seen
            else:
                good = agree > majority
                score = agree
            if good:
                found_score[n_found] = -score
                found_agreement[n_found] = agree / (n_left + n_right)
                found_feature[n_found] = g
                n_found += 1
        if published:
            while drawn > 0:
                drawn -= 1
                pool[drawn], pool[swaps[drawn]] = pool[swaps[drawn]], pool[drawn]
        for j in np.argsort(found_score[:n_found], kind="mergesort"):
            g = found_feature[j]
            out_feature.append(g)
            out_threshold.append(found_threshold[j])
            out_left.append(found_left[j])
            out_agreement.append(found_agreement[j])
            if n_categories[g] == 0 or published:
                out_subset.append(np.int64(-1))
            else:
                out_subset.append(np.int64(len(out_sides) - 1))
                for c in range(n_categories[g]):
                    out_sides.append(found_sides[j, c])
        start[v + 1] = start[v] + n_found

        n_go_left, n_go_right = 0, 0
        for i in range(begin, end):
            row = rows[i]
            if side[row] == 2:
                left = missing_goes_left(seed, v, row)
            else:
                left = goes_to_left(X[row, f], threshold, subset, goes_left, node)
            if left:
                rows[begin + n_go_left] = row
                n_go_left += 1
            else:
                spare_rows[n_go_right] = row
                n_go_right += 1
        middle = begin + n_go_left
        rows[middle:end] = spare_rows[:n_go_right]
        other = right[node] - root
        first_row[v + 1], end_row[v + 1] = begin, middle
        first_row[other], end_row[other] = middle, end
    return (
        start, np.array(out_feature)[1:], np.array(out_threshold)[1:], np.array(out_left)[1:],
        np.array(out_subset)[1:], np.array(out_sides)[1:], np.array(out_agreement)[1:], majority_left,
    )  # fmt: skip


def find_surrogates(
    forest: Forest, data: TrainingData, reading: str, max_features: int, redraw: bool = False, n_jobs: int | None = None
) -> Surrogates:
    """Rank stand-ins at every node, in the `text` or the `published` reading."""
    ranks, values, value_start = data.ranks()

    def one(tree: int) -> tuple[np.ndarray, ...]:
        root, end, seed = forest.tree_start[tree], forest.tree_start[tree + 1], forest.seeds[tree]
        return _find(
            data.X, ranks, values, value_start, data.n_categories, data.y, data.n_classes, data.weights(seed), seed,
            max_features, redraw, reading == "published", *forest.splits[:-1], root, end - root,
        )  # fmt: skip

    parts = list(zip(*run(one, [(tree,) for tree in range(forest.n_trees)], n_jobs), strict=True))
    n_found = [len(part) for part in parts[1]]
    side_start = np.concatenate([[0], np.cumsum([len(part) for part in parts[5]])])[:-1]
    per_node = np.concatenate([np.diff(part) for part in parts[0]])
    subset = np.concatenate(parts[4])
    return Surrogates(
        start=np.concatenate([[0], np.cumsum(per_node)]),
        feature=np.concatenate(parts[1]),
        threshold=np.concatenate(parts[2]),
        below_left=np.concatenate(parts[3]),
        subset=np.where(subset >= 0, subset + np.repeat(side_start, n_found), -1),
        sides=np.concatenate(parts[5]),
        agreement=np.concatenate(parts[6]),
        majority_left=np.concatenate(parts[7]),
    )


@kernel
def surrogate_side(x, node, start, feature, threshold, below_left, subset, sides, majority_left):
    """Whether a row goes left at a node whose own split feature is missing in it."""
    for s in range(start[node], start[node + 1]):
        value = x[feature[s]]
        if np.isnan(value):
            continue
        if subset[s] < 0:
            return (value <= threshold[s]) == below_left[s]
        side = sides[subset[s] + np.int64(value)]
        if side != UNSEEN:
            return side == LEFT
    return majority_left[node]


@kernel
def surrogate_proba(
    X, first, last, feature, threshold, subset, goes_left, right, leaf, tree_start, leaf_proba,
    s_start, s_feature, s_threshold, s_below_left, s_subset, s_sides, s_majority_left, out,
):  # fmt: skip
    """Average over the trees of the class frequencies in the leaf that surrogate splits lead to."""
    n_trees = tree_start.shape[0] - 1
    out[first:last] = 0.0
    for tree in range(n_trees):
        for i in range(first, last):
            node = tree_start[tree]
            while feature[node] >= 0:
                x = X[i, feature[node]]
                if np.isnan(x):
                    left = surrogate_side(
                        X[i], node, s_start, s_feature, s_threshold, s_below_left, s_subset, s_sides, s_majority_left
                    )
                else:
                    left = goes_to_left(x, threshold, subset, goes_left, node)
                node = node + 1 if left else np.int64(right[node])
            for k in range(out.shape[1]):
                out[i, k] += leaf_proba[leaf[node], k]
    for i in range(first, last):
        for k in range(out.shape[1]):
            out[i, k] /= n_trees
