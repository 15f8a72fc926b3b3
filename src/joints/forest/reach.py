"""All leaves of a tree that a row with missing features can reach (Friedman 1977; Algorithm 1's indicators).

A leaf is reached when its cell agrees with every observed feature.  Two ways give the same list, in the same order:
walking down both branches wherever the split feature is missing, and, for many rows, looking up one bit vector over the
leaves for each observed feature and intersecting them (after QuickScorer, Lucchese et al. 2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from joints.forest.arrays import Forest
from joints.forest.route import first_leaf_below, goes_to_left
from joints.numerics.bits import trailing_zeros
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

TREES_PER_BLOCK = 4  # trees whose sums are formed together; fixed, so that sums do not depend on the number of threads
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
MANY_ROWS = 48  # incomplete rows from which building a tree's bit vectors pays
MOST_SUMS = 1 << 24  # numbers that are kept for the sums over trees of a block of rows: 128 MiB
MOST_WORDS = 1 << 23  # bit vectors of one tree beyond 64 MiB: walk instead


class BitTable(NamedTuple):
    """Bit vectors over the leaves of one tree: which leaves agree with a feature in a given interval or category.

    Attributes
    ----------
    bits : uint64
        The vectors one after another.  Empty where rows walk instead.
    n_words : int
        Words per vector: ``ceil(n_leaves / 64)``.
    vector_start : int64 of shape (n_features,)
        First vector of each feature, -1 for a feature that the tree does not split on.
    cuts : float64
        The sorted thresholds of each continuous feature: vector j of the feature belongs to the values that have
        exactly j thresholds below them.
    cut_start : int64 of shape (n_features + 1,)
        The thresholds of feature f are ``cut_start[f]`` up to ``cut_start[f + 1]``; a categorical feature has none.
    """

    bits: np.ndarray
    n_words: int
    vector_start: np.ndarray
    cuts: np.ndarray
    cut_start: np.ndarray


class Rows(NamedTuple):
    """The different rows of a table that is asked about, each asked once.

    Attributes
    ----------
    X : float64 of shape (n_different, n_features)
    back : int64 of shape (n_rows,)
        For each row of the table its place in `X`.
    complete : bool of shape (n_different,)
    n_incomplete : int
        Of the whole table, where these are a block of its rows.
    """

    X: np.ndarray
    back: np.ndarray
    complete: np.ndarray
    n_incomplete: int


@kernel(counted=False)
def walk_to_leaves(x, forest, tree, stack, out):
    """Leaves reached by one row, left to right and counted from the tree's first, into `out`; returns how many.

    `stack` has room for as many nodes as the tree is deep.
    """
    first_leaf = forest.leaf_start[tree]
    n, height, node = 0, 0, forest.tree_start[tree]
    while True:
        f = forest.feature[node]
        if f < 0:
            out[n] = forest.leaf[node] - first_leaf
            n += 1
            if height == 0:
                return n
            height -= 1
            node = stack[height]
        elif np.isnan(x[f]):
            stack[height] = forest.right[node]
            height += 1
            node += 1
        elif goes_to_left(x[f], forest, node):
            node += 1
        else:
            node = np.int64(forest.right[node])


@kernel(inline="always")
def _lay_out(forest, tree, n_categories):
    """Where the vectors and the cuts of each feature begin, and how many vectors there are."""
    n_features = len(n_categories)
    n_splits = np.zeros(n_features, dtype=np.int64)
    for node in range(forest.tree_start[tree], forest.tree_start[tree + 1]):
        if forest.feature[node] >= 0:
            n_splits[forest.feature[node]] += 1
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
    return vector_start, cut_start, n_vectors


@kernel(inline="always")
def _sorted_cuts(forest, tree, cut_start):
    """The thresholds of each continuous feature of a tree, in order."""
    cuts = np.empty(cut_start[-1])
    filled = cut_start[:-1].copy()
    for node in range(forest.tree_start[tree], forest.tree_start[tree + 1]):
        f = forest.feature[node]
        if f >= 0 and forest.subset[node] < 0:
            cuts[filled[f]] = forest.threshold[node]
            filled[f] += 1
    for f in range(len(filled)):
        cuts[cut_start[f] : cut_start[f + 1]].sort()
    return cuts


@kernel(inline="always")
def _full_vectors(n_vectors, n_leaves):
    """Vectors that have every leaf."""
    n_words = (n_leaves + 63) // 64
    bits = np.full(n_vectors * n_words, ALL, dtype=np.uint64)
    spare = n_words * 64 - n_leaves
    if spare:
        for v in range(n_vectors):
            bits[(v + 1) * n_words - 1] = ALL >> np.uint64(spare)
    return bits


@kernel(inline="always")
def _clear(table, first, last, begin, end):
    """Zero the bits of the leaves `begin` up to `end` in the vectors `first` up to `last`."""
    bits, head, tail = table.bits, begin >> 6, (end - 1) >> 6
    from_begin = ALL << np.uint64(begin & 63)
    up_to_end = ALL >> np.uint64(63 - ((end - 1) & 63))
    if head == tail:
        from_begin &= up_to_end
    start = first * table.n_words
    for _ in range(first, last):
        bits[start + head] &= ~from_begin
        for w in range(head + 1, tail):
            bits[start + w] = np.uint64(0)
        if head < tail:
            bits[start + tail] &= ~up_to_end
        start += table.n_words


@kernel(inline="always")
def _cuts_below(x, table, f):
    """How many thresholds of a continuous feature are below a value."""
    low, high = table.cut_start[f], table.cut_start[f + 1]
    while low < high:
        middle = (low + high) >> 1
        if table.cuts[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low - table.cut_start[f]


@kernel(counted=False)
def _rule_out(forest, node, n_categories, table, begin, middle, end):
    """Clear what disagrees with a split; left of it are the leaves `begin` up to `middle`, then those up to `end`."""
    f, flags = forest.feature[node], forest.subset[node]
    first = table.vector_start[f]
    if flags < 0:
        n_vectors = table.cut_start[f + 1] - table.cut_start[f] + 1
        n_left = _cuts_below(forest.threshold[node], table, f) + 1
        _clear(table, first, first + n_left, middle, end)
        _clear(table, first + n_left, first + n_vectors, begin, middle)
        return
    for c in range(n_categories[f]):
        left = forest.goes_left[flags + c]
        _clear(table, first + c, first + c + 1, middle if left else begin, end if left else middle)


@kernel
def bit_table(n_rows, forest, tree, n_categories):
    """The bit vectors of one tree where they pay for this many incomplete rows, else an empty table."""
    first, last = forest.tree_start[tree], forest.tree_start[tree + 1]
    first_leaf, n_leaves = forest.leaf_start[tree], forest.leaf_start[tree + 1] - forest.leaf_start[tree]
    n_words = (n_leaves + 63) // 64
    vector_start, cut_start, n_vectors = _lay_out(forest, tree, n_categories)
    if n_rows < MANY_ROWS or n_vectors * n_words > MOST_WORDS:
        return BitTable(np.empty(0, dtype=np.uint64), n_words, vector_start, np.empty(0), cut_start)
    cuts = _sorted_cuts(forest, tree, cut_start)
    table = BitTable(_full_vectors(n_vectors, n_leaves), n_words, vector_start, cuts, cut_start)
    # the leaves of a node are a range: its end is where the next subtree to the right begins
    ends = np.empty(last - first, dtype=np.int64)
    ends[0] = n_leaves
    begin = np.int64(0)
    for node in range(first, last):
        if forest.feature[node] < 0:
            begin = forest.leaf[node] - first_leaf + 1
            continue
        right = np.int64(forest.right[node])
        middle, end = first_leaf_below(forest, right) - first_leaf, ends[node - first]
        ends[node + 1 - first], ends[right - first] = middle, end
        _rule_out(forest, node, n_categories, table, begin, middle, end)
    return table


@kernel(inline="always")
def _vectors_of_row(x, table, out):
    """The first word of the vector of each observed feature, into `out`; returns how many there are."""
    n = 0
    for f in range(x.shape[0]):
        if table.vector_start[f] < 0 or np.isnan(x[f]):
            continue
        is_categorical = table.cut_start[f] == table.cut_start[f + 1]
        j = np.int64(x[f]) if is_categorical else _cuts_below(x[f], table, f)
        out[n] = (table.vector_start[f] + j) * table.n_words
        n += 1
    return n


@kernel(counted=False)
def look_up_leaves(x, table, n_leaves, vectors, out):
    """Leaves reached by one row, as `walk_to_leaves` lists them; `vectors` has room for one per feature."""
    n_vectors = _vectors_of_row(x, table, vectors)
    n = 0
    for w in range(table.n_words):
        word = ALL if w + 1 < table.n_words else ALL >> np.uint64(table.n_words * 64 - n_leaves)
        for v in range(n_vectors):
            word &= table.bits[vectors[v] + w]
        while word:
            out[n] = 64 * w + np.int64(trailing_zeros(word))
            n += 1
            word &= word - np.uint64(1)
    return n


@kernel(fastmath={"reassoc"}, counted=False)
def _sum(column, reached, n):
    s = 0.0
    for i in range(n):
        s += column[reached[i]]
    return s


@kernel(counted=False)
def add_frequencies(counts, reached, n, sums, out, i):
    """Friedman's answer for row i and one tree: add the normalised counts of the n reached leaves to ``out[i]``.

    `counts` is targets by leaves of the tree; `sums` has room for the targets.
    """
    total = 0.0
    for k in range(len(sums)):
        sums[k] = _sum(counts[k], reached, n)
        total += sums[k]
    if total > 0.0:
        for k in range(len(sums)):
            out[i, k] += sums[k] / total


@kernel
def _friedman_trees(rows, forest, first_tree, last_tree, n_categories, leaf_counts, out):
    """Friedman's method for some of the trees, added to `out`."""
    sums = np.empty(leaf_counts.shape[1])
    for tree in range(first_tree, last_tree):
        first_leaf, last_leaf = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        counts = leaf_counts[first_leaf:last_leaf].T.copy()
        reached = np.empty(last_leaf - first_leaf, dtype=np.int64)
        room = np.empty(max(last_leaf - first_leaf, rows.X.shape[1]), dtype=np.int64)
        table = bit_table(rows.n_incomplete, forest, tree, n_categories)
        for i in range(rows.X.shape[0]):
            if len(table.bits) and not rows.complete[i]:
                n = look_up_leaves(rows.X[i], table, last_leaf - first_leaf, room, reached)
            else:
                n = walk_to_leaves(rows.X[i], forest, tree, room, reached)
            add_frequencies(counts, reached, n, sums, out, i)


def different_rows(X: np.ndarray) -> Rows:
    """Find the rows that occur several times, as incomplete rows of discrete values often do.

    Rows that lack the same features stand together.
    """
    table = np.where(np.isnan(X), np.nan, X + 0.0)  # one bit pattern for NaN, one for zero
    whole_rows = table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()
    _, index, back = np.unique(whole_rows, return_index=True, return_inverse=True)
    lacks = np.packbits(np.isnan(table[index]), axis=1)
    order = np.lexsort(lacks.T[::-1])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    table, back = table[index[order]], place[back]
    complete = np.asarray(~np.isnan(table).any(axis=1))
    return Rows(table, back, complete, int(len(complete) - complete.sum()))


def row_blocks(X: np.ndarray, n_sums: int) -> Iterator[tuple[Rows, np.ndarray]]:
    """The different rows of a table, so many at a time that `n_sums` numbers for each of them fit into memory.

    With each block come the rows of the table that it answers for; `Rows.back` says by which of its rows.  What else
    depends on the number of rows is decided for the table, so answers do not depend on the blocks.
    """
    rows = different_rows(X)
    order = np.argsort(rows.back, kind="stable")
    ordered = rows.back[order]
    for first, last in blocks(len(rows.X), max(1, MOST_SUMS // n_sums)):
        here = slice(*np.searchsorted(ordered, [first, last]))
        yield (
            rows._replace(X=rows.X[first:last], back=ordered[here] - first, complete=rows.complete[first:last]),
            order[here],
        )


def friedman_proba(X: np.ndarray, forest: Forest, n_categories: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Friedman's method: class counts of all reached leaves, normalised tree by tree and averaged."""
    counts = forest.leaf_counts
    trees = blocks(forest.n_trees, TREES_PER_BLOCK)
    out = np.empty((len(X), counts.shape[1]))
    for rows, where in row_blocks(X, len(trees) * counts.shape[1]):

        def one(first: int, last: int, rows: Rows = rows) -> np.ndarray:
            sums = np.zeros((len(rows.X), counts.shape[1]))
            _friedman_trees(rows, forest, first, last, n_categories, counts, sums)
            return sums

        out[where] = (sum(run(one, trees, n_jobs)) / forest.n_trees)[rows.back]
    return out
