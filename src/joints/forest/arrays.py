"""A forest is a handful of flat arrays: one array a node property, trees as ranges in them.

Nodes of a tree are in preorder, so the left child of node v is v + 1 and the leaves of a subtree are neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from joints.forest.grow import bootstrap_weights, grow_tree
from joints.forest.route import training_leaves
from joints.forest.splits import MISSING
from joints.numerics.threads import run


@dataclass(frozen=True)
class Forest:
    """The trees of a forest.

    Attributes
    ----------
    tree_start, leaf_start : int64 of shape (n_trees + 1,)
        The nodes, and the leaves, of tree t are ``tree_start[t]`` up to ``tree_start[t + 1]``, likewise for leaves.
    feature : int32 of shape (n_nodes,)
        The feature a node splits on, -1 at a leaf.
    threshold : float64 of shape (n_nodes,)
        A continuous feature goes left where its value is at most this.
    subset : int64 of shape (n_nodes,)
        For a split of categories, where its row of `goes_left` begins; else -1.
    goes_left : bool
        One flag a category for every split of categories.
    right : int32 of shape (n_nodes,)
        Right child; the left child of node v is v + 1.
    leaf : int32 of shape (n_nodes,)
        Number of the leaf, -1 at inner nodes.
    counts : float64 of shape (n_nodes, n_classes)
        Training rows of each class at the node.
    seeds : uint64 of shape (n_trees,)
        The seed of each tree: with the training data it gives the bootstrap sample and every draw again.
    """

    tree_start: np.ndarray
    leaf_start: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    subset: np.ndarray
    goes_left: np.ndarray
    right: np.ndarray
    leaf: np.ndarray
    counts: np.ndarray
    seeds: np.ndarray

    @property
    def n_trees(self) -> int:
        return len(self.tree_start) - 1

    @property
    def n_leaves(self) -> int:
        return int(self.leaf_start[-1])

    @property
    def leaf_counts(self) -> np.ndarray:
        """Training rows of each class in each leaf; float64 of shape (n_leaves, n_classes)."""
        return np.ascontiguousarray(self.counts[self.feature < 0])

    @property
    def splits(self) -> tuple[np.ndarray, ...]:
        """The arrays that a row needs on its way down, in the order in which kernels take them."""
        return self.feature, self.threshold, self.subset, self.goes_left, self.right, self.leaf


@dataclass(frozen=True)
class TrainingData:
    """Encoded training rows, and each feature's values as ranks: what growing and everything after it reads."""

    X: np.ndarray  # float64 (n_rows, n_features), NaN = missing
    y: np.ndarray  # int64 (n_rows,)
    n_classes: int
    n_categories: np.ndarray  # int64 (n_features,), 0 = continuous
    bootstrap: bool

    def ranks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ranks (uint32, features by rows), all distinct values, and where each feature's values begin."""
        n_rows, n_features = self.X.shape
        ranks = np.full((n_features, n_rows), MISSING, dtype=np.uint32)
        distinct = []
        for f in range(n_features):
            observed = ~np.isnan(self.X[:, f])
            column = self.X[observed, f]
            if self.n_categories[f]:
                ranks[f, observed] = column.astype(np.uint32)
                distinct.append(np.arange(self.n_categories[f], dtype=np.float64))
            else:
                values, inverse = np.unique(column, return_inverse=True)
                ranks[f, observed] = inverse
                distinct.append(values)
        start = np.concatenate([[0], np.cumsum([len(values) for values in distinct])])
        return ranks, np.concatenate(distinct), start

    def class_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows sorted by class, and where each class begins among them."""
        return np.argsort(self.y, kind="stable"), np.searchsorted(np.sort(self.y), np.arange(self.n_classes + 1))

    def weights(self, seed: np.uint64) -> np.ndarray:
        """How often each row counts in the tree with this seed; int64 of shape (n_rows,)."""
        weights = np.ones(len(self.y), dtype=np.int64)
        if self.bootstrap:
            bootstrap_weights(seed, *self.class_rows(), weights)
        return weights


def grow_forest(
    data: TrainingData,
    seeds: np.ndarray,
    *,
    max_features: int,
    redraw: bool = False,
    purity: float = 0.99,
    min_samples_leaf: int = 1,
    max_depth: int | None = None,
    category_order: str = "published",
    n_jobs: int | None = None,
) -> Forest:
    """Grow one tree a seed; see `joints.ForestClassifier` for the settings."""
    ranks, values, value_start = data.ranks()
    deepest = np.iinfo(np.int64).max if max_depth is None else max_depth

    def one(seed: np.uint64) -> tuple[np.ndarray, ...]:
        return grow_tree(
            ranks, values, value_start, data.n_categories, data.y, data.weights(seed), data.n_classes, seed,
            max_features, redraw, purity, min_samples_leaf, deepest, category_order == "proportion",
        )  # fmt: skip

    return join_trees(run(one, [(seed,) for seed in seeds], n_jobs), seeds)


def join_trees(trees: list[tuple[np.ndarray, ...]], seeds: np.ndarray) -> Forest:
    """Put trees (feature, threshold, right, subset, goes_left, counts) behind one another."""
    feature, threshold, right, subset, goes_left, counts = (list(part) for part in zip(*trees, strict=True))
    n_nodes = np.array([len(part) for part in feature])
    tree_start = np.concatenate([[0], np.cumsum(n_nodes)])
    flag_start = np.concatenate([[0], np.cumsum([len(part) for part in goes_left])])
    all_features = np.concatenate(feature)
    is_leaf = all_features < 0
    leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)
    leaf_start = np.concatenate([[0], np.cumsum(is_leaf)])[tree_start]
    all_right, all_subset = np.concatenate(right), np.concatenate(subset)
    return Forest(
        tree_start=tree_start,
        leaf_start=leaf_start,
        feature=all_features,
        threshold=np.concatenate(threshold),
        subset=np.where(all_subset >= 0, all_subset + np.repeat(flag_start[:-1], n_nodes), -1),
        goes_left=np.concatenate(goes_left),
        right=np.where(all_right >= 0, all_right + np.repeat(tree_start[:-1], n_nodes), -1).astype(np.int32),
        leaf=leaf,
        counts=np.concatenate(counts),
        seeds=seeds,
    )


def leaves_of_training_rows(forest: Forest, data: TrainingData, tree: int) -> tuple[np.ndarray, np.ndarray]:
    """The leaf that each training row was grown into, and how often the row counts there (0: not drawn)."""
    seed = forest.seeds[tree]
    first = forest.tree_start[tree]
    return training_leaves(data.X, *forest.splits, first, seed), data.weights(seed)
