"""A forest is a handful of flat arrays: one array per node property, trees as ranges in them.

Nodes of a tree are in preorder, so the left child of node v is v + 1 and the leaves of a subtree are neighbours.  The
records here are what kernels take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.forest.grow import GrowthSettings, Ranked, Tree, bootstrap_weights, grow_tree
from joints.forest.route import training_leaves
from joints.forest.splits import MISSING
from joints.numerics.threads import run

UNWEIGHTED = np.empty(0, dtype=np.int64)
MOST_WEIGHT = 0xFFFF  # a row's weight has 16 bits while trees are grown
MOST_DRAWS = 16  # of one row into a bootstrap sample; more has a probability of 1e-14 per row
MOST_NODES = np.iinfo(np.int32).max  # nodes refer to each other by 32-bit numbers


class Forest(NamedTuple):
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
        One flag per category for every split of categories.
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


class TrainingData(NamedTuple):
    """Encoded training rows: what growing and everything after it reads."""

    X: np.ndarray  # float64 (n_rows, n_features), NaN = missing
    y: np.ndarray  # int64 (n_rows,)
    n_classes: int
    n_categories: np.ndarray  # int64 (n_features,), 0 = continuous
    bootstrap: bool
    row_weight: np.ndarray = UNWEIGHTED  # int64 (n_rows,) in multiples of `unit`; empty where all rows count once
    unit: float = 1.0

    def ranked(self) -> Ranked:
        """The values as ranks."""
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
        return Ranked(ranks, np.concatenate(distinct), start)

    def class_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows sorted by class, and where each class begins among them."""
        return np.argsort(self.y, kind="stable"), np.searchsorted(np.sort(self.y), np.arange(self.n_classes + 1))

    def weights(self, seed: np.uint64) -> np.ndarray:
        """How often each row counts in the tree with this seed, in multiples of `unit`; int64 of shape (n_rows,)."""
        weights = np.ones(len(self.y), dtype=np.int64)
        if self.bootstrap:
            bootstrap_weights(seed, *self.class_rows(), weights)
        return weights * self.row_weight if len(self.row_weight) else weights

    def weighted(self, weight: np.ndarray | None) -> TrainingData:
        """The same rows with these weights; float64 of shape (n_rows,) or None.

        Whole numbers up to 4095 are kept as they are.  Others are scaled to a mean of one, so that only their ratios
        matter, and rounded to multiples of a 4095th of the largest (65535 and a 65535th without bootstrap samples).
        """
        if weight is None or (weight == 1.0).all():
            return self
        most = MOST_WEIGHT // MOST_DRAWS if self.bootstrap else MOST_WEIGHT
        whole = np.array_equal(weight, np.round(weight)) and weight.max() <= most
        weight = weight if whole else weight / weight.mean()
        unit = 1.0 if whole else float(weight.max() / most)
        return self._replace(row_weight=np.round(weight / unit).astype(np.int64), unit=unit)

    def same_rows(self, other: TrainingData) -> bool:
        """Whether both are the same rows with the same weights."""
        return self.unit == other.unit and all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(self[:2] + (self.row_weight,), other[:2] + (other.row_weight,), strict=True)
        )


def grow_forest(
    data: TrainingData,
    seeds: np.ndarray,
    *,
    max_features: int,
    redraw: bool = False,
    purity: float = 0.99,
    min_samples_leaf: int = 1,
    max_depth: int | None = None,
    category_order: str = "proportion",
    n_jobs: int | None = None,
) -> Forest:
    """Grow one tree per seed; see `joints.ForestClassifier` for the settings."""
    ranked = data.ranked()
    settings = GrowthSettings(
        max_features=int(max_features),
        redraw=bool(redraw),
        purity=float(purity),
        min_rows=max(1, int(np.ceil(min_samples_leaf / data.unit))),
        max_depth=np.iinfo(np.int64).max if max_depth is None else int(max_depth),
        by_proportion=category_order == "proportion",
    )

    def one(seed: np.uint64) -> Tree:
        return grow_tree(data, ranked, data.weights(seed), seed, settings)

    forest = join_trees(run(one, [(seed,) for seed in seeds], n_jobs), seeds)
    return forest if data.unit == 1.0 else forest._replace(counts=forest.counts * data.unit)


def join_trees(trees: list[Tree], seeds: np.ndarray) -> Forest:
    """Put trees one after another."""
    n_nodes = np.array([len(tree.feature) for tree in trees])
    if n_nodes.sum() > MOST_NODES:
        raise ValueError(
            f"The forest has {n_nodes.sum()} nodes, but at most {MOST_NODES} can be numbered: grow fewer or smaller "
            "trees (n_estimators, max_depth, min_samples_leaf)."
        )
    tree_start = np.concatenate([[0], np.cumsum(n_nodes)])
    flag_start = np.concatenate([[0], np.cumsum([len(tree.goes_left) for tree in trees])])
    all_of = Tree(*(np.concatenate(part) for part in zip(*trees, strict=True)))
    is_leaf = all_of.feature < 0
    return Forest(
        tree_start=tree_start,
        leaf_start=np.concatenate([[0], np.cumsum(is_leaf)])[tree_start],
        feature=all_of.feature,
        threshold=all_of.threshold,
        subset=np.where(all_of.subset >= 0, all_of.subset + np.repeat(flag_start[:-1], n_nodes), -1),
        goes_left=all_of.goes_left,
        right=np.where(all_of.right >= 0, all_of.right + np.repeat(tree_start[:-1], n_nodes), -1).astype(np.int32),
        leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
        counts=all_of.counts,
        seeds=seeds,
    )


def append_trees(forest: Forest, more: Forest) -> Forest:
    """The trees of two forests, those of the second after those of the first."""
    return Forest(
        tree_start=np.append(forest.tree_start, more.tree_start[1:] + forest.tree_start[-1]),
        leaf_start=np.append(forest.leaf_start, more.leaf_start[1:] + forest.leaf_start[-1]),
        feature=np.append(forest.feature, more.feature),
        threshold=np.append(forest.threshold, more.threshold),
        subset=np.append(forest.subset, np.where(more.subset >= 0, more.subset + len(forest.goes_left), -1)),
        goes_left=np.append(forest.goes_left, more.goes_left),
        right=_behind(forest.right, more.right, int(forest.tree_start[-1])),
        leaf=_behind(forest.leaf, more.leaf, forest.n_leaves),
        counts=np.concatenate([forest.counts, more.counts]),
        seeds=np.append(forest.seeds, more.seeds),
    )


def _behind(first: np.ndarray, more: np.ndarray, shift: int) -> np.ndarray:
    return np.append(first, np.where(more >= 0, more + shift, -1)).astype(np.int32)


def whole_weights(weights: np.ndarray) -> np.ndarray:
    """Weights as whole numbers whose sums, up to any row, are off by half at most; int64."""
    return np.diff(np.round(np.cumsum(weights)), prepend=0.0).astype(np.int64)


def leaves_of_training_rows(forest: Forest, data: TrainingData, tree: int) -> tuple[np.ndarray, np.ndarray]:
    """The leaf that each training row was grown into, and how often the row counts there (0: not drawn).

    Weights are in multiples of ``data.unit``.
    """
    return training_leaves(data.X, forest, tree), data.weights(forest.seeds[tree])
