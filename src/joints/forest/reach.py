"""All leaves of a tree that a row with missing features can reach (Friedman 1977; Algorithm 1's indicators).

A leaf is reached when its cell agrees with every observed feature.  Two ways give the same list, in the same order:
walking down both branches wherever the split feature is missing, and, for many rows, looking up one bit vector over the
leaves for each observed feature and intersecting them (after QuickScorer, Lucchese et al. 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from joints.forest.arrays import Forest
from joints.forest.route import goes_to_left
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

TREES_PER_BLOCK = 4  # trees whose sums are formed together; fixed, so that sums do not depend on the number of threads
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
MANY_ROWS = 48  # incomplete rows from which building a tree's bit vectors pays
MOST_WORDS = 1 << 23  # bit vectors of one tree beyond 64 MiB: walk instead


@intrinsic
def trailing_zeros(typingctx, word):
    """Number of zero bits below the lowest one of a uint64 (64 where there is none)."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@kernel
def walk_to_leaves(x, feature, threshold, subset, goes_left, right, leaf, root, first_leaf, stack, out):
    """Leaves reached by one row, left to right and counted from the tree's first, into `out`; returns how many.

    `stack` has room for as many nodes as the tree is deep.
    """
    n, height, node = 0, 0, root
    while True:
        f = feature[node]
        if f < 0:
            out[n] = leaf[node] - first_leaf
            n += 1
            if height == 0:
                return n
            height -= 1
            node = stack[height]
        elif np.isnan(x[f]):
            stack[height] = right[node]
            height += 1
            node += 1
        elif goes_to_left(x[f], threshold, subset, goes_left, node):
            node += 1
        else:
            node = np.int64(right[node])


@kernel
def _bit_table_size(feature, n_categories, first, last, n_leaves):
    """Words that the bit vectors of the tree with nodes `first` up to `last` take."""
    n_vectors = 0
    used = np.zeros(n_categories.shape[0], dtype=np.int64)
    for node in range(first, last):
        if feature[node] >= 0:
            used[feature[node]] += 1
    for f in range(n_categories.shape[0]):
        if used[f]:
            n_vectors += n_categories[f] if n_categories[f] else used[f] + 1
    return n_vectors * ((n_leaves + 63) // 64)


@kernel
def _clear(bits, start, first, last):
    """Zero the bits `first` up to `last` of the vector that begins at word `start`."""
    word, end = first >> 6, (last - 1) >> 6
    head = ALL << np.uint64(first & 63)
    tail = ALL >> np.uint64(63 - ((last - 1) & 63))
    if word == end:
        bits[start + word] &= ~(head & tail)
        return
    bits[start + word] &= ~head
    for w in range(word + 1, end):
        bits[start + w] = np.uint64(0)
    bits[start + end] &= ~tail


@kernel
def _build_bit_table(feature, threshold, subset, goes_left, right, leaf, n_categories, first, last, n_leaves):
    """Bit vectors over the leaves of one tree: which leaves agree with a feature in a given interval or category.

    Returns
    -------
    bits : uint64
        The vectors behind one another, each of ``ceil(n_leaves / 64)`` words.
    vector_start : int64 of shape (n_features,)
        First vector of each feature, -1 for a feature that the tree does not split on.
    cuts, cut_start : float64, int64 of shape (n_features + 1,)
        The sorted thresholds of each continuous feature: vector j of the feature belongs to the values that have
        exactly j thresholds below them.
    """
    n_features = n_categories.shape[0]
    n_words = (n_leaves + 63) // 64
    n_splits = np.zeros(n_features, dtype=np.int64)
    for node in range(first, last):
        if feature[node] >= 0:
            n_splits[feature[node]] += 1
    cut_start = np.zeros(n_features + 1, dtype=np.int64)
    vector_start = np.full(n_features, -1, dtype=np.int64)
    n_vectors = 0
    for f in range(n_features):
        cut_start[f + 1] = cut_start[f]
        if n_splits[f] == 0:
            continue
        vector_start[f] = n_vectors
        if n_categories[f]:
            n_vectors += n_categories[f]
        else:
            cut_start[f + 1] += n_splits[f]
            n_vectors += n_splits[f] + 1
    cuts = np.empty(cut_start[-1])
    filled = cut_start[:-1].copy()
    for node in range(first, last):
        f = feature[node]
        if f >= 0 and subset[node] < 0:
            cuts[filled[f]] = threshold[node]
            filled[f] += 1
    for f in range(n_features):
        cuts[cut_start[f] : cut_start[f + 1]].sort()

    bits = np.full(n_vectors * n_words, ALL, dtype=np.uint64)
    spare = n_words * 64 - n_leaves
    if spare:
        for v in range(n_vectors):
            bits[(v + 1) * n_words - 1] = ALL >> np.uint64(spare)
    # the leaves of a node are a range: its end is where the next subtree to the right begins
    base = leaf_of_first(feature, leaf, first)
    ends = np.empty(last - first, dtype=np.int64)
    ends[0] = n_leaves
    begin = 0
    for node in range(first, last):
        f = feature[node]
        if f < 0:
            begin = leaf[node] - base + 1
            continue
        end = ends[node - first]
        middle = leaf_of_first(feature, leaf, np.int64(right[node])) - base
        ends[node + 1 - first] = middle
        ends[right[node] - first] = end
        if subset[node] >= 0:
            for c in range(n_categories[f]):
                vector = (vector_start[f] + c) * n_words
                if goes_left[subset[node] + c]:
                    _clear(bits, vector, middle, end)
                else:
                    _clear(bits, vector, begin, middle)
        else:
            below = np.searchsorted(cuts[cut_start[f] : cut_start[f + 1]], threshold[node])
            for j in range(cut_start[f + 1] - cut_start[f] + 1):
                vector = (vector_start[f] + j) * n_words
                if j <= below:
                    _clear(bits, vector, middle, end)
                else:
                    _clear(bits, vector, begin, middle)
    return bits, vector_start, cuts, cut_start


@kernel(inline="always")
def leaf_of_first(feature, leaf, node):
    """The leftmost leaf below a node."""
    while feature[node] >= 0:
        node += 1
    return np.int64(leaf[node])


@kernel
def _look_up_leaves(x, bits, vector_start, cuts, cut_start, n_categories, n_leaves, vectors, out):
    """Leaves reached by one row, as `walk_to_leaves` lists them; `vectors` has room for one a feature."""
    n_words = (n_leaves + 63) // 64
    n_vectors = 0
    for f in range(x.shape[0]):
        if vector_start[f] < 0 or np.isnan(x[f]):
            continue
        if n_categories[f]:
            j = np.int64(x[f])
        else:  # how many thresholds are below x
            low, high = cut_start[f], cut_start[f + 1]
            while low < high:
                middle = (low + high) >> 1
                if cuts[middle] < x[f]:
                    low = middle + 1
                else:
                    high = middle
            j = low - cut_start[f]
        vectors[n_vectors] = (vector_start[f] + j) * n_words
        n_vectors += 1
    n = 0
    if n_vectors == 0:
        for i in range(n_leaves):
            out[i] = i
        return n_leaves
    for w in range(n_words):
        word = bits[vectors[0] + w]
        for v in range(1, n_vectors):
            word &= bits[vectors[v] + w]
        while word:
            out[n] = 64 * w + np.int64(trailing_zeros(word))
            n += 1
            word &= word - np.uint64(1)
    return n


@kernel
def bit_table(n_rows, feature, threshold, subset, goes_left, right, leaf, n_categories, first, last, n_leaves):
    """The bit vectors of one tree where they pay for this many incomplete rows, else empty arrays."""
    words = _bit_table_size(feature, n_categories, first, last, n_leaves)
    if n_rows >= MANY_ROWS and words <= MOST_WORDS:
        return _build_bit_table(feature, threshold, subset, goes_left, right, leaf, n_categories, first, last, n_leaves)
    return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int64)


@kernel
def reach_leaves(
    x, complete, bits, vector_start, cuts, cut_start, n_categories, n_leaves, vectors,
    feature, threshold, subset, goes_left, right, leaf, root, first_leaf, stack, out,
):  # fmt: skip
    """Leaves reached by one row, left to right and counted from the tree's first, into `out`; returns how many."""
    if len(bits) and not complete:
        return _look_up_leaves(x, bits, vector_start, cuts, cut_start, n_categories, n_leaves, vectors, out)
    return walk_to_leaves(x, feature, threshold, subset, goes_left, right, leaf, root, first_leaf, stack, out)


@kernel
def _friedman_trees(
    X, complete, n_incomplete, first_tree, last_tree,
    tree_start, leaf_start, feature, threshold, subset, goes_left, right, leaf, n_categories, counts, out,
):  # fmt: skip
    """Friedman's method: add to `out` the normalised class counts of all reached leaves, tree by tree."""
    vectors = np.empty(X.shape[1], dtype=np.int64)
    for tree in range(first_tree, last_tree):
        first, last, first_leaf = tree_start[tree], tree_start[tree + 1], leaf_start[tree]
        n_leaves = leaf_start[tree + 1] - first_leaf
        reached, stack = np.empty(n_leaves, dtype=np.int64), np.empty(n_leaves, dtype=np.int64)
        bits, vector_start, cuts, cut_start = bit_table(
            n_incomplete, feature, threshold, subset, goes_left, right, leaf, n_categories, first, last, n_leaves
        )
        sums = np.empty(counts.shape[1])
        for i in range(X.shape[0]):
            n = reach_leaves(
                X[i], complete[i], bits, vector_start, cuts, cut_start, n_categories, n_leaves, vectors,
                feature, threshold, subset, goes_left, right, leaf, first, first_leaf, stack, reached,
            )  # fmt: skip
            sums[:] = 0.0
            for j in range(n):
                for k in range(len(sums)):
                    sums[k] += counts[first_leaf + reached[j], k]
            out[i] += sums / sums.sum()


@dataclass(frozen=True)
class Rows:
    """The different rows of a table that is asked about, each asked once.

    Attributes
    ----------
    X : float64 of shape (n_different, n_features)
    back : int64 of shape (n_rows,)
        For each row of the table its place in `X`.
    complete : bool of shape (n_different,)
    """

    X: np.ndarray
    back: np.ndarray
    complete: np.ndarray

    @property
    def n_incomplete(self) -> int:
        return int(len(self.complete) - self.complete.sum())


def different_rows(X: np.ndarray) -> Rows:
    """Find the rows that occur several times, as incomplete rows of discrete values often do."""
    table = np.where(np.isnan(X), np.nan, X + 0.0)  # one bit pattern for NaN, one for zero
    whole_rows = table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()
    _, index, back = np.unique(whole_rows, return_index=True, return_inverse=True)
    if len(index) < len(table):
        table = table[index]
    else:
        back = np.arange(len(table))
    return Rows(table, back, np.asarray(~np.isnan(table).any(axis=1)))


def friedman_proba(X: np.ndarray, forest: Forest, n_categories: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Friedman's method: class counts of all reached leaves, normalised tree by tree and averaged."""
    rows = different_rows(X)
    counts = forest.leaf_counts

    def one(first: int, last: int) -> np.ndarray:
        out = np.zeros((len(rows.X), counts.shape[1]))
        _friedman_trees(
            rows.X, rows.complete, rows.n_incomplete, first, last, forest.tree_start, forest.leaf_start, *forest.splits,
            n_categories, counts, out,
        )  # fmt: skip
        return out

    parts = run(one, blocks(forest.n_trees, TREES_PER_BLOCK), n_jobs)
    return (sum(parts) / forest.n_trees)[rows.back]
