"""Rows on their way down a forest: the one leaf of a complete row, the leaf a training row was grown into.

Everything here reads the flat arrays of `joints.forest.arrays.Forest`; what to do at a split whose feature is missing
is the business of `joints.forest.reach` (all branches) and `joints.forest.surrogates` (a stand-in split).
"""

import numpy as np

from joints.forest.grow import missing_goes_left
from joints.numerics.compiled import kernel


@kernel(inline="always")
def goes_to_left(x, threshold, subset, goes_left, node):
    """The side of an observed value at a split."""
    if subset[node] < 0:
        return x <= threshold[node]
    return goes_left[subset[node] + np.int64(x)]


@kernel
def training_leaves(X, feature, threshold, subset, goes_left, right, leaf, root, seed):
    """The leaf each row was grown into by the tree with this root and seed (missing values: the same coin again)."""
    out = np.empty(X.shape[0], dtype=np.int64)
    for i in range(X.shape[0]):
        node = root
        while feature[node] >= 0:
            x = X[i, feature[node]]
            if np.isnan(x):
                left = missing_goes_left(seed, node - root, i)
            else:
                left = goes_to_left(x, threshold, subset, goes_left, node)
            node = node + 1 if left else right[node]
        out[i] = leaf[node]
    return out


@kernel
def complete_proba(X, first, last, feature, threshold, subset, goes_left, right, leaf, tree_start, leaf_proba, out):
    """Average over the trees of the class frequencies in the leaf, for complete rows `first` up to `last`."""
    n_trees = tree_start.shape[0] - 1
    out[first:last] = 0.0
    for tree in range(n_trees):
        for i in range(first, last):
            node = tree_start[tree]
            f = feature[node]
            while f >= 0:
                node = node + 1 if goes_to_left(X[i, f], threshold, subset, goes_left, node) else np.int64(right[node])
                f = feature[node]
            for k in range(out.shape[1]):
                out[i, k] += leaf_proba[leaf[node], k]
    for i in range(first, last):
        for k in range(out.shape[1]):
            out[i, k] /= n_trees
