"""The forests of MissForest: each predicts one feature of a table from all others.

However a forest was grown, it is kept as one flat array of nodes, a fraction of the memory of scikit-learn's own trees,
and predicts chosen rows of the table in place: no column has to be cut out, and no tree is a Python object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from joints.impute.classification_tree import grow_classification_tree
from joints.impute.regression_tree import grow_regression_tree
from joints.impute.trees import GrownTree, SortedTable
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

# Only inner nodes are stored.  A child below LEAF is a node; from LEAF on it is a leaf, numbered across the forest.
NODE = np.dtype([("threshold", np.float32), ("feature", np.uint32), ("left", np.uint32), ("right", np.uint32)])
LEAF = np.uint32(1 << 31)
ROWS_PER_TASK = 256  # enough to walk a tree while it is in the cache


@dataclass(frozen=True)
class ColumnForest:
    """A forest that predicts one feature of a table.

    Attributes
    ----------
    nodes : NODE ndarray of shape (n_nodes,)
        The inner nodes of all trees, one tree after the other; features are columns of the whole table.
    roots : uint32 ndarray of shape (n_trees,)
        Where each tree starts: a node, or a leaf, as in `nodes`.
    leaves : float64 ndarray of shape (n_leaves, n_outputs)
        The mean of a continuous target, or the class frequencies of a categorical one.
    codes : float64 ndarray of shape (n_outputs,), or None
        The category codes of the outputs; None for a continuous target.
    """

    nodes: np.ndarray
    roots: np.ndarray
    leaves: np.ndarray
    codes: np.ndarray | None

    def predict(self, table: np.ndarray, rows: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Predict the feature for some rows of a table; float64 of shape (len(rows),)."""
        cells = table[rows].astype(np.float32)
        total = np.zeros((len(rows), self.leaves.shape[1]))
        pieces = blocks(len(rows), ROWS_PER_TASK)
        run(_add_leaves, [(self.nodes, self.roots, self.leaves, cells[a:b], total[a:b]) for a, b in pieces], n_jobs)
        total /= len(self.roots)
        return total[:, 0] if self.codes is None else self.codes[total.argmax(axis=1)]


@kernel(inline="always")
def _child(nodes, cells, row, at):
    node = nodes[at]
    return node["left"] if cells[row, node["feature"]] <= node["threshold"] else node["right"]


@kernel
def _add_leaves(nodes, roots, leaves, cells, total):
    """Add up, over the trees, the values of the leaves that the rows fall into."""
    n_rows = len(cells)
    lanes = np.empty(4, dtype=np.uint32)
    for root in roots:
        # Four rows go down side by side, so that the processor waits for four nodes at once and not for one.
        for i in range(0, n_rows, 4):
            i1, i2, i3 = min(i + 1, n_rows - 1), min(i + 2, n_rows - 1), min(i + 3, n_rows - 1)
            a = b = c = d = root
            while (a < LEAF) & (b < LEAF) & (c < LEAF) & (d < LEAF):
                a = _child(nodes, cells, i, a)
                b = _child(nodes, cells, i1, b)
                c = _child(nodes, cells, i2, c)
                d = _child(nodes, cells, i3, d)
            while a < LEAF:
                a = _child(nodes, cells, i, a)
            while b < LEAF:
                b = _child(nodes, cells, i1, b)
            while c < LEAF:
                c = _child(nodes, cells, i2, c)
            while d < LEAF:
                d = _child(nodes, cells, i3, d)
            lanes[0], lanes[1], lanes[2], lanes[3] = a, b, c, d
            for lane in range(min(4, n_rows - i)):
                leaf = lanes[lane] - LEAF
                for k in range(leaves.shape[1]):
                    total[i + lane, k] += leaves[leaf, k]


def grow_with_scikit_learn(
    table: np.ndarray, target: int, categorical: bool, n_trees: int, seed: int, n_jobs: int | None
) -> ColumnForest:
    """Fit scikit-learn's forest with its default settings to a complete table."""
    # imported here: the compiled forests do without, and a job of the study starts sooner
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    estimator = RandomForestClassifier if categorical else RandomForestRegressor
    forest = estimator(n_trees, random_state=seed, n_jobs=n_jobs)
    forest.fit(np.delete(table, target, axis=1), table[:, target])
    trees = []
    for tree in forest.estimators_:
        flat = tree.tree_
        feature = np.where(flat.children_left < 0, -1, flat.feature + (flat.feature >= target))
        trees.append(GrownTree(feature, flat.threshold, flat.children_right, flat.value[:, 0, :]))
    return _flat(trees, np.asarray(forest.classes_, dtype=np.float64) if categorical else None)


def grow_compiled(
    table: np.ndarray,
    rows: SortedTable,
    target: int,
    categorical: bool,
    n_trees: int,
    seed: int,
    n_jobs: int | None,
) -> ColumnForest:
    """Grow to a complete table, sorted, what scikit-learn's forest would be, up to features drawn and ties."""
    n_rows, n_features = table.shape
    seeds = scikit_learn_seeds(seed, n_trees)
    if categorical:
        codes, classes = np.unique(table[:, target], return_inverse=True)
        n_tried = max(1, int(np.sqrt(n_features - 1)))

        def grow(seed: int) -> GrownTree:
            counts = bootstrap_counts(seed, n_rows)
            return grow_classification_tree(rows, target, classes, len(codes), counts, n_tried, seed)

    else:
        codes, y = None, np.ascontiguousarray(table[:, target])

        def grow(seed: int) -> GrownTree:
            return grow_regression_tree(rows, target, y, bootstrap_counts(seed, n_rows), seed)

    return _flat(run(grow, [(seed,) for seed in seeds], n_jobs), codes)


def scikit_learn_seeds(seed: int, n_trees: int) -> list[int]:
    """The seeds that scikit-learn's forests give their trees, hence drawn as it draws them: by a `RandomState`."""
    random_state = np.random.RandomState(seed)
    return [random_state.randint(np.iinfo(np.int32).max) for _ in range(n_trees)]


def bootstrap_counts(tree_seed: int, n_rows: int) -> np.ndarray:
    """How often scikit-learn's bootstrap sample of a tree has each row; int64 of shape (n_rows,).

    A `RandomState` again, so that the sample is the one that scikit-learn draws for the seed.
    """
    drawn = np.random.RandomState(tree_seed).randint(0, n_rows, n_rows, dtype=np.int32)
    return np.bincount(drawn, minlength=n_rows)


def _flat(trees: Sequence[GrownTree], codes: np.ndarray | None) -> ColumnForest:
    """Put trees one after the other, and inner nodes apart from leaves."""
    n_outputs = trees[0].value.shape[1]
    # Most leaves of classification trees are pure: one leaf per class is enough for all of them.
    leaves = [] if codes is None else [np.eye(n_outputs)]
    nodes, roots = [], []
    n_nodes, n_leaves = 0, 0 if codes is None else n_outputs
    for feature, threshold, right, value in trees:
        inner = np.flatnonzero(feature >= 0)
        pure = (feature < 0) & (codes is not None) & (value.max(axis=1) == 1.0)
        own = (feature < 0) & ~pure
        references = np.empty(len(feature), dtype=np.uint32)
        references[inner] = n_nodes + np.arange(len(inner))
        references[pure] = LEAF + value[pure].argmax(axis=1)
        references[own] = LEAF + n_leaves + np.arange(own.sum())
        tree = np.empty(len(inner), dtype=NODE)
        tree["threshold"] = _round_down(threshold[inner])
        tree["feature"] = feature[inner]
        tree["left"] = references[inner + 1]
        tree["right"] = references[right[inner]]
        nodes.append(tree)
        roots.append(references[0])
        leaves.append(value[own])
        n_nodes += len(inner)
        n_leaves += own.sum()
    return ColumnForest(np.concatenate(nodes), np.array(roots), np.concatenate(leaves), codes)


def _round_down(threshold: np.ndarray) -> np.ndarray:
    """The largest float32 not above a number: float32 values compare with it as they do with the number itself."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
