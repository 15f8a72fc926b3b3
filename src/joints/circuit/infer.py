"""Exact inference in a Generative Forest: marginals of the observed features and the class, one pass for everything.

For each row and tree the reached leaves are listed (`joints.forest.reach`), their densities of the observed features
weighted and summed; missing features integrate to one and drop out.  The same pass gives GeF (per-tree conditionals,
averaged), GeF+ (one mixture of all trees) and Friedman's method (counts of the reached leaves).  It is exact for the
densities that the leaves have; those of LearnSPN that are not cut to the cell (``truncate=False``) do not integrate to
one over it, so there a sum over the reached leaves is not quite the marginal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from joints.circuit.batches import Batch, Visits, batch_of, visit_circuits, visits_of
from joints.circuit.leaves import Leaves
from joints.circuit.nodes import Scratch, above_variable, evaluate_circuit, exponentials, scratch_of
from joints.forest.arrays import Forest
from joints.forest.reach import (
    TREES_PER_BLOCK,
    Rows,
    add_frequencies,
    bit_table,
    look_up_leaves,
    row_blocks,
    walk_to_leaves,
)
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

Way = str | float  # "average", "mixture", or a number in between; see `joints.GenerativeForestClassifier`
Combine = Way | tuple[Way, Way]  # the same for all rows, or one for incomplete and one for complete rows

LOWEST_LOG = -1e300  # stands for the logarithm of zero where it is multiplied
RELIABLE = 60.0  # sums of plain numbers, scaled by the largest, are exact this far below it in logarithms


@dataclass(frozen=True)
class Answers:
    """What one pass over the forest says about each row.

    Attributes
    ----------
    average, friedman : float64 of shape (n_rows, n_targets)
        Conditional distribution of the target, averaged over the trees: GeF and Friedman's method.
    log_joint : float64 of shape (n_rows, n_targets)
        log p(observed features, target) under the uniform mixture of the trees: GeF+.  Targets whose probability is
        less than e^-60 of the most likely one's may be inexact, down to -inf, as no probability depends on them;
        `joints.GenerativeForestClassifier.log_joint` is exact for all.
    weighted : float64 of shape (n_rows, n_targets) or None
        The same as `average` with trees that weigh by `tree_weights`, where `combine` asks for that.
    """

    average: np.ndarray
    friedman: np.ndarray
    log_joint: np.ndarray
    weighted: np.ndarray | None = None

    def probabilities(self, combine: Combine) -> np.ndarray:
        """The conditional distribution of the target: of GeF (``average``), of GeF+ (``mixture``), or in between.

        Evidence may have probability zero: without smoothing, for numbers far off, or for a class that is given.  A
        tree in which it has answers by Friedman's method instead (GeF); for GeF+ all trees do, where it has in all.
        A tree that cannot tell by counting either does not count; where none can, a row is all zeros.
        """
        if combine == "average":
            proba = self.average
        elif combine != "mixture":
            assert self.weighted is not None, "asked without the weights of the trees"
            proba = self.weighted
        else:
            largest = self.log_joint.max(axis=1, keepdims=True)
            proba = np.exp(self.log_joint - np.where(np.isfinite(largest), largest, 0.0))
        proba = np.where(proba.any(axis=1, keepdims=True), proba, self.friedman)
        total = proba.sum(axis=1, keepdims=True)
        return proba / np.where(total > 0, total, 1.0)

    def of_rows(self, rows: np.ndarray) -> Answers:
        """The answers about some of the rows."""
        weighted = None if self.weighted is None else self.weighted[rows]
        return Answers(self.average[rows], self.friedman[rows], self.log_joint[rows], weighted)


class _Targets(NamedTuple):
    """The variable that is asked for, in the leaves of a forest.

    Attributes
    ----------
    feature, given_class : int or None
        None: the class is asked for, and no class is given.
    n : int
        Number of categories.
    log_proba : float64 of shape (n_leaves, n)
        Of the categories of a feature; of the class, its probabilities themselves.
    weight : float64 of shape (n_leaves,) or (n_leaves, n)
        Fractions of the training rows in the leaves (of the given class); for the class, its rows.
    is_circuit : bool of shape (n_leaves,)
    above : bool of shape (n_nodes,)
        The circuits' nodes that are above a density of the target.
    """

    feature: int | None
    given_class: int | None
    n: int
    log_proba: np.ndarray
    weight: np.ndarray
    is_circuit: np.ndarray
    above: np.ndarray

    @classmethod
    def of(
        cls,
        forest: Forest,
        leaves: Leaves,
        n_categories: np.ndarray,
        feature: int | None = None,
        given_class: int | None = None,
    ) -> _Targets:
        is_circuit = leaves.circuits.of_leaf >= 0
        above = above_variable(len(n_categories) if feature is None else feature, leaves.circuits)
        if feature is None:
            return cls(None, None, forest.counts.shape[1], leaves.class_proba, forest.leaf_counts, is_circuit, above)
        o, n = leaves.offset[feature], int(n_categories[feature])
        with np.errstate(divide="ignore"):
            log_weight = leaves.log_weight + (
                0.0 if given_class is None else np.log(leaves.class_proba[:, given_class])
            )
        return cls(feature, given_class, n, leaves.parameters[:, o : o + n], np.exp(log_weight), is_circuit, above)

    def of_leaves(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Distribution of the target in some leaves (zeros in those that are circuits), and its training rows."""
        proba, counts = self.log_proba[first:last], self.weight[first:last]
        if self.feature is not None:
            proba = np.exp(proba)
            counts = counts[:, None] * proba
        is_circuit = self.is_circuit[first:last]
        return (np.where(is_circuit[:, None], 0.0, proba) if is_circuit.any() else proba), counts

    def query(self, forest: Forest, n_categories: np.ndarray, first_tree: int, last_tree: int) -> _Query:
        """What is asked of the trees `first_tree` up to `last_tree`."""
        first, last = forest.leaf_start[first_tree], forest.leaf_start[last_tree]
        proba, counts = self.of_leaves(first, last)
        return _Query(
            target=len(n_categories) if self.feature is None else self.feature,
            given_class=np.nan if self.given_class is None else float(self.given_class),
            n_categories=np.append(n_categories, forest.counts.shape[1]),
            first_leaf=first,
            proba=proba,
            counts=counts,
            above_target=self.above,
        )


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
    first_leaf : int
        The leaf that `proba` and `counts` begin with.
    proba : float64 of shape (n_leaves, n_targets)
        The distribution of the target in factorised leaves, zeros in those that are circuits.
    counts : float64 of shape (n_leaves, n_targets)
        Training rows by target.
    above_target : bool of shape (n_nodes,)
        The circuits' nodes that are above a density of the target.
    """

    target: int
    given_class: float
    n_categories: np.ndarray
    first_leaf: int
    proba: np.ndarray
    counts: np.ndarray
    above_target: np.ndarray


class _Sums(NamedTuple):
    """Sums over trees, for each row; `joint` is scaled by exp(`joint_log`) row by row."""

    average: np.ndarray
    friedman: np.ndarray
    joint: np.ndarray
    joint_log: np.ndarray

    def log_evidence(self) -> np.ndarray:
        """log p(observed features), summed over the trees."""
        with np.errstate(divide="ignore"):
            return self.joint_log + np.log(self.joint.sum(axis=1))


class _TreeLeaves(NamedTuple):
    """The leaves of one tree, side by side: targets by leaves."""

    log_weight: np.ndarray
    proba: np.ndarray
    counts: np.ndarray
    offset: np.ndarray  # of each feature's entries in the parameters
    parameters: np.ndarray
    circuit: np.ndarray  # of each leaf, -1 for a factorised one; empty if all are
    columns: np.ndarray  # the parameters by leaves; empty where they are not worth the copy


class _Scratch(NamedTuple):
    """What the answer about one row and tree is put together in; allocated once for many."""

    room: np.ndarray  # for reaching leaves
    observed: np.ndarray  # features
    logs: np.ndarray  # of the reached leaves
    densities: np.ndarray
    density_bits: np.ndarray  # the same seen as integers
    sums: np.ndarray  # by target
    with_class: np.ndarray  # a row and its class
    visits: Visits
    batch: Batch
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
def _leaf_log_densities(x, reached, n_observed, n_categories, offset, columns, scratch):
    """The same for leaves of a tree side by side: `columns` is its parameter table with leaves along rows."""
    n, logs = len(reached), scratch.logs
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
    most_leaves, most_nodes, most_depths = np.int64(0), np.int64(0), np.int64(0)
    for tree in range(first_tree, last_tree):
        most_leaves = max(most_leaves, forest.leaf_start[tree + 1] - forest.leaf_start[tree])
    for leaf in range(forest.leaf_start[first_tree], forest.leaf_start[last_tree]):
        c = circuits.of_leaf[leaf]
        if c >= 0:
            first, last = circuits.node_start[c], circuits.node_start[c + 1]
            most_nodes = max(most_nodes, last - first)
            most_depths = max(most_depths, circuits.depth[first:last].max() + 1)
    densities = np.empty(most_leaves)
    return _Scratch(
        np.empty(max(most_leaves, n_features), dtype=np.int64),
        np.empty(n_features, dtype=np.int64),
        np.empty(most_leaves),
        densities,
        densities.view(np.int64),
        np.empty(n_targets),
        np.empty(n_features + 1),
        visits_of(most_leaves, most_nodes > 0, n_targets),
        batch_of(n_features + 1, most_nodes, most_depths, n_targets),
        scratch_of(most_nodes, n_targets),
    )


@kernel(inline="always")
def _leaves_of_tree(leaves, query, first, last, side_by_side):
    circuit = leaves.circuits.of_leaf[first:last]
    begin, end = first - query.first_leaf, last - query.first_leaf
    return _TreeLeaves(
        leaves.log_weight[first:last],
        query.proba[begin:end].T.copy(),
        query.counts[begin:end].T.copy(),
        leaves.offset,
        leaves.parameters[first:last],
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
def _log_densities(x, reached, n_observed, n_categories, tree_leaves, scratch):
    """log-densities of the observed features in the reached leaves, as if all were factorised."""
    for j in range(len(reached)):
        scratch.logs[j] = leaf_log_density(
            x, reached[j], scratch.observed, n_observed, n_categories, tree_leaves.offset, tree_leaves.parameters
        )


@kernel(counted=False)
def _weigh(reached, first_visit, tree_leaves, scratch):
    """Put in the circuits' log-densities, add the weights of the reached leaves; returns the largest."""
    largest, logs, circuit, log = -np.inf, scratch.logs, tree_leaves.circuit, scratch.visits.log
    if len(circuit):
        for j in range(len(reached)):
            if circuit[reached[j]] >= 0:
                logs[j] = log[first_visit + j]
    for j in range(len(reached)):
        logs[j] += tree_leaves.log_weight[reached[j]]
        largest = max(largest, logs[j])
    return largest


@kernel(counted=False)
def _sum_leaves(reached, first_visit, tree_leaves, scratch):
    """Sum the densities of the reached leaves by target, into ``scratch.sums``."""
    n, sums, densities, circuit = len(reached), scratch.sums, scratch.densities, tree_leaves.circuit
    for k in range(len(sums)):
        sums[k] = _weighted_sum(tree_leaves.proba[k], reached, densities, n)
    if len(circuit):
        given = scratch.visits.given
        for j in range(n):
            if circuit[reached[j]] >= 0:
                for k in range(len(sums)):
                    sums[k] += densities[j] * given[first_visit + j, k]


@kernel(counted=False)
def _add_tree(i, of_tree, log_scale, sums):
    """Add one tree's sums for row i, which are scaled by exp(`log_scale`), to those of all trees.

    Returns whether there was anything to add.
    """
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
    return total > 0.0


@kernel(counted=False)
def _reach(rows, first, n_leaves, table, forest, tree, scratch):
    """List the leaves that rows from `first` on reach, as long as there is room; returns the row to go on with."""
    X, complete, room, leaf, row_end = rows.X, rows.complete, scratch.room, scratch.visits.leaf, scratch.visits.row_end
    n, i = 0, first
    while i < len(X) and (i == first or n + n_leaves <= len(leaf)):
        if len(table.bits) > 0 and not complete[i]:
            more = look_up_leaves(X[i], table, n_leaves, room, leaf[n:])
        else:
            more = walk_to_leaves(X[i], forest, tree, room, leaf[n:])
        n += more
        row_end[i - first] = n
        i += 1
    return i


@kernel(inline="always")
def _answer_row(x, i, reached, first_visit, n_categories, tree_leaves, scratch, sums):
    """Add what the leaves that row i reaches in one tree say to the sums."""
    n, of_tree, columns = len(reached), scratch.sums, tree_leaves.columns
    n_observed = _observe(x, scratch)
    if len(columns) and n >= 8:
        _leaf_log_densities(x, reached, n_observed, n_categories, tree_leaves.offset, columns, scratch)
    else:
        _log_densities(x, reached, n_observed, n_categories, tree_leaves, scratch)
    largest = _weigh(reached, first_visit, tree_leaves, scratch)
    add_frequencies(tree_leaves.counts, reached, n, of_tree, sums.friedman, i)
    possible = largest > -np.inf
    if possible:
        exponentials(scratch.logs, n, largest, scratch.densities, scratch.density_bits)
        _sum_leaves(reached, first_visit, tree_leaves, scratch)
        possible = _add_tree(i, of_tree, largest, sums)
    if not possible:
        add_frequencies(tree_leaves.counts, reached, n, of_tree, sums.average, i)


@kernel(counted=False)
def _answer_rows(X, first, end, n_categories, tree_leaves, scratch, sums):
    """Add what the leaves that these rows reach in one tree say to the sums."""
    leaf, row_end, begin = scratch.visits.leaf, scratch.visits.row_end, np.int64(0)
    for i in range(first, end):
        stop = row_end[i - first]
        _answer_row(X[i], i, leaf[begin:stop], begin, n_categories, tree_leaves, scratch, sums)
        begin = stop


@kernel
def _answer_trees(rows, query, forest, leaves, first_tree, last_tree, sums):
    """Add the trees `first_tree` up to `last_tree` to the sums."""
    X, circuits, n_categories = rows.X, leaves.circuits, query.n_categories
    scratch = _scratch(forest, first_tree, last_tree, X.shape[1], query.proba.shape[1], circuits)
    visits, batch, nodes = scratch.visits, scratch.batch, scratch.nodes
    columns = X.T.copy() if len(circuits.parent) else np.empty((0, 0))
    for tree in range(first_tree, last_tree):
        table = bit_table(rows.n_incomplete, forest, tree, n_categories)
        first_leaf, last_leaf = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        tree_leaves = _leaves_of_tree(leaves, query, first_leaf, last_leaf, len(table.bits) > 0)
        first = np.int64(0)
        while first < len(X):
            end = _reach(rows, first, last_leaf - first_leaf, table, forest, tree, scratch)
            if len(tree_leaves.circuit):
                visit_circuits(columns[:, first:end], tree_leaves.circuit, query, circuits, batch, nodes, visits)
            _answer_rows(X, first, end, n_categories, tree_leaves, scratch, sums)
            first = end


@kernel
def _answer_left_out(X, left_out, query, forest, leaves, first_tree, last_tree, log_evidence, conditional):
    """What each of the trees says about the rows that it did not see."""
    shape = (0, query.proba.shape[1])
    for tree in range(first_tree, last_tree):
        asked = np.flatnonzero(left_out[tree])
        rows = X[asked]
        complete = np.empty(len(rows), dtype=np.bool_)
        for i in range(len(rows)):
            complete[i] = not np.isnan(rows[i]).any()
        shape = (len(rows), query.proba.shape[1])
        sums = _Sums(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.full(len(rows), -np.inf))
        n_incomplete = len(rows) - complete.sum()
        _answer_trees(Rows(rows, asked, complete, n_incomplete), query, forest, leaves, tree, tree + 1, sums)
        for i in range(len(asked)):
            log_evidence[tree, asked[i]] = sums.joint_log[i] + np.log(sums.joint[i].sum())
            conditional[tree, asked[i]] = sums.average[i]


def ask_left_out(
    X: np.ndarray,
    left_out: np.ndarray,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """log p_t(x) and p_t(y | x) by tree and row, NaN and zero but where ``left_out[tree, row]``."""
    targets = _Targets.of(forest, leaves, n_categories)
    left_out = np.ascontiguousarray(left_out)  # one kernel for tables of either order
    log_evidence, conditional = np.full(left_out.shape, np.nan), np.zeros((*left_out.shape, targets.n))

    def one(first: int, last: int) -> None:
        query = targets.query(forest, n_categories, first, last)
        _answer_left_out(X, left_out, query, forest, leaves, first, last, log_evidence, conditional)

    run(one, blocks(forest.n_trees, 8 * TREES_PER_BLOCK), n_jobs)
    return log_evidence, conditional


def strength_of(way: Way) -> float:
    """The number of features whose evidence weighs the trees; see `tree_weights`."""
    return {"average": 0.0, "mixture": np.inf}[way] if isinstance(way, str) else float(way)


def strengths_of(combine: Combine, X: np.ndarray) -> np.ndarray:
    """The same for each row."""
    incomplete, complete = combine if isinstance(combine, tuple) else (combine, combine)
    return np.where(np.isnan(X).any(axis=1), strength_of(incomplete), strength_of(complete))


def tree_weights(log_evidence: np.ndarray, n_observed: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """How much each tree's answer counts: in proportion to p_t(x)^a, with a = strength / n_observed and at most one.

    So the rows' evidence weighs the trees as that of `strength` features would, however many are observed: 0 gives
    GeF's average, infinity GeF+.  Trees are as wrong about single features as any density, and their errors add up.
    A tree in which a row has probability zero counts where it has in all.

    Parameters
    ----------
    log_evidence : float64 of shape (n_trees, n_rows)
        log p_t(observed features); NaN for a tree that must not answer.
    n_observed, strengths : int64 and float64 of shape (n_rows,)

    Returns
    -------
    float64 of shape (n_trees, n_rows)
        Weights that sum to one for each row that any tree answers, else to zero.
    """
    power = np.minimum(1.0, strengths / np.maximum(n_observed, 1))
    logs = np.where(np.isnan(log_evidence), -np.inf, np.maximum(log_evidence, LOWEST_LOG) * power)
    largest = logs.max(axis=0)
    weights = np.exp(logs - np.where(np.isfinite(largest), largest, 0.0))
    return weights / np.maximum(weights.sum(axis=0), 1.0)


def _ask(
    rows: Rows,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    targets: _Targets,
    combine: Combine,
    n_jobs: int | None,
) -> Answers:
    """Ask the forest about different rows."""
    weighted_leaves = leaves if targets.given_class is None else leaves.given_class(targets.given_class)

    def one(first: int, last: int) -> _Sums:
        shape = (len(rows.X), targets.n)
        sums = _Sums(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.full(len(rows.X), -np.inf))
        query = targets.query(forest, n_categories, first, last)
        _answer_trees(rows, query, forest, weighted_leaves, first, last, sums)
        return sums

    parts = run(one, blocks(forest.n_trees, _trees_per_block(combine)), n_jobs)
    average = sum(part.average for part in parts) / forest.n_trees
    friedman = sum(part.friedman for part in parts) / forest.n_trees
    largest = np.max([part.joint_log for part in parts], axis=0)
    scale = np.where(np.isfinite(largest), largest, 0.0)
    joint = sum(part.joint * np.exp(part.joint_log - scale)[:, None] for part in parts) / forest.n_trees
    with np.errstate(divide="ignore"):
        log_joint = np.log(joint) + largest[:, None]
    if isinstance(combine, str):
        return Answers(average, friedman, log_joint)
    n_observed, strengths = (~np.isnan(rows.X)).sum(axis=1), strengths_of(combine, rows.X)
    weights = tree_weights(np.array([part.log_evidence() for part in parts]), n_observed, strengths)
    weighted = sum(weight[:, None] * part.average for weight, part in zip(weights, parts, strict=True))
    # without weights where there are none, so that classes with as many votes stay equal
    return Answers(average, friedman, log_joint, np.where(strengths[:, None] == 0.0, average, weighted))


def _trees_per_block(combine: Combine) -> int:
    return TREES_PER_BLOCK if isinstance(combine, str) else 1


def _answer_in_blocks(
    X: np.ndarray,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    targets: _Targets,
    combine: Combine,
    n_jobs: int | None,
) -> Iterator[tuple[np.ndarray, Answers]]:
    """The answers about some rows of the table, and which rows these are, until all have theirs."""
    n_blocks = len(blocks(forest.n_trees, _trees_per_block(combine)))
    for rows, where in row_blocks(X, n_blocks * (3 * targets.n + 1)):
        yield where, _ask(rows, forest, leaves, n_categories, targets, combine, n_jobs).of_rows(rows.back)


def answer(
    X: np.ndarray,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    n_jobs: int | None = None,
    combine: Combine = "average",
) -> Answers:
    """Ask the forest about the class of rows with any features missing.  Equal rows are asked once.

    The answer that weighs the trees comes along unless `combine` is a word.
    """
    targets = _Targets.of(forest, leaves, n_categories)
    shape = (len(X), targets.n)
    weighted = None if isinstance(combine, str) else np.empty(shape)
    out = Answers(np.empty(shape), np.empty(shape), np.empty(shape), weighted)
    for where, part in _answer_in_blocks(X, forest, leaves, n_categories, targets, combine, n_jobs):
        out.average[where], out.friedman[where], out.log_joint[where] = part.average, part.friedman, part.log_joint
        if out.weighted is not None:
            out.weighted[where] = part.weighted
    return out


def conditional(
    X: np.ndarray,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    combine: Combine,
    target: int | None = None,
    given_class: int | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """The conditional distribution of the target given the observed features; each row sums to one.

    `target` is the categorical feature that is asked for, by default the class; its own column must be missing.  With
    `given_class` all rows are taken to be of that class.  Where no tree can tell, not even by counting, the class is
    disregarded, then the features: the answer is the target's prior (and where no training row has a value, uniform).
    """
    targets = _Targets.of(forest, leaves, n_categories, target, given_class)
    out = np.empty((len(X), targets.n))
    for where, part in _answer_in_blocks(X, forest, leaves, n_categories, targets, combine, n_jobs):
        out[where] = part.probabilities(combine)
    unknown = np.flatnonzero(~out.any(axis=1))
    if len(unknown):
        less = X[unknown] if given_class is not None else np.full((1, X.shape[1]), np.nan)
        if given_class is None and np.isnan(X[unknown]).all():
            out[unknown] = 1.0 / targets.n
        else:
            out[unknown] = conditional(less, forest, leaves, n_categories, combine, target, n_jobs=n_jobs)
    return out


@kernel(counted=False)
def _add_logs(logs, top, sums):
    """Add exp(logs) to sums that are scaled by exp(`top`), class by class."""
    for k in range(len(top)):
        s = logs[k]
        if s > top[k]:
            sums[k] = sums[k] * np.exp(top[k] - s) + 1.0
            top[k] = s
        elif s > -np.inf:
            sums[k] += np.exp(s - top[k])


@kernel
def sum_logs(X, forest, leaves, n_categories, out):
    """log p(observed features, class) under the mixture of the trees, every class with a scale of its own.

    Row by row and in logarithms: slow and plain.  `n_categories` includes the class.
    """
    n_features, n_classes, n_trees = X.shape[1], out.shape[1], len(forest.tree_start) - 1
    circuits, offset, parameters = leaves.circuits, leaves.offset, leaves.parameters
    scratch = _scratch(forest, 0, n_trees, n_features, n_classes, circuits)
    nodes, with_class, observed = scratch.nodes, scratch.with_class, scratch.observed
    room, reached = scratch.room, scratch.visits.leaf
    top, sums, logs = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    with_class[n_features] = np.nan
    for i in range(len(X)):
        x = X[i]
        with_class[:n_features] = x
        n_observed = _observe(x, scratch)
        top[:] = -np.inf
        sums[:] = 0.0
        for tree in range(n_trees):
            n = walk_to_leaves(x, forest, tree, room, reached)
            for j in range(n):
                v = forest.leaf_start[tree] + reached[j]
                if circuits.of_leaf[v] < 0:
                    density = leaf_log_density(x, v, observed, n_observed, n_categories, offset, parameters)
                    logs[:] = np.log(leaves.class_proba[v]) + (leaves.log_weight[v] + density)
                else:
                    evaluate_circuit(with_class, n_features, circuits.of_leaf[v], circuits, n_categories, nodes)
                    logs[:] = nodes.value[0] + leaves.log_weight[v]
                _add_logs(logs, top, sums)
        out[i] = top + np.log(sums / n_trees)


def exact_log_joint(
    X: np.ndarray, forest: Forest, leaves: Leaves, n_categories: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """log p(observed features, class) under the uniform mixture of the trees, however unlikely the class is.

    Rows with a class that is far less likely than another one are summed again in logarithms.
    """
    out = answer(X, forest, leaves, n_categories, n_jobs).log_joint
    far = out < out.max(axis=1, keepdims=True) - RELIABLE
    far |= out == -np.inf
    rows = np.flatnonzero(far.any(axis=1))
    with_class = np.append(n_categories, out.shape[1])

    def one(first: int, last: int) -> np.ndarray:
        again = np.empty((last - first, out.shape[1]))
        sum_logs(X[rows[first:last]], forest, leaves, with_class, again)
        return again

    if len(rows):
        out[rows] = np.where(far[rows], np.concatenate(run(one, blocks(len(rows), 64), n_jobs)), out[rows])
    return out
