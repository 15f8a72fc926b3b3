"""Forests and trees fitted by scikit-learn, as this package's flat arrays.

scikit-learn compares values rounded to single precision; each threshold is therefore replaced by the largest double
that still rounds to its left side, after which comparing doubles sends every row the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from joints.forest.arrays import Forest, join_trees
from joints.forest.grow import Tree


def largest_double_rounding_below(threshold: np.ndarray) -> np.ndarray:
    """The largest doubles x with float32(x) <= threshold."""
    single = threshold.astype(np.float32)
    single = np.where(single.astype(np.float64) > threshold, np.nextafter(single, np.float32(-np.inf)), single)
    following = np.nextafter(single, np.float32(np.inf))
    middle = 0.5 * (single.astype(np.float64) + following.astype(np.float64))  # exact: a tie between two floats
    return np.where(middle.astype(np.float32) <= single, middle, np.nextafter(middle, -np.inf))


def convert(
    model: Any, X: np.ndarray, y: np.ndarray, n_categories: np.ndarray
) -> tuple[Forest, np.ndarray, np.ndarray]:
    """A fitted scikit-learn classifier as a `Forest`, the leaf of each training row and how often it was drawn.

    Parameters
    ----------
    model : fitted DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier
    X, y : ndarray
        The data it was fitted on, encoded; checked against the numbers of rows that the model has stored.
    n_categories : int64 of shape (n_features,)
        Splits of a feature with categories become subsets: those up to the threshold go left.

    Returns
    -------
    forest : Forest
    leaves, weights : int64 of shape (n_trees, n_rows)
    """
    if not isinstance(model, (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)):
        raise TypeError(
            f"from_sklearn takes a DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier, "
            f"not a {type(model).__name__}."
        )
    check_is_fitted(model)
    if model.n_outputs_ != 1:
        raise ValueError("from_sklearn takes models of one output; this one has several.")
    if model.n_features_in_ != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, but the model was fitted on {model.n_features_in_}.")
    if isinstance(model, DecisionTreeClassifier):
        estimators, samples = [model], [np.arange(len(X))]
    else:
        estimators, samples = model.estimators_, model.estimators_samples_
        if model._n_samples != len(X):  # which rows each tree drew, `max_samples` of them, depends on it
            raise ValueError(f"X is not the data that the model was fitted on: {len(X)} rows, not {model._n_samples}.")
    converted = [_convert_tree(estimator.tree_, n_categories) for estimator in estimators]
    forest = join_trees([tree for tree, _ in converted], np.zeros(len(converted), dtype=np.uint64))
    leaves = np.empty((len(converted), len(X)), dtype=np.int64)
    weights = np.zeros((len(converted), len(X)), dtype=np.int64)
    for t, (_, place) in enumerate(converted):
        tree = estimators[t].tree_
        weights[t] = np.bincount(samples[t], minlength=len(X))
        node = tree.apply(X.astype(np.float32))
        there = np.bincount(node[weights[t] > 0], minlength=tree.node_count)
        is_leaf = tree.children_left < 0
        if not np.array_equal(there[is_leaf], tree.n_node_samples[is_leaf]):
            older = " (or scikit-learn is older than 1.8, whose trees lose track of rows with missing values)"
            raise ValueError(
                "X is not the data that the model was fitted on: other numbers of rows fall into its leaves"
                f"{older if np.isnan(X).any() else ''}."
            )
        # class weights and monotonic constraints change the frequencies that a model has stored
        has_frequencies = model.class_weight is None and model.monotonic_cst is None
        if has_frequencies and not _same_classes(tree, node, y, weights[t]):
            raise ValueError(
                "y is not the data that the model was fitted on, or the model was fitted with sample_weight, which "
                "from_sklearn does not support: other classes fall into its leaves."
            )
        leaves[t] = forest.leaf[forest.tree_start[t] + place[node]]
    return forest, leaves, weights


def _same_classes(tree: Any, node: np.ndarray, y: np.ndarray, weights: np.ndarray) -> bool:
    counts = np.zeros((tree.node_count, tree.value.shape[2]))
    np.add.at(counts, (node, y), weights)
    is_leaf = tree.children_left < 0
    fractions = counts[is_leaf] / counts[is_leaf].sum(axis=1, keepdims=True)
    return np.allclose(fractions, tree.value[is_leaf, 0], rtol=0, atol=1e-9)


def _convert_tree(tree: Any, n_categories: np.ndarray) -> tuple[Tree, np.ndarray]:
    """A tree in preorder, and the place of each of scikit-learn's nodes among them."""
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if tree.children_left[node] >= 0:
            stack += [tree.children_right[node], tree.children_left[node]]
    nodes = np.array(order)
    place = np.empty(len(nodes), dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    inner = tree.children_left[nodes] >= 0
    feature = np.where(inner, tree.feature[nodes], -1).astype(np.int32)
    right = np.where(inner, place[tree.children_right[nodes]], -1).astype(np.int32)
    threshold = largest_double_rounding_below(tree.threshold[nodes])
    subset = np.full(len(nodes), -1, dtype=np.int64)
    flags: list[np.ndarray] = []
    n_flags = 0
    for v in np.flatnonzero(inner & (n_categories[feature] > 0)):
        subset[v] = n_flags
        flags.append(np.arange(n_categories[feature[v]]) <= threshold[v])
        n_flags += len(flags[-1])
    goes_left = np.concatenate(flags) if flags else np.empty(0, dtype=bool)
    counts = tree.value[nodes, 0] * tree.weighted_n_node_samples[nodes, None]
    return Tree(feature, np.where(inner, threshold, np.nan), right, subset, goes_left, counts), place
