"""The forests of MissForest: each predicts one feature of a table from all others.

However a forest was grown, it is kept as one flat array of nodes, a sixth of the memory of scikit-learn's own trees,
and predicts chosen rows of the table in place: no column has to be cut out, and no tree is a Python object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from joints.impute.growing import SortedTable, grow_regression_tree
from joints.threads import blocks, run

# The left child is the next node.  A leaf has feature -1, and `right` is its row of the leaf values.
NODE = np.dtype([("threshold", np.float32), ("feature", np.int32), ("right", np.int32)])
ROWS_PER_TASK = 64


@dataclass(frozen=True)
class ColumnForest:
    """A forest that predicts one feature of a table.

    Attributes
    ----------
    nodes : NODE ndarray of shape (n_nodes,)
        All trees one after the other, each in depth-first order; features are columns of the whole table.
    roots : int64 ndarray of shape (n_trees,)
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
        total = np.zeros((len(rows), self.leaves.shape[1]))
        pieces = blocks(len(rows), ROWS_PER_TASK)
        run(
            _add_leaves,
            [(self.nodes, self.roots, self.leaves, table, rows[a:b], total[a:b]) for a, b in pieces],
            n_jobs,
        )
        total /= len(self.roots)
        return total[:, 0] if self.codes is None else self.codes[total.argmax(axis=1)]


@njit(cache=True, nogil=True)
def _add_leaves(nodes, roots, leaves, table, rows, total):
    """Add up, over the trees, the values of the leaves that the rows fall into."""
    for root in roots:
        for i in range(len(rows)):
            row = table[rows[i]]
            node = root
            while nodes[node].feature >= 0:
                if np.float32(row[nodes[node].feature]) <= nodes[node].threshold:
                    node += 1
                else:
                    node = nodes[node].right
            leaf = nodes[node].right
            for k in range(leaves.shape[1]):
                total[i, k] += leaves[leaf, k]


def grow_with_scikit_learn(
    table: np.ndarray, target: int, categorical: bool, n_trees: int, seed: int, n_jobs: int | None
) -> ColumnForest:
    """Fit scikit-learn's forest with its default settings to a complete table."""
    estimator = RandomForestClassifier if categorical else RandomForestRegressor
    forest = estimator(n_trees, random_state=seed, n_jobs=n_jobs)
    forest.fit(np.delete(table, target, axis=1), table[:, target])
    trees = []
    for tree in forest.estimators_:
        flat = tree.tree_
        feature = np.where(flat.children_left < 0, -1, flat.feature + (flat.feature >= target))
        trees.append((feature, flat.threshold, flat.children_right, flat.value[:, 0, :]))
    return _flat(trees, np.asarray(forest.classes_, dtype=np.float64) if categorical else None)


def grow_regression_forest(
    rows: SortedTable, target: int, y: np.ndarray, n_trees: int, seed: int, n_jobs: int | None
) -> ColumnForest:
    """Grow what `RandomForestRegressor(n_trees, random_state=seed)` would, up to ties between features."""
    trees = run(
        lambda tree_seed: grow_regression_tree(
            rows.order, rows.rank, rows.levels, target, y, bootstrap_counts(tree_seed, len(y)), tree_seed
        ),
        [(tree_seed,) for tree_seed in tree_seeds(seed, n_trees)],
        n_jobs,
    )
    return _flat([(feature, threshold, right, value[:, None]) for feature, threshold, right, value in trees], None)


def tree_seeds(seed: int, n_trees: int) -> list[int]:
    """The seeds that scikit-learn's forests give their trees."""
    random_state = np.random.RandomState(seed)
    return [random_state.randint(np.iinfo(np.int32).max) for _ in range(n_trees)]


def bootstrap_counts(tree_seed: int, n_rows: int) -> np.ndarray:
    """How often scikit-learn's bootstrap sample of a tree has each row; int64 of shape (n_rows,)."""
    drawn = np.random.RandomState(tree_seed).randint(0, n_rows, n_rows, dtype=np.int32)
    return np.bincount(drawn, minlength=n_rows)


def _flat(trees: Sequence[tuple[np.ndarray, ...]], codes: np.ndarray | None) -> ColumnForest:
    """Put trees (feature, threshold, right, value; -1 as feature of a leaf) one after the other."""
    sizes = [len(feature) for feature, *_ in trees]
    nodes = np.empty(sum(sizes), dtype=NODE)
    roots = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
    leaves = []
    n_leaves = 0
    for root, size, (feature, threshold, right, value) in zip(roots, sizes, trees, strict=True):
        leaf = feature < 0
        values = value[leaf]
        part = nodes[root : root + size]
        part["feature"] = feature
        part["threshold"] = _round_down(threshold)
        part["right"] = right + root
        part["right"][leaf] = n_leaves + np.arange(len(values))
        leaves.append(values)
        n_leaves += len(values)
    return ColumnForest(nodes, roots, np.ascontiguousarray(np.concatenate(leaves)), codes)


def _round_down(threshold: np.ndarray) -> np.ndarray:
    """The largest float32 not above a number: float32 values compare with it as they do with the number itself."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
