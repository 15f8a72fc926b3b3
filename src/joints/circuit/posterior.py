"""Which densities of a circuit a row with its evidence comes from, and with which probability.

Given evidence, the distribution of any variable is a mixture of the densities that the leaves have of it: those of
factorised leaves, weighted by the leaf's share of the training rows and the probability of the evidence in it, and
those inside circuits, weighted by the derivative of the circuit with respect to them (Darwiche 2003).  `joints.circuit.
infer` answers the common question, the class given values, faster; this module answers all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import erf, erfc, exp, log, log1p, pi, sqrt
from typing import NamedTuple

import numpy as np

from joints.circuit.evidence import Given
from joints.circuit.infer import Combine, strengths_of, tree_weights
from joints.circuit.leaves import Cells, Leaves, cells_of_tree
from joints.circuit.nodes import Circuits
from joints.forest.arrays import Forest
from joints.numerics.buffers import with_room
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

MOST_ENTRIES = 1 << 22  # of posteriors that are kept at once


class Posterior(NamedTuple):
    """For each row the densities that it may come from.

    Attributes
    ----------
    start : int64 of shape (n_rows + 1,)
        The entries of row i are ``start[i]`` up to ``start[i + 1]``.
    component : int64 of shape (n_entries,)
        A leaf or, from the number of leaves on, a density of a circuit.
    weight : float64 of shape (n_entries,)
        Sums to one for each row.
    log_evidence : float64 of shape (n_rows,)
        log p(evidence) under the uniform mixture of the trees.
    shares : float64 of shape (n_trees, n_rows)
        How much each tree counts.
    """

    start: np.ndarray
    component: np.ndarray
    weight: np.ndarray
    log_evidence: np.ndarray
    shares: np.ndarray

    def sum_of(self, values: np.ndarray) -> np.ndarray:
        """The weighted sum over each row's entries of a table that has a row per component."""
        terms = self.weight.reshape(-1, *[1] * (values.ndim - 1)) * values[self.component]
        return np.add.reduceat(terms, self.start[:-1], axis=0)


class Row(NamedTuple):
    """The evidence about one row; see `joints.circuit.evidence.Given`."""

    low: np.ndarray
    high: np.ndarray
    allowed: np.ndarray
    start: np.ndarray


class _Room(NamedTuple):
    """What visiting a tree writes to: nodes to go back to, reached leaves, values and derivatives of circuits."""

    stack: np.ndarray
    reached: np.ndarray
    value: np.ndarray
    top: np.ndarray
    down: np.ndarray


@kernel
def _log_tail(z):
    """log of the standard normal's mass above z, for z of at least 0."""
    if z < 20.0:
        return log(0.5 * erfc(z / sqrt(2.0)))
    r = 1.0 / (z * z)
    return -0.5 * z * z - log(z) - 0.5 * log(2.0 * pi) + log1p(-r * (1.0 - 3.0 * r * (1.0 - 5.0 * r)))


@kernel
def log_mass(low, high):
    """log of the standard normal's mass between `low` and `high`, however far out they are."""
    if high <= low:
        return -np.inf
    if high - low < 1e-5:
        middle = 0.5 * (low + high)
        return log(high - low) - 0.5 * middle * middle - 0.5 * log(2.0 * pi)
    if low < 0.0 < high:
        return log(0.5 * (erf(high / sqrt(2.0)) - erf(low / sqrt(2.0))))
    near, far = (low, high) if low >= 0.0 else (-high, -low)
    of_near = _log_tail(near)
    if far == np.inf:
        return of_near
    return of_near + log1p(-exp(_log_tail(far) - of_near))


@kernel
def branches(row, f, forest, node):
    """Whether evidence about a split's feature leaves its left and its right side possible."""
    low, high, flags = row.low[f], row.high[f], forest.subset[node]
    if np.isnan(low):
        return True, True
    if flags < 0:
        if low == high:
            return low <= forest.threshold[node], low > forest.threshold[node]
        return low < forest.threshold[node], high > forest.threshold[node]
    if low >= 0.0:
        left = forest.goes_left[flags + np.int64(low)]
        return left, not left
    left, right = False, False
    for c in range(row.start[f + 1] - row.start[f]):
        if row.allowed[row.start[f] + c]:
            left |= forest.goes_left[flags + c]
            right |= not forest.goes_left[flags + c]
    return left, right


@kernel
def _walk(row, forest, tree, room):
    """The leaves that are possible given the evidence, counted from the tree's first, into ``room.reached``."""
    n, height, node = 0, 0, forest.tree_start[tree]
    while True:
        f = forest.feature[node]
        if f < 0:
            room.reached[n] = forest.leaf[node] - forest.leaf_start[tree]
            n += 1
            if height == 0:
                return n
            height -= 1
            node = room.stack[height]
            continue
        left, right = branches(row, f, forest, node)
        if left and right:
            room.stack[height] = forest.right[node]
            height += 1
        node = node + 1 if left else np.int64(forest.right[node])


@kernel
def log_factor(row, u, entries, cell_low, cell_high):
    """log-probability of the evidence about variable u in one density, cut to a cell that is empty if not needed."""
    low, high = row.low[u], row.high[u]
    n_categories = row.start[u + 1] - row.start[u]
    if n_categories:
        if low >= 0.0:
            return entries[np.int64(low)]
        total = 0.0
        for c in range(n_categories):
            if row.allowed[row.start[u] + c]:
                total += exp(entries[c])
        return log(total) if total > 0.0 else -np.inf
    if low == high:
        d = low - entries[0]
        return entries[2] + entries[1] * d * d
    sd = sqrt(-0.5 / entries[1])
    a, b = (cell_low[u] - entries[0]) / sd, (cell_high[u] - entries[0]) / sd
    return log_mass(max((low - entries[0]) / sd, a), min((high - entries[0]) / sd, b)) - log_mass(a, b)


@kernel
def leaf_log_probability(row, v, leaves, cell_low, cell_high):
    """log-probability of the evidence in factorised leaf v."""
    total, n_features = 0.0, len(leaves.offset)
    for u in range(n_features):
        if not np.isnan(row.low[u]):
            total += log_factor(row, u, leaves.parameters[v, leaves.offset[u] :], cell_low, cell_high)
    if not np.isnan(row.low[n_features]):
        p = leaves.class_proba[v, np.int64(row.low[n_features])]
        total += log(p) if p > 0.0 else -np.inf
    return total


@kernel
def evaluate_given(row, c, circuits, cell_low, cell_high, value, top):
    """log-values of the nodes of circuit c given the evidence, into `value`."""
    first, last = circuits.node_start[c], circuits.node_start[c + 1]
    for v in range(last - first):
        value[v], top[v] = 0.0, -np.inf
    for node in range(last - 1, first - 1, -1):
        v = node - first
        if circuits.is_sum[node]:
            value[v] = top[v] + log(value[v]) if value[v] > 0.0 else -np.inf
        for j in range(circuits.factor_start[node], circuits.factor_start[node + 1]):
            u = circuits.factor_variable[j]
            if not np.isnan(row.low[u]):
                value[v] += log_factor(row, u, circuits.parameters[circuits.factor_offset[j] :], cell_low, cell_high)
        if v == 0:
            return
        p = circuits.parent[node] - first
        if not circuits.is_sum[circuits.parent[node]]:
            value[p] += value[v]
            continue
        s = value[v] + circuits.log_weight[node]
        if s > top[p]:
            value[p], top[p] = value[p] * exp(top[p] - s) + 1.0, s
        elif s > -np.inf:
            value[p] += exp(s - top[p])


@kernel
def _derive(c, circuits, value, down):
    """log-derivatives of circuit c with respect to its nodes, into `down`."""
    first, last = circuits.node_start[c], circuits.node_start[c + 1]
    down[0] = 0.0
    for node in range(first + 1, last):
        v, p = node - first, circuits.parent[node] - first
        if circuits.is_sum[circuits.parent[node]]:
            down[v] = down[p] + circuits.log_weight[node]
        else:
            down[v] = down[p] + value[p] - value[v] if value[v] > -np.inf else -np.inf


@kernel
def _normalise(logs):
    """Turn logarithms into weights that sum to one, in place; returns the logarithm of their sum."""
    largest = logs.max()
    if largest == -np.inf:
        return largest
    total = 0.0
    for i in range(len(logs)):
        logs[i] = exp(logs[i] - largest)
        total += logs[i]
    for i in range(len(logs)):
        logs[i] /= total
    return largest + log(total)


class _Entries(NamedTuple):
    """The components of one tree, row after row."""

    component: np.ndarray
    weight: np.ndarray


@kernel
def _add_circuit(entries, n, target, c, log_weight, circuits, n_leaves, room):
    """Add the densities of the target in a circuit that has been evaluated; returns the entries and their number."""
    _derive(c, circuits, room.value, room.down)
    first, last = circuits.node_start[c], circuits.node_start[c + 1]
    n_factors = circuits.factor_start[last] - circuits.factor_start[first]
    entries = _Entries(with_room(entries.component, n + n_factors), with_room(entries.weight, n + n_factors))
    for node in range(first, last):
        for j in range(circuits.factor_start[node], circuits.factor_start[node + 1]):
            if circuits.factor_variable[j] == target:
                entries.component[n] = n_leaves + j
                entries.weight[n] = log_weight + room.down[node - first] + room.value[node - first]
                n += 1
    return entries, n


@kernel
def _add_leaves(entries, n, row, target, reached, leaves, cells, room):
    """Add what the reached leaves say about the target; `reached` are all of the tree's leaves that may be."""
    for j in range(len(reached)):
        v, at = reached[j], reached[j] - cells.first_leaf if len(cells.low) else 0
        cell_low, cell_high = cells.low[at : at + 1].ravel(), cells.high[at : at + 1].ravel()
        c = leaves.circuits.of_leaf[v]
        if c >= 0:
            evaluate_given(row, c, leaves.circuits, cell_low, cell_high, room.value, room.top)
        if c >= 0 and target >= 0:
            n_leaves = len(leaves.log_weight)
            entries, n = _add_circuit(entries, n, target, c, leaves.log_weight[v], leaves.circuits, n_leaves, room)
            continue
        entries = _Entries(with_room(entries.component, n + 1), with_room(entries.weight, n + 1))
        density = room.value[0] if c >= 0 else leaf_log_probability(row, v, leaves, cell_low, cell_high)
        entries.component[n], entries.weight[n] = v, leaves.log_weight[v] + density
        n += 1
    return entries, n


class _TreeCells(NamedTuple):
    """The cells of one tree's leaves, empty where no evidence is an interval."""

    first_leaf: int
    low: np.ndarray
    high: np.ndarray


@kernel
def _visit_tree(given, target, forest, leaves, tree, cells, most_nodes):
    """The components of each row in one tree, with weights that sum to one, and log p(evidence) in it.

    Where the evidence has probability zero, the leaves that it leaves possible count by their training rows (of the
    class that is given); where there are none, by all of their rows, and the tree cannot tell.
    """
    n_rows, n_variables = given.low.shape
    first_leaf, size = forest.leaf_start[tree], forest.leaf_start[tree + 1] - forest.leaf_start[tree]
    room = _Room(
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(most_nodes),
        np.empty(most_nodes),
        np.empty(most_nodes),
    )
    entries = _Entries(np.empty(256, dtype=np.int64), np.empty(256))
    start, log_evidence, tells = np.zeros(n_rows + 1, dtype=np.int64), np.empty(n_rows), np.ones(n_rows)
    blank = np.full(n_variables, np.nan)
    n = np.int64(0)
    for i in range(n_rows):
        row = Row(given.low[i], given.high[i], given.allowed[i], given.start)
        reached = first_leaf + room.reached[: _walk(row, forest, tree, room)]
        for attempt in range(3):
            entries, n = _add_leaves(entries, start[i], row, target, reached, leaves, cells, room)
            total = _normalise(entries.weight[start[i] : n])
            if attempt == 0:
                log_evidence[i] = total
            if total > -np.inf:
                break
            tells[i] = 1.0 - attempt
            blank[-1] = np.nan if attempt else row.low[-1]
            row = Row(blank, blank, given.allowed[i], given.start)
        start[i + 1] = n
    return start, entries.component[:n].copy(), entries.weight[:n].copy(), log_evidence, tells


def of_tree(
    given: Given, target: int, forest: Forest, leaves: Leaves, intervals: bool, tree: int
) -> tuple[np.ndarray, ...]:
    """The densities of one tree: start, component, weight (see `Posterior`), log p(evidence), whether it can tell.

    `intervals` says whether there are any among what is given.
    """
    cells = _TreeCells(0, np.empty((0, 0)), np.empty((0, 0)))
    if intervals:
        found = cells_of_tree(forest, tree, np.diff(given.start)[:-1])
        cells = _TreeCells(int(forest.leaf_start[tree]), found.low, found.high)
    return _visit_tree(given, target, forest, leaves, tree, cells, leaves.circuits.most_nodes)


def posterior(
    given: Given, target: int, forest: Forest, leaves: Leaves, combine: Combine, n_jobs: int | None = None
) -> Posterior:
    """The densities of variable `target` that each row may come from; -1: the leaves.

    With ``combine="average"`` every tree counts the same (GeF), with ``"mixture"`` by the probability of the evidence
    (GeF+), with a number by that of so many features (`joints.circuit.infer.tree_weights`), and a pair has one of these
    for incomplete and one for complete rows.
    """
    one = partial(of_tree, given, target, forest, leaves, bool((given.low < given.high).any()))
    found = run(one, [(tree,) for tree in range(forest.n_trees)], n_jobs)
    logs, tells = (np.array([part[k] for part in found]) for k in (3, 4))
    shares, log_evidence = _shares_of_trees(logs, tells, given.low[:, :-1], combine)
    sizes = np.array([np.diff(part[0]) for part in found])
    row = np.repeat(np.tile(np.arange(len(given.low)), len(found)), sizes.ravel())
    order = np.argsort(row, kind="stable")
    weight = np.concatenate([part[2] for part in found]) * np.repeat(shares.ravel(), sizes.ravel())
    component = np.concatenate([part[1] for part in found])[order]
    start = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    return Posterior(start, component, weight[order], log_evidence, shares)


def _shares_of_trees(
    logs: np.ndarray, tells: np.ndarray, X: np.ndarray, combine: Combine
) -> tuple[np.ndarray, np.ndarray]:
    """How much each tree counts for each row, given log p(evidence) by trees and rows; and that of the mixture.

    Trees that cannot tell do not count, unless none can.
    """
    largest = logs.max(axis=0)
    terms = np.exp(logs - np.where(np.isfinite(largest), largest, 0.0))
    total = terms.sum(axis=0)
    with np.errstate(divide="ignore"):
        log_evidence = np.log(total / len(logs)) + np.where(np.isfinite(largest), largest, 0.0)
    shares = np.where(tells.any(axis=0), tells, 1.0)
    if combine == "mixture":
        shares = np.where(total > 0, terms, shares)
    elif combine != "average":
        weights = tree_weights(np.where(tells > 0, logs, np.nan), (~np.isnan(X)).sum(axis=1), strengths_of(combine, X))
        shares = np.where(weights.any(axis=0), weights, shares)
    return shares / shares.sum(axis=0), log_evidence


def in_parts(given: Given, forest: Forest) -> Iterator[tuple[slice, Given]]:
    """What is given, for as many rows at a time as have posteriors that fit into memory, and which rows they are."""
    for first, last in blocks(len(given.low), max(1, MOST_ENTRIES // forest.n_leaves)):
        rows = slice(first, last)
        yield rows, given.rows(rows)


def log_evidence(given: Given, forest: Forest, leaves: Leaves, n_jobs: int | None) -> np.ndarray:
    """log p of what is given, under the uniform mixture of the trees."""
    parts = in_parts(given, forest)
    found = [posterior(part, -1, forest, leaves, "mixture", n_jobs).log_evidence for _, part in parts]
    return np.concatenate(found)


def probabilities_of(variable: int, leaves: Leaves, start: np.ndarray) -> np.ndarray:
    """The probabilities of a categorical variable in each component; see `Posterior`."""
    k = start[variable + 1] - start[variable]
    if variable == len(leaves.offset):
        of_leaves = leaves.class_proba
    else:
        o = leaves.offset[variable]
        of_leaves = np.exp(leaves.parameters[:, o : o + k])
    circuits = leaves.circuits
    of_circuits = np.zeros((len(circuits.factor_variable), k))
    own = np.flatnonzero(circuits.factor_variable == variable)
    of_circuits[own] = circuits.probabilities[circuits.factor_offset[own][:, None] + np.arange(k)]
    return np.concatenate([of_leaves, of_circuits])


class Gaussians(NamedTuple):
    """The Gaussians of a continuous feature, one per component, each cut to (low, high]."""

    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray


def gaussians_of(feature: int, forest: Forest, leaves: Leaves, n_categories: np.ndarray) -> Gaussians:
    """The densities of a continuous feature; see `Posterior`.  Those of circuits are cut to the cells as well."""
    o, circuits = leaves.offset[feature], leaves.circuits
    cells = [_cells_of_feature(forest, tree, n_categories, feature) for tree in range(forest.n_trees)]
    low, high = np.concatenate(cells, axis=1)
    leaf = _leaf_of_factors(circuits)
    offset = circuits.factor_offset
    own = circuits.factor_variable == feature
    entries = np.zeros((len(offset), 2))
    entries[:, 1] = -0.5
    entries[own] = circuits.parameters[offset[own][:, None] + np.arange(2)]
    entries = np.concatenate([leaves.parameters[:, o : o + 2], entries])
    return Gaussians(
        entries[:, 0],
        np.sqrt(-0.5 / entries[:, 1]),
        np.concatenate([low, low[leaf]]),
        np.concatenate([high, high[leaf]]),
    )


def _cells_of_feature(forest: Forest, tree: int, n_categories: np.ndarray, feature: int) -> np.ndarray:
    cells: Cells = cells_of_tree(forest, tree, n_categories)
    return np.stack([cells.low[:, feature], cells.high[:, feature]])


def _leaf_of_factors(circuits: Circuits) -> np.ndarray:
    """The leaf that each density of the circuits is in."""
    if not len(circuits.parent):
        return np.empty(0, dtype=np.int64)
    n_circuits = len(circuits.node_start) - 1
    leaf_of = np.empty(n_circuits, dtype=np.int64)
    is_circuit = np.flatnonzero(circuits.of_leaf >= 0)
    leaf_of[circuits.of_leaf[is_circuit]] = is_circuit
    n_factors = np.diff(circuits.factor_start[circuits.node_start])
    return np.repeat(leaf_of, n_factors)
