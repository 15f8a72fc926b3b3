"""A circuit evaluated for many rows at once: nodes outside, rows inside, in plain numbers.

Nodes are numbered in preorder and evaluated from the last to the first, so only the ancestors of the node at hand are
unfinished: one array of values for each depth is enough.  Rows that observe the same features should stand together:
a part of the circuit none of whose variables is observed in a batch is one and costs nothing.

Gaussians are taken relative to their highest peak in the circuit, so that no value is above one and nothing overflows;
where a row is so unlikely that its values become too small, `joints.circuit.nodes.evaluate_circuit` answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.circuit.nodes import evaluate_circuit, exponentials
from joints.numerics.compiled import kernel

ROWS = 64  # in a batch
VISITS, VISITS_TO_CIRCUITS = 1 << 12, 1 << 17  # of rows that are asked together, without circuits and with them
SMALLEST = 1e-250  # a root's value that can be relied on: what was lost on the way is below 1e-300


class Batch(NamedTuple):
    """What the evaluation of a circuit for a batch of rows reads and writes.

    Attributes
    ----------
    x : float64 of shape (n_variables, ROWS)
        The rows, NaN where a value is missing.
    n_observed : int64 of shape (n_variables,)
        How many rows of the batch have a value.
    needed : bool of shape (n_nodes,)
        Nodes with an observed variable or the target below them.
    begun : bool of shape (n_depths,)
        Whether a node's values have something in them.
    plain : float64 of shape (n_depths, ROWS)
        What the categories of the target share.
    targets : float64 of shape (n_depths, n_targets, ROWS)
        What differs between them, for nodes above the target.
    logs, density : float64 of shape (ROWS,)
        Of a product node's own factors.
    bits : int64 of shape (ROWS,)
        `density` seen as integers.
    shift : float64 of shape (ROWS,)
        The logarithm that all values of a row have to be raised by.
    """

    x: np.ndarray
    n_observed: np.ndarray
    needed: np.ndarray
    begun: np.ndarray
    plain: np.ndarray
    targets: np.ndarray
    logs: np.ndarray
    density: np.ndarray
    bits: np.ndarray
    shift: np.ndarray


@kernel
def batch_of(n_variables, n_nodes, n_depths, n_targets):
    """Room for a batch of rows, for circuits of up to so many nodes and depths."""
    density = np.empty(ROWS)
    return Batch(
        np.empty((n_variables, ROWS)),
        np.empty(n_variables, dtype=np.int64),
        np.empty(n_nodes, dtype=np.bool_),
        np.zeros(n_depths, dtype=np.bool_),
        np.empty((n_depths, ROWS)),
        np.empty((n_depths, n_targets, ROWS)),
        np.empty(ROWS),
        density,
        density.view(np.int64),
        np.empty(ROWS),
    )


@kernel(fastmath={"reassoc"}, counted=False)
def _take_rows(columns, rows, given_class, peaks, batch):
    """The rows of a batch, variable by variable; the class comes last."""
    n, n_features = len(rows), len(peaks) - 1
    x, n_observed, shift = batch.x, batch.n_observed, batch.shift
    shift[:n] = 0.0
    for u in range(n_features):
        column, values, peak, count = columns[u], x[u], peaks[u], 0.0
        for b in range(n):
            values[b] = column[rows[b]]
        for b in range(n):
            observed = 1.0 if values[b] == values[b] else 0.0
            count += observed
            shift[b] += observed * peak
        n_observed[u] = np.int64(count)
    x[n_features, :n] = given_class
    n_observed[n_features] = n if given_class == given_class else 0


@kernel(inline="always")
def _find_needed(c, circuits, above_target, batch):
    """Mark the nodes that have something to say about these rows."""
    first, last = circuits.node_start[c], circuits.node_start[c + 1]
    parent, factor_start, factor_variable = circuits.parent, circuits.factor_start, circuits.factor_variable
    needed, n_observed = batch.needed, batch.n_observed
    for v in range(last - first):
        needed[v] = above_target[first + v]
    for node in range(last - 1, first - 1, -1):
        v = node - first
        if not needed[v]:
            for j in range(factor_start[node], factor_start[node + 1]):
                if n_observed[factor_variable[j]] > 0:
                    needed[v] = True
                    break
        if needed[v] and node > first:
            needed[parent[node] - first] = True


@kernel(counted=False)
def _add_gaussian(x, mean, h, peak, n, logs):
    for b in range(n):
        d = x[b] - mean
        s = peak + h * d * d
        logs[b] += s if s == s else 0.0


@kernel(counted=False)
def _multiply_categorical(x, probabilities, n, density):
    for b in range(n):
        if x[b] == x[b]:
            density[b] *= probabilities[np.int64(x[b])]


@kernel(inline="always")
def _own_factors(node, n, target, circuits, peaks, n_categories, batch):
    """The densities of a product node's observed variables, multiplied, into ``batch.density``."""
    x, logs, density, n_observed = batch.x, batch.logs, batch.density, batch.n_observed
    factor_variable, factor_offset = circuits.factor_variable, circuits.factor_offset
    parameters, probabilities = circuits.parameters, circuits.probabilities
    first, last = circuits.factor_start[node], circuits.factor_start[node + 1]
    gaussian = False
    for j in range(first, last):
        u, o = factor_variable[j], factor_offset[j]
        if n_categories[u] == 0 and n_observed[u] > 0:
            if not gaussian:
                logs[:n] = 0.0
                gaussian = True
            _add_gaussian(x[u], parameters[o], parameters[o + 1], parameters[o + 2] - peaks[u], n, logs)
    if gaussian:
        exponentials(logs, n, 0.0, density, batch.bits)
    else:
        density[:n] = 1.0
    for j in range(first, last):
        u, o = factor_variable[j], factor_offset[j]
        if n_categories[u] > 0 and n_observed[u] > 0 and u != target:
            _multiply_categorical(x[u], probabilities[o : o + n_categories[u]], n, density)


@kernel(inline="always")
def _begin_target(node, depth, n, target, circuits, batch):
    """A product node with a density of the target: its probabilities, for all rows."""
    targets = batch.targets
    for j in range(circuits.factor_start[node], circuits.factor_start[node + 1]):
        if circuits.factor_variable[j] == target:
            o = circuits.factor_offset[j]
            for k in range(targets.shape[1]):
                targets[depth, k, :n] = circuits.probabilities[o + k]


@kernel(inline="always")
def _hand_to_sum(depth, n, weight, with_target, first, batch):
    """Add a node's values to those of its parent, a sum node; `first`: it is the first child to do so."""
    plain, targets = batch.plain, batch.targets
    if not with_target:
        for b in range(n):
            plain[depth - 1, b] = weight * plain[depth, b] + (0.0 if first else plain[depth - 1, b])
    else:
        for b in range(n):
            plain[depth, b] *= weight
        for k in range(targets.shape[1]):
            if first:
                for b in range(n):
                    targets[depth - 1, k, b] = plain[depth, b] * targets[depth, k, b]
            else:
                for b in range(n):
                    targets[depth - 1, k, b] += plain[depth, b] * targets[depth, k, b]


@kernel(inline="always")
def _hand_to_product(depth, n, with_target, first, batch):
    """Multiply a node's values into those of its parent, a product node."""
    plain, targets = batch.plain, batch.targets
    here, above = plain[depth], plain[depth - 1]
    for b in range(n):
        above[b] = here[b] * (1.0 if first else above[b])
    if with_target:
        for k in range(targets.shape[1]):
            for b in range(n):
                targets[depth - 1, k, b] = targets[depth, k, b]


@kernel(counted=False)
def _evaluate(c, n, query, circuits, batch):
    """The root's values for the n rows of a batch, into ``batch.plain[0]`` and ``batch.targets[0]``."""
    first, parent, is_sum, depths = circuits.node_start[c], circuits.parent, circuits.is_sum, circuits.depth
    above_target, target, n_categories, begun = query.above_target, query.target, query.n_categories, batch.begun
    peaks, weight, needed = circuits.peaks[c], circuits.weight, batch.needed
    _find_needed(c, circuits, above_target, batch)
    for node in range(circuits.node_start[c + 1] - 1, first - 1, -1):
        if not needed[node - first] and node > first:
            continue
        depth, with_target = depths[node], above_target[node]
        if not is_sum[node]:
            _own_factors(node, n, target, circuits, peaks, n_categories, batch)
            if with_target:
                _begin_target(node, depth, n, target, circuits, batch)
            for b in range(n):
                batch.plain[depth, b] = batch.density[b] * (batch.plain[depth, b] if begun[depth] else 1.0)
        elif with_target:
            batch.plain[depth, :n] = 1.0
        begun[depth] = False
        if node > first:
            above = parent[node]
            if is_sum[above]:
                _hand_to_sum(depth, n, weight[node], with_target, not begun[depth - 1], batch)
            else:
                _hand_to_product(depth, n, with_target, not begun[depth - 1], batch)
            begun[depth - 1] = True


class Visits(NamedTuple):
    """The leaves that some rows reach in one tree, row after row, and what those of them say that are circuits.

    Attributes
    ----------
    leaf, row_end : int64 of shape (most_visits,)
        The leaves, counted from the tree's first, and where those of each row end.
    log : float64 of shape (most_visits,)
        The log-density of the row in a circuit, with its most likely target.  This and the next three are empty where
        no leaf is a circuit.
    given : float64 of shape (most_visits, n_targets)
        The targets in a circuit, the largest scaled to 1.
    order, row : int64 of shape (most_visits,)
        The visits to circuits, leaf by leaf, and their rows.
    leaf_end : int64 of shape (most_leaves + 1,)
        Where those of each leaf end in `order`.
    """

    leaf: np.ndarray
    row_end: np.ndarray
    log: np.ndarray
    given: np.ndarray
    order: np.ndarray
    row: np.ndarray
    leaf_end: np.ndarray


@kernel
def visits_of(most_leaves, with_circuits, n_targets):
    """Room for the visits of some rows to trees of so many leaves: of many rows if there are circuits to be asked."""
    most_visits = max(most_leaves, VISITS_TO_CIRCUITS if with_circuits else VISITS)
    n_answers = most_visits if with_circuits else 0
    return Visits(
        np.empty(most_visits, dtype=np.int64),
        np.empty(most_visits, dtype=np.int64),
        np.empty(n_answers),
        np.empty((n_answers, n_targets)),
        np.empty(n_answers, dtype=np.int64),
        np.empty(n_answers, dtype=np.int64),
        np.empty(most_leaves + 1, dtype=np.int64),
    )


@kernel(inline="always")
def _sort_visits(n_rows, circuit, visits):
    """Sort the visits of some rows by leaf, those to circuits only."""
    end, leaf, order, row, row_end = visits.leaf_end, visits.leaf, visits.order, visits.row, visits.row_end
    n_leaves, n = len(circuit), row_end[n_rows - 1]
    for v in range(n_leaves + 1):
        end[v] = 0
    for i in range(n):
        if circuit[leaf[i]] >= 0:
            end[leaf[i] + 1] += 1
    for v in range(n_leaves):
        end[v + 1] += end[v]
    first = 0
    for r in range(n_rows):
        for i in range(first, row_end[r]):
            if circuit[leaf[i]] >= 0:
                order[end[leaf[i]]], row[end[leaf[i]]] = i, r
                end[leaf[i]] += 1
        first = row_end[r]


@kernel(inline="always")
def _take_root(b, i, batch, visits):
    """What the root says about row b of a batch, which is visit i; returns whether that can be relied on."""
    shared, targets, given = batch.plain[0, b], batch.targets, visits.given
    largest = 0.0
    for k in range(given.shape[1]):
        given[i, k] = shared * targets[0, k, b]
        largest = max(largest, given[i, k])
    if not largest > SMALLEST:
        return False
    visits.log[i] = np.log(largest) + batch.shift[b]
    for k in range(given.shape[1]):
        given[i, k] /= largest
    return True


@kernel(inline="always")
def _take_logs(nodes, i, visits):
    """The same from `evaluate_circuit`."""
    value, given = nodes.value, visits.given
    largest = value[0, 0]
    for k in range(1, given.shape[1]):
        largest = max(largest, value[0, k])
    visits.log[i] = largest
    for k in range(given.shape[1]):
        given[i, k] = np.exp(value[0, k] - largest) if largest > -np.inf else 0.0


@kernel(counted=False)
def visit_circuits(columns, circuit, query, circuits, batch, nodes, visits):
    """Ask the circuits among the leaves that some rows visit; those that no row visits cost nothing.

    `columns` are the rows by features; `circuit` has the circuit of each leaf of the tree, or -1.
    """
    x, order, leaf_end = batch.x, visits.order, visits.leaf_end
    _sort_visits(columns.shape[1], circuit, visits)
    first = 0
    for leaf in range(len(circuit)):
        c, end = circuit[leaf], leaf_end[leaf]
        while first < end:
            size = min(ROWS, end - first)
            _take_rows(columns, visits.row[first : first + size], query.given_class, circuits.peaks[c], batch)
            _evaluate(c, size, query, circuits, batch)
            for b in range(size):
                i = order[first + b]
                if not _take_root(b, i, batch, visits):
                    evaluate_circuit(x[:, b], query.target, c, circuits, query.n_categories, nodes)
                    _take_logs(nodes, i, visits)
            first += size
