"""Exact inference in a Generative Forest: marginals of the observed features and the class, one pass for everything.

For each row and tree the reached leaves are listed (`joints.forest.reach`), their densities of the observed features
weighted and summed; missing features integrate to one and drop out.  The same pass gives GeF (per-tree conditionals,
averaged), GeF+ (one mixture of all trees) and Friedman's method (counts of the reached leaves).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from joints.circuit.leaves import Leaves
from joints.circuit.nodes import evaluate_circuit, evaluate_quickly, exponentials
from joints.forest.arrays import Forest
from joints.forest.reach import TREES_PER_BLOCK, bit_table, different_rows, reach_leaves, walk_to_leaves
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


@kernel
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


@kernel
def _leaf_log_densities(x, reached, n, observed, n_observed, n_categories, offset, columns, logs):
    """The same for many leaves of a tree side by side: `columns` is its parameter table with leaves along rows."""
    logs[:n] = 0.0
    for j in range(n_observed):
        f = observed[j]
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


@kernel(fastmath={"reassoc"})
def _weighted_sum(column, reached, weights, n):
    s = 0.0
    for i in range(n):
        s += weights[i] * column[reached[i]]
    return s


@kernel(fastmath={"reassoc"})
def _sum(column, reached, n):
    s = 0.0
    for i in range(n):
        s += column[reached[i]]
    return s


@kernel
def _answer_trees(
    X, complete, n_incomplete, first_tree, last_tree,
    tree_start, leaf_start, feature, threshold, subset, goes_left, right, leaf, n_categories,
    offset, parameters, log_weight, target, counts,
    of_leaf, node_start, parent, is_sum, edge_log_weight, variable_start, factor_node, factor_offset, factors,
    edge_weight, most_nodes, target_variable, given_class,
    average, friedman, joint, joint_log,
):  # fmt: skip
    """Add the trees `first_tree` up to `last_tree` to the sums; `joint` is scaled by exp(`joint_log`) row by row.

    `target` has the distribution of the target in factorised leaves and zeros in those that are circuits;
    `n_categories` includes the class, as the last variable.
    """
    n_rows, n_features = X.shape
    n_targets = target.shape[1]
    observed = np.empty(n_features, dtype=np.int64)
    vectors = np.empty(n_features, dtype=np.int64)
    sums = np.empty(n_targets)
    with_class = np.empty(n_features + 1)
    with_class[n_features] = np.nan if given_class < 0 else given_class
    top, value = np.empty((most_nodes, n_targets)), np.empty((most_nodes, n_targets))
    node_logs, node_values = np.empty(most_nodes), np.empty(most_nodes)
    node_bits = node_values.view(np.int64)
    with_target = np.empty(most_nodes, dtype=np.bool_)
    for tree in range(first_tree, last_tree):
        first, last = tree_start[tree], tree_start[tree + 1]
        first_leaf, last_leaf = leaf_start[tree], leaf_start[tree + 1]
        n_leaves = last_leaf - first_leaf
        tree_log_weight = log_weight[first_leaf:last_leaf]
        tree_target, tree_counts = target[first_leaf:last_leaf].T.copy(), counts[first_leaf:last_leaf].T.copy()
        reached = np.empty(n_leaves, dtype=np.int64)
        logs, densities = np.empty(n_leaves), np.empty(n_leaves)
        density_bits = densities.view(np.int64)
        stack = np.empty(n_leaves, dtype=np.int64)
        of_tree_leaf = of_leaf[first_leaf:last_leaf]
        has_circuits = most_nodes > 0 and of_tree_leaf.max() >= 0
        given_leaf = np.empty((n_leaves if has_circuits else 0, n_targets))
        bits, vector_start, cuts, cut_start = bit_table(
            n_incomplete, feature, threshold, subset, goes_left, right, leaf, n_categories, first, last, n_leaves
        )
        side_by_side = len(bits) > 0
        columns = parameters[first_leaf:last_leaf].T.copy() if side_by_side else np.empty((0, 0))
        for i in range(n_rows):
            x = X[i]
            n = reach_leaves(
                x, complete[i], bits, vector_start, cuts, cut_start, n_categories, n_leaves, vectors,
                feature, threshold, subset, goes_left, right, leaf, first, first_leaf, stack, reached,
            )  # fmt: skip
            n_observed = 0
            for f in range(n_features):
                if not np.isnan(x[f]):
                    observed[n_observed] = f
                    n_observed += 1
            if side_by_side and n >= 8:
                _leaf_log_densities(x, reached, n, observed, n_observed, n_categories, offset, columns, logs)
            else:
                for j in range(n):
                    logs[j] = leaf_log_density(
                        x, first_leaf + reached[j], observed, n_observed, n_categories, offset, parameters
                    )
            if has_circuits:
                with_class[:n_features] = x
                for j in range(n):
                    c = of_tree_leaf[reached[j]]
                    if c < 0:
                        continue
                    first_node, last_node = node_start[c], node_start[c + 1]
                    likely = evaluate_quickly(
                        with_class, target_variable, n_targets, c, first_node, last_node, parent, is_sum, edge_weight,
                        variable_start, factor_node, factor_offset, factors, n_categories,
                        value, node_logs, node_values, node_bits, with_target,
                    )  # fmt: skip
                    if likely:
                        largest = value[0].max()
                        logs[j] = np.log(largest)
                        for k in range(n_targets):
                            given_leaf[j, k] = value[0, k] / largest
                        continue
                    evaluate_circuit(
                        with_class, target_variable, n_targets, c, first_node, last_node, parent, is_sum,
                        edge_log_weight, variable_start, factor_node, factor_offset, factors, n_categories,
                        top, value, with_target,
                    )  # fmt: skip
                    logs[j] = value[0].max()
                    for k in range(n_targets):
                        given_leaf[j, k] = np.exp(value[0, k] - logs[j]) if logs[j] > -np.inf else 0.0
            largest = -np.inf
            for j in range(n):
                logs[j] += tree_log_weight[reached[j]]
                largest = max(largest, logs[j])
            friedman_total = 0.0
            for k in range(n_targets):
                sums[k] = _sum(tree_counts[k], reached, n)
                friedman_total += sums[k]
            if friedman_total > 0.0:
                for k in range(n_targets):
                    friedman[i, k] += sums[k] / friedman_total
            if largest == -np.inf:
                continue
            exponentials(logs, n, largest, densities, density_bits)
            for k in range(n_targets):
                sums[k] = _weighted_sum(tree_target[k], reached, densities, n)
            if has_circuits:
                for j in range(n):
                    if of_tree_leaf[reached[j]] >= 0:
                        for k in range(n_targets):
                            sums[k] += densities[j] * given_leaf[j, k]
            total = sums.sum()
            if total > 0.0:
                change = largest - joint_log[i]
                scale, share = 1.0, 1.0
                if change > 0.0:
                    scale, joint_log[i] = np.exp(-change), largest
                else:
                    share = np.exp(change)
                for k in range(n_targets):
                    average[i, k] += sums[k] / total
                    joint[i, k] = joint[i, k] * scale + sums[k] * share


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
    n_features, circuits = len(n_categories), leaves.circuits
    if given_class is not None:
        leaves = leaves.given_class(given_class)
    if target is None:
        distribution, counts = leaves.class_proba, forest.leaf_counts
    else:
        o = leaves.offset[target]
        distribution = np.exp(leaves.parameters[:, o : o + n_categories[target]])
        counts = np.exp(leaves.log_weight)[:, None] * distribution
    if circuits.most_nodes:
        distribution = np.where(circuits.of_leaf[:, None] < 0, distribution, 0.0)
    with_class = np.append(n_categories, forest.counts.shape[1])
    shape = (len(rows.X), distribution.shape[1])

    def one(first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        sums = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.full(len(rows.X), -np.inf)
        _answer_trees(
            rows.X, rows.complete, rows.n_incomplete, first, last, forest.tree_start, forest.leaf_start, *forest.splits,
            with_class, leaves.offset, leaves.parameters, leaves.log_weight, distribution, counts,
            *circuits.arrays, np.exp(circuits.log_weight), circuits.most_nodes,
            n_features if target is None else target, -1 if given_class is None else given_class, *sums,
        )  # fmt: skip
        return sums

    parts = run(one, blocks(forest.n_trees, TREES_PER_BLOCK), n_jobs)
    average, friedman = (sum(part[i] for part in parts) / forest.n_trees for i in (0, 1))
    log_parts = [part[3] for part in parts]
    largest = np.max(log_parts, axis=0)
    scale = np.where(np.isfinite(largest), largest, 0.0)
    joint = sum(part[2] * np.exp(part[3] - scale)[:, None] for part in parts) / forest.n_trees
    with np.errstate(divide="ignore"):
        log_joint = np.log(joint) + largest[:, None]
    return Answers(average[rows.back], friedman[rows.back], log_joint[rows.back])


@kernel
def leaf_log_densities_of_row(
    x, tree_start, leaf_start, feature, threshold, subset, goes_left, right, leaf, n_categories,
    offset, parameters, log_weight,
    of_leaf, node_start, parent, is_sum, edge_log_weight, variable_start, factor_node, factor_offset, factors,
    most_nodes, out,
):  # fmt: skip
    """log(leaf weight x density of the observed features) for every leaf of the forest; -inf for leaves not reached."""
    observed = np.flatnonzero(~np.isnan(x))
    with_class = np.append(x, np.nan)
    top, value = np.empty((most_nodes, 1)), np.empty((most_nodes, 1))
    with_target = np.empty(most_nodes, dtype=np.bool_)
    out[:] = -np.inf
    for tree in range(len(tree_start) - 1):
        n_leaves = leaf_start[tree + 1] - leaf_start[tree]
        reached, stack = np.empty(n_leaves, dtype=np.int64), np.empty(n_leaves, dtype=np.int64)
        n = walk_to_leaves(
            x, feature, threshold, subset, goes_left, right, leaf, tree_start[tree], leaf_start[tree], stack, reached
        )
        for j in range(n):
            v = leaf_start[tree] + reached[j]
            if of_leaf[v] < 0:
                density = leaf_log_density(x, v, observed, len(observed), n_categories, offset, parameters)
            else:
                c = of_leaf[v]
                evaluate_circuit(
                    with_class, -1, 1, c, node_start[c], node_start[c + 1], parent, is_sum, edge_log_weight,
                    variable_start, factor_node, factor_offset, factors, n_categories, top, value, with_target,
                )  # fmt: skip
                density = value[0, 0]
            out[v] = log_weight[v] + density
