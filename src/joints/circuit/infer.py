"""Exact inference in a Generative Forest: marginals of the observed features and the class, one pass for everything.

For each row and tree the reached leaves are listed (`joints.forest.reach`), their densities of the observed features
weighted and summed; missing features integrate to one and drop out.  The same pass gives GeF (per-tree conditionals,
averaged), GeF+ (one mixture of all trees) and Friedman's method (counts of the reached leaves).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from joints.circuit.leaves import Leaves
from joints.circuit.nodes import Scratch, evaluate_circuit, evaluate_quickly, exponentials, scratch_of
from joints.forest.arrays import Forest
from joints.forest.reach import (
    TREES_PER_BLOCK,
    add_frequencies,
    bit_table,
    different_rows,
    look_up_leaves,
    walk_to_leaves,
)
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run


@dataclass(frozen=True)
class Answers:
    """What one pass over the forest says about each row.

    Attributes
    ----------
    average, friedman : float64 of shape (n_rows, n_targets)
        Conditional distribution of the target, averaged over the trees: GeF and Friedman's method.
    log_joint : float64 of shape (n_rows, n_targets)
        log p(observed features, target) under the uniform mixture of the trees: GeF+.
    """

    average: np.ndarray
    friedman: np.ndarray
    log_joint: np.ndarray

    def probabilities(self, combine: str) -> np.ndarray:
        """The conditional distribution of the target: of GeF (``average``) or of GeF+ (``mixture``).

        Where nothing in the training data is like a row, which takes leaves without smoothing, it is that of Friedman's
        method; trees that cannot tell do not count.
        """
        if combine == "average":
            proba = self.average
        else:
            largest = self.log_joint.max(axis=1, keepdims=True)
            proba = np.exp(self.log_joint - np.where(np.isfinite(largest), largest, 0.0))
        total = proba.sum(axis=1, keepdims=True)
        return np.where(total > 0, proba / np.where(total > 0, total, 1.0), self.friedman)


class _Query(NamedTuple):
    """What is asked of a forest.

    Attributes
    ----------
    target : int
        The categorical variable that is asked for; the class comes after the features.
    given_class : float
        The class of all rows, NaN where it is not given.
    n_categories : int64 of shape (n_features + 1,)
        Of the features and, last, the class; 0 for a continuous feature.
    proba : float64 of shape (n_leaves, n_targets)
        The distribution of the target in factorised leaves, zeros in those that are circuits.
    counts : float64 of shape (n_leaves, n_targets)
        Training rows by target.
    edge_weight : float64
        Exponentials of the circuits' log weights.
    """

    target: int
    given_class: float
    n_categories: np.ndarray
    proba: np.ndarray
    counts: np.ndarray
    edge_weight: np.ndarray


class _Sums(NamedTuple):
    """Sums over trees, for each row; `joint` is scaled by exp(`joint_log`) row by row."""

    average: np.ndarray
    friedman: np.ndarray
    joint: np.ndarray
    joint_log: np.ndarray


class _TreeLeaves(NamedTuple):
    """The leaves of one tree, side by side: targets, or parameters, by leaves."""

    first: int
    log_weight: np.ndarray
    proba: np.ndarray
    counts: np.ndarray
    circuit: np.ndarray  # of each leaf, -1 for a factorised one; empty if all are
    columns: np.ndarray  # parameters; empty where they are not worth the copy


class _Scratch(NamedTuple):
    """What the answer about one row and tree is put together in; allocated once for many."""

    room: np.ndarray  # for reaching leaves
    reached: np.ndarray
    observed: np.ndarray  # features
    logs: np.ndarray  # of the reached leaves
    densities: np.ndarray
    density_bits: np.ndarray  # the same seen as integers
    given_leaf: np.ndarray  # the target in each reached leaf that is a circuit, its largest scaled to 1
    sums: np.ndarray  # by target
    with_class: np.ndarray  # a row and its class
    nodes: Scratch


@kernel(inline="always")
def leaf_log_density(x, leaf, observed, n_observed, n_categories, offset, parameters):
    """log-density of the observed features in one leaf, for values inside its cell."""
    s = 0.0
    for j in range(n_observed):
        f = observed[j]
        o = offset[f]
        if n_categories[f]:
            s += parameters[leaf, o + np.int64(x[f])]
        else:
            d = x[f] - parameters[leaf, o]
            s += parameters[leaf, o + 2] + parameters[leaf, o + 1] * d * d
    return s


@kernel(counted=False)
def _leaf_log_densities(x, n, n_observed, n_categories, offset, columns, scratch):
    """The same for n leaves of a tree side by side: `columns` is its parameter table with leaves along rows."""
    reached, logs = scratch.reached, scratch.logs
    logs[:n] = 0.0
    for j in range(n_observed):
        f = scratch.observed[j]
        o = offset[f]
        if n_categories[f]:
            column = columns[o + np.int64(x[f])]
            for i in range(n):
                logs[i] += column[reached[i]]
        else:
            value, mean, h, c = x[f], columns[o], columns[o + 1], columns[o + 2]
            for i in range(n):
                v = reached[i]
                d = value - mean[v]
                logs[i] += c[v] + h[v] * d * d


@kernel(fastmath={"reassoc"}, counted=False)
def _weighted_sum(column, reached, weights, n):
    s = 0.0
    for i in range(n):
        s += weights[i] * column[reached[i]]
    return s


@kernel(inline="always")
def _scratch(forest, first_tree, last_tree, n_features, n_targets, circuits):
    most_leaves, most_nodes = np.int64(0), np.int64(0)
    for tree in range(first_tree, last_tree):
        most_leaves = max(most_leaves, forest.leaf_start[tree + 1] - forest.leaf_start[tree])
    for c in range(len(circuits.node_start) - 1):
        most_nodes = max(most_nodes, circuits.node_start[c + 1] - circuits.node_start[c])
    densities = np.empty(most_leaves)
    return _Scratch(
        np.empty(max(most_leaves, n_features), dtype=np.int64),
        np.empty(most_leaves, dtype=np.int64),
        np.empty(n_features, dtype=np.int64),
        np.empty(most_leaves),
        densities,
        densities.view(np.int64),
        np.empty((most_leaves if most_nodes else 0, n_targets)),
        np.empty(n_targets),
        np.empty(n_features + 1),
        scratch_of(most_nodes, n_targets),
    )


@kernel(inline="always")
def _leaves_of_tree(leaves, query, first, last, side_by_side):
    circuit = leaves.circuits.of_leaf[first:last]
    return _TreeLeaves(
        first,
        leaves.log_weight[first:last],
        query.proba[first:last].T.copy(),
        query.counts[first:last].T.copy(),
        circuit if circuit.max() >= 0 else circuit[:0],
        leaves.parameters[first:last].T.copy() if side_by_side else np.empty((0, 0)),
    )


@kernel(counted=False)
def _observe(x, scratch):
    """List the observed features of a row; returns how many there are."""
    n = 0
    for f in range(len(x)):
        if not np.isnan(x[f]):
            scratch.observed[n] = f
            n += 1
    return n


@kernel(counted=False)
def _log_densities(x, n, n_observed, first_leaf, leaves, n_categories, scratch):
    """log-densities of the observed features in the n reached leaves, as if all were factorised."""
    for j in range(n):
        leaf = first_leaf + scratch.reached[j]
        scratch.logs[j] = leaf_log_density(
            x, leaf, scratch.observed, n_observed, n_categories, leaves.offset, leaves.parameters
        )


@kernel(counted=False)
def _take_root(nodes, in_logs, j, scratch):
    """The j-th reached leaf is a circuit: its log-density with its most likely target, and all targets, scaled."""
    n_targets = scratch.given_leaf.shape[1]
    largest = nodes.value[0, 0]
    for k in range(1, n_targets):
        largest = max(largest, nodes.value[0, k])
    scratch.logs[j] = largest if in_logs else np.log(largest)
    for k in range(n_targets):
        share = nodes.value[0, k]
        if not in_logs:
            share /= largest
        else:
            share = np.exp(share - largest) if largest > -np.inf else 0.0
        scratch.given_leaf[j, k] = share


@kernel(counted=False)
def _weigh(n, tree_leaves, scratch):
    """Add the weights of the reached leaves to their log-densities; returns the largest."""
    largest = -np.inf
    for j in range(n):
        scratch.logs[j] += tree_leaves.log_weight[scratch.reached[j]]
        largest = max(largest, scratch.logs[j])
    return largest


@kernel(counted=False)
def _sum_leaves(n, tree_leaves, scratch):
    """Sum the densities of the reached leaves by target, into ``scratch.sums``."""
    for k in range(len(scratch.sums)):
        scratch.sums[k] = _weighted_sum(tree_leaves.proba[k], scratch.reached, scratch.densities, n)
    if len(tree_leaves.circuit):
        for j in range(n):
            if tree_leaves.circuit[scratch.reached[j]] >= 0:
                for k in range(len(scratch.sums)):
                    scratch.sums[k] += scratch.densities[j] * scratch.given_leaf[j, k]


@kernel(counted=False)
def _add_tree(i, of_tree, log_scale, sums):
    """Add one tree's sums for row i, which are scaled by exp(`log_scale`), to those of all trees."""
    total = of_tree.sum()
    if total > 0.0:
        change = log_scale - sums.joint_log[i]
        scale, share = 1.0, 1.0
        if change > 0.0:
            scale, sums.joint_log[i] = np.exp(-change), log_scale
        else:
            share = np.exp(change)
        for k in range(len(of_tree)):
            sums.average[i, k] += of_tree[k] / total
            sums.joint[i, k] = sums.joint[i, k] * scale + of_tree[k] * share


@kernel
def _answer_trees(rows, query, forest, leaves, first_tree, last_tree, sums):
    """Add the trees `first_tree` up to `last_tree` to the sums."""
    # fields that go to other kernels get a name here: taking them out of a record for each row would count references
    X, n_categories, offset, circuits = rows.X, query.n_categories, leaves.offset, leaves.circuits
    complete, friedman, weight = rows.complete, sums.friedman, query.edge_weight
    scratch = _scratch(forest, first_tree, last_tree, X.shape[1], query.proba.shape[1], circuits)
    room, reached, nodes, of_tree = scratch.room, scratch.reached, scratch.nodes, scratch.sums
    logs, densities, density_bits = scratch.logs, scratch.densities, scratch.density_bits
    with_class = scratch.with_class
    with_class[X.shape[1]] = query.given_class
    for tree in range(first_tree, last_tree):
        table = bit_table(rows.n_incomplete, forest, tree, n_categories)
        first_leaf, last_leaf = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        side_by_side = len(table.bits) > 0
        tree_leaves = _leaves_of_tree(leaves, query, first_leaf, last_leaf, side_by_side)
        columns, counts, circuit = tree_leaves.columns, tree_leaves.counts, tree_leaves.circuit
        for i in range(X.shape[0]):
            x = X[i]
            if side_by_side and not complete[i]:
                n = look_up_leaves(x, table, last_leaf - first_leaf, room, reached)
            else:
                n = walk_to_leaves(x, forest, tree, room, reached)
            n_observed = _observe(x, scratch)
            if side_by_side and n >= 8:
                _leaf_log_densities(x, n, n_observed, n_categories, offset, columns, scratch)
            else:
                _log_densities(x, n, n_observed, first_leaf, leaves, n_categories, scratch)
            if len(circuit):
                with_class[: X.shape[1]] = x
                for j in range(n):
                    c = circuit[reached[j]]
                    if c < 0:
                        continue
                    likely = evaluate_quickly(with_class, query.target, c, circuits, weight, n_categories, nodes)
                    if not likely:
                        evaluate_circuit(with_class, query.target, c, circuits, n_categories, nodes)
                    _take_root(nodes, not likely, j, scratch)
            largest = _weigh(n, tree_leaves, scratch)
            add_frequencies(counts, reached, n, of_tree, friedman, i)
            if largest > -np.inf:
                exponentials(logs, n, largest, densities, density_bits)
                _sum_leaves(n, tree_leaves, scratch)
                _add_tree(i, of_tree, largest, sums)


def answer(
    X: np.ndarray,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    target: int | None = None,
    given_class: int | None = None,
    n_jobs: int | None = None,
) -> Answers:
    """Ask the forest about rows with any features missing.

    `target` is the categorical feature that is asked for, by default the class; its own column must be missing.  With
    `given_class` all rows are taken to be of that class.  Equal rows are asked once.
    """
    rows = different_rows(X)
    circuits = leaves.circuits
    if given_class is not None:
        leaves = leaves.given_class(given_class)
    if target is None:
        proba, counts = leaves.class_proba, forest.leaf_counts
    else:
        o = leaves.offset[target]
        proba = np.exp(leaves.parameters[:, o : o + n_categories[target]])
        counts = np.exp(leaves.log_weight)[:, None] * proba
    if circuits.most_nodes:
        proba = np.where(circuits.of_leaf[:, None] < 0, proba, 0.0)
    query = _Query(
        target=len(n_categories) if target is None else target,
        given_class=np.nan if given_class is None else float(given_class),
        n_categories=np.append(n_categories, forest.counts.shape[1]),
        proba=proba,
        counts=counts,
        edge_weight=np.exp(circuits.log_weight),
    )
    shape = (len(rows.X), proba.shape[1])

    def one(first: int, last: int) -> _Sums:
        sums = _Sums(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.full(len(rows.X), -np.inf))
        _answer_trees(rows, query, forest, leaves, first, last, sums)
        return sums

    parts = run(one, blocks(forest.n_trees, TREES_PER_BLOCK), n_jobs)
    average = sum(part.average for part in parts) / forest.n_trees
    friedman = sum(part.friedman for part in parts) / forest.n_trees
    largest = np.max([part.joint_log for part in parts], axis=0)
    scale = np.where(np.isfinite(largest), largest, 0.0)
    joint = sum(part.joint * np.exp(part.joint_log - scale)[:, None] for part in parts) / forest.n_trees
    with np.errstate(divide="ignore"):
        log_joint = np.log(joint) + largest[:, None]
    return Answers(average[rows.back], friedman[rows.back], log_joint[rows.back])


@kernel
def leaf_log_densities_of_row(x, forest, leaves, n_categories, nodes, out):
    """log(leaf weight x density of the observed features) for every leaf of the forest; -inf for leaves not reached.

    `n_categories` includes the class; `nodes` is scratch space for the circuits, with one column.
    """
    observed, with_class = np.flatnonzero(~np.isnan(x)), np.append(x, np.nan)
    circuits = leaves.circuits
    out[:] = -np.inf
    for tree in range(len(forest.tree_start) - 1):
        first_leaf, last_leaf = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        size = last_leaf - first_leaf
        reached, stack = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        n = walk_to_leaves(x, forest, tree, stack, reached)
        for j in range(n):
            v = first_leaf + reached[j]
            if circuits.of_leaf[v] < 0:
                density = leaf_log_density(
                    x, v, observed, len(observed), n_categories, leaves.offset, leaves.parameters
                )
            else:
                evaluate_circuit(with_class, -1, circuits.of_leaf[v], circuits, n_categories, nodes)
                density = nodes.value[0, 0]
            out[v] = leaves.log_weight[v] + density
