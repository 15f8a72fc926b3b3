"""All leaves of a tree that a row with missing features can reach (Friedman 1977; Algorithm 1's indicators).

A leaf is reached when its cell agrees with every observed feature.  Two ways give the same list, in the same order:
walking down both branches wherever the split feature is missing, and, for many rows, looking up one bit vector over the
leaves for each observed feature and intersecting them (after QuickScorer, Lucchese et al. 2015).
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from joints.forest.route import goes_to_left

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@intrinsic
def trailing_zeros(typingctx, word):
    """Number of zero bits below the lowest one of a uint64 (64 where there is none)."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def bit_table_size(feature, n_categories, first, last, n_leaves):
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def build_bit_table(feature, threshold, subset, goes_left, right, leaf, n_categories, first, last, n_leaves):
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


@njit(cache=True, nogil=True, inline="always")
def leaf_of_first(feature, leaf, node):
    """The leftmost leaf below a node."""
    while feature[node] >= 0:
        node += 1
    return np.int64(leaf[node])


@njit(cache=True, nogil=True)
def look_up_leaves(x, bits, vector_start, cuts, cut_start, n_categories, n_leaves, vectors, out):
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
