"""The forests of MissForest: each predicts one feature of a table from all others.

However a forest was grown, it is kept as one flat array of nodes, a fraction of the memory of scikit-learn's own trees,
and predicts chosen rows of the table in place: no column has to be cut out, and no tree is a Python object.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from joblib import effective_n_jobs

from joints.impute.classification_tree import MOST_CLASSES, grow_classification_tree
from joints.impute.regression_tree import grow_regression_tree
from joints.impute.trees import MOST_ROWS, GrownTree, RankedTable
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

# Only inner nodes are stored.  A child below LEAF is a node; from LEAF on it is a leaf, numbered across the forest.
NODE = np.dtype([("threshold", np.float32), ("feature", np.uint32), ("left", np.uint32), ("right", np.uint32)])
NODE_BYTES, LEAF_BYTES = NODE.itemsize, np.dtype(np.float64).itemsize
LEFT = 2  # its place in a node, in words of 32 bits
LEAF = np.uint32(1 << 31)
ROWS_PER_TASK = 4096  # enough to walk a tree while it is in the cache
AHEAD = 256  # nodes per row up to which a tree is read from end to end before rows go down
CACHE_LINE = 64  # bytes that are read at once
TREES_PER_TASK = 5
INSTEAD = "use predictor='scikit-learn'"


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
        pieces = blocks(len(rows), min(ROWS_PER_TASK, -(-len(rows) // effective_n_jobs(n_jobs)) or 1))
        run(_add_leaves, [(self.nodes, self.roots, self.leaves, cells[a:b], total[a:b]) for a, b in pieces], n_jobs)
        total /= len(self.roots)
        return total[:, 0] if self.codes is None else self.codes[total.argmax(axis=1)]


@kernel
def _add_leaves(nodes, roots, leaves, cells, total):
    """Add up, over the trees, the values of the leaves that the rows fall into.

    All rows go down a tree together, a step at a time: the processor need not wait for one before it turns to the next.
    Returns a number without a meaning, for whose sake the compiler does not leave out reading ahead.
    """
    n_rows = len(cells)
    words = nodes.view(np.uint32).reshape((len(nodes), 4))
    place, going = np.empty(n_rows, dtype=np.uint32), np.empty(n_rows, dtype=np.uint32)
    seen = 0.0
    for tree, root in enumerate(roots):
        seen += _read_ahead(words, roots, leaves, tree, n_rows)
        n_going = n_rows if root < LEAF else 0
        for i in range(n_rows):
            place[i], going[i] = root, i
        while n_going > 0:
            n_left, n_going = n_going, 0
            for p in range(n_left):
                i = going[p]
                at = place[i]
                on_the_right = cells[i, nodes[at]["feature"]] > nodes[at]["threshold"]
                child = words[at, LEFT + on_the_right]  # read, not chosen: a branch would be a guess
                place[i] = child
                going[n_going] = i
                n_going += child < LEAF
        for i in range(n_rows):
            leaf = place[i] - LEAF
            for k in range(leaves.shape[1]):
                total[i, k] += leaves[leaf, k]
    return seen


@kernel(inline="always")
def _read_ahead(words, roots, leaves, tree, n_rows):
    """Bring a tree into the cache: from end to end that takes a part of the time that rows would wait for its nodes."""
    start = roots[tree]
    end = roots[tree + 1] if tree + 1 < len(roots) else np.uint32(len(words))
    seen = 0.0
    if start < end < LEAF and end - start <= AHEAD * n_rows:
        for node in range(start, end, CACHE_LINE // NODE_BYTES):
            seen += words[node, LEFT]
        if leaves.shape[1] == 1:  # leaves of regression trees are in order, one more than nodes in each tree
            for leaf in range(start + tree, end + tree + 1, CACHE_LINE // LEAF_BYTES):
                seen += leaves[leaf, 0]
    return seen


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
    ranked: RankedTable,
    rows: np.ndarray,
    asked: np.ndarray,
    target: int,
    categorical: bool,
    n_trees: int,
    seed: int,
    n_jobs: int | None,
) -> ColumnForest:
    """Grow to some rows of a complete table what scikit-learn's forest would be, up to features drawn, ties and bins.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
    ranked : RankedTable
        The table's.
    rows : int ndarray
        The rows to learn from.
    asked : int ndarray
        The rows of the table that will be predicted; the forest need not know about others.  None of them: any rows.
    target : int
    categorical : bool
        Whether the target is.
    n_trees, seed, n_jobs : int
    """
    if len(rows) > MOST_ROWS:
        raise ValueError(f"compiled forests learn from {MOST_ROWS} rows at most, not {len(rows)}: {INSTEAD}")
    seeds = scikit_learn_seeds(seed, n_trees)
    codes: np.ndarray | None = None
    if categorical:
        codes, classes = np.unique(table[:, target], return_inverse=True)
        if len(codes) > MOST_CLASSES:
            raise ValueError(f"compiled forests predict {MOST_CLASSES} categories at most, not {len(codes)}: {INSTEAD}")
        n_tried = max(1, int(np.sqrt(table.shape[1] - 1)))
    else:
        y = np.ascontiguousarray(table[:, target])

    def grow(seeds: list[int]) -> list[GrownTree]:
        random_state = np.random.RandomState(0)
        trees = []
        for seed in seeds:
            counts = np.zeros(len(table), dtype=np.int64)
            counts[rows] = bootstrap_counts(random_state, seed, len(rows))
            if codes is not None:
                trees.append(grow_classification_tree(ranked, target, classes, len(codes), counts, n_tried, seed))
            else:
                trees.append(grow_regression_tree(ranked, target, y, counts, asked, seed))
        return trees

    pieces = [(seeds[a:b],) for a, b in blocks(n_trees, TREES_PER_TASK)]
    return _flat(chain.from_iterable(run(grow, pieces, n_jobs)), codes)


def scikit_learn_seeds(seed: int, n_trees: int) -> list[int]:
    """The seeds that scikit-learn's forests give their trees, hence drawn as it draws them: by a `RandomState`."""
    random_state = np.random.RandomState(seed)
    return [random_state.randint(np.iinfo(np.int32).max) for _ in range(n_trees)]


def bootstrap_counts(random_state: np.random.RandomState, tree_seed: int, n_rows: int) -> np.ndarray:
    """How often scikit-learn's bootstrap sample of a tree has each row; int64 of shape (n_rows,).

    The sample is the one that scikit-learn draws for the seed, and it draws from a `RandomState`, too.  Giving one a
    seed takes a hundredth of the time that making a new one takes.
    """
    random_state.seed(tree_seed)
    return np.bincount(random_state.randint(0, n_rows, n_rows, dtype=np.int32), minlength=n_rows)


def _flat(trees: Iterable[GrownTree], codes: np.ndarray | None) -> ColumnForest:
    """Put trees one after the other, and inner nodes apart from leaves."""
    # Most leaves of classification trees are pure: one leaf per class is enough for all of them.
    leaves = [np.empty((0, 1)) if codes is None else np.eye(len(codes))]
    nodes, roots = [], []
    n_nodes, n_leaves = 0, len(leaves[0])
    for tree in trees:
        inner, own, root = _split_nodes(tree, n_nodes, n_leaves, codes is not None)
        nodes.append(inner)
        roots.append(root)
        leaves.append(own)
        n_nodes += len(inner)
        n_leaves += len(own)
    return ColumnForest(np.concatenate(nodes), np.array(roots, dtype=np.uint32), np.concatenate(leaves), codes)


@kernel
def _split_nodes(tree, n_nodes, n_leaves, share_pure):
    """The inner nodes of a tree, the values of its leaves, and its root, behind so many nodes and leaves of others."""
    feature, threshold, right, value = tree
    reference = np.empty(len(feature), dtype=np.uint32)
    leaves = np.empty_like(value)
    n_inner = n_own = 0
    for i in range(len(feature)):
        if feature[i] >= 0:
            reference[i] = n_nodes + n_inner
            n_inner += 1
        elif share_pure and value[i].max() == 1.0:
            reference[i] = LEAF + np.uint32(value[i].argmax())
        else:
            reference[i] = LEAF + np.uint32(n_leaves + n_own)
            leaves[n_own] = value[i]
            n_own += 1
    nodes = np.empty(n_inner, dtype=NODE)
    for i in range(len(feature)):
        if feature[i] >= 0:
            node = nodes[reference[i] - n_nodes]
            node["threshold"] = _rounded_down(threshold[i])
            node["feature"] = feature[i]
            node["left"] = reference[i + 1]
            node["right"] = reference[right[i]]
    return nodes, leaves[:n_own].copy(), reference[0]


@kernel(inline="always")
def _rounded_down(number):
    """The largest float32 not above a number: float32 values compare with it as they do with the number itself."""
    rounded = np.float32(number)
    return np.nextafter(rounded, np.float32(-np.inf)) if rounded > number else rounded
