"""Rows on their way down a forest: the one leaf of a complete row, the leaf a training row was grown into.

All functions here operate on the flat arrays of `joints.forest.arrays.Forest`; what to do at a split whose feature is
missing is the business of `joints.forest.reach` (all branches) and `joints.forest.surrogates` (a stand-in split).
"""

import numpy as np

from joints.forest.grow import missing_goes_left
from joints.numerics.compiled import kernel


@kernel(inline="always")
def goes_to_left(x, forest, node):
    """The side of an observed value at a split."""
    if forest.subset[node] < 0:
        return x <= forest.threshold[node]
    return forest.goes_left[forest.subset[node] + np.int64(x)]


@kernel(inline="always")
def first_leaf_below(forest, node):
    """The leftmost leaf below a node."""
    while forest.feature[node] >= 0:
        node += 1
    return np.int64(forest.leaf[node])


@kernel
def training_leaves(X, forest, tree):
    """The leaf into which a tree grew each row; rows without the value of a split get the same coin again."""
    root, seed = forest.tree_start[tree], forest.seeds[tree]
    out = np.empty(X.shape[0], dtype=np.int64)
    for i in range(X.shape[0]):
        node = root
        while forest.feature[node] >= 0:
            x = X[i, forest.feature[node]]
            left = missing_goes_left(seed, node - root, i) if np.isnan(x) else goes_to_left(x, forest, node)
            node = node + 1 if left else np.int64(forest.right[node])
        out[i] = forest.leaf[node]
    return out


@kernel
def complete_proba(X, forest, leaf_proba, out):
    """Average over the trees of the class frequencies in the leaf of each complete row."""
    n_trees = len(forest.tree_start) - 1
    out[:] = 0.0
    for tree in range(n_trees):
        for i in range(X.shape[0]):
            node = forest.tree_start[tree]
            f = forest.feature[node]
            while f >= 0:
                node = node + 1 if goes_to_left(X[i, f], forest, node) else np.int64(forest.right[node])
                f = forest.feature[node]
            for k in range(out.shape[1]):
                out[i, k] += leaf_proba[forest.leaf[node], k]
    for i in range(X.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] /= n_trees
