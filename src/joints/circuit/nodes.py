"""Circuits of sum nodes, product nodes and univariate densities as flat arrays, and their evaluation.

A forest leaf that is more than a product of univariate densities is a small circuit over the features and the class,
which is variable m after the features 0, ..., m - 1.  Parents are numbered before their children, so one loop from the
last node to the first evaluates a circuit, each node handing its value to its parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.numerics.compiled import kernel

MOST_LOG_DENSITY = 50.0  # of a circuit's densities above one together: beyond, their plain product might overflow


class Circuit(NamedTuple):
    """One circuit, as it is learned.

    Attributes
    ----------
    parent, is_sum, log_weight : int64, bool, float64 of shape (n_nodes,)
        As in `Circuits`, nodes counted from the circuit's root.
    factor_node, factor_variable, factor_offset : int64 of shape (n_factors,)
        For each univariate density its product node, its variable, and where its entries begin in `parameters`.
    parameters : float64
    """

    parent: np.ndarray
    is_sum: np.ndarray
    log_weight: np.ndarray
    factor_node: np.ndarray
    factor_variable: np.ndarray
    factor_offset: np.ndarray
    parameters: np.ndarray


class Circuits(NamedTuple):
    """The circuits of a forest's leaves.

    Attributes
    ----------
    of_leaf : int64 of shape (n_leaves,)
        The circuit of each leaf, -1 for a fully factorised one.
    node_start : int64 of shape (n_circuits + 1,)
        The nodes of circuit c are ``node_start[c]`` up to ``node_start[c + 1]``; the first is the root.
    parent : int64 of shape (n_nodes,)
        -1 at a root.
    is_sum : bool of shape (n_nodes,)
        A sum node, otherwise a product node.
    log_weight : float64 of shape (n_nodes,)
        Log weight of the edge from a sum node.
    variable_start : int64 of shape (n_circuits, n_variables + 1)
        The univariate densities of circuit c over variable u are ``variable_start[c, u]`` up to
        ``variable_start[c, u + 1]``: a row needs those of its observed variables only.
    factor_node, factor_offset : int64 of shape (n_factors,)
        The product node that a univariate density belongs to, and where its entries begin in `parameters`.
    parameters : float64
        Three entries for a Gaussian, otherwise one per category; see `joints.circuit.leaves`.
    """

    of_leaf: np.ndarray
    node_start: np.ndarray
    parent: np.ndarray
    is_sum: np.ndarray
    log_weight: np.ndarray
    variable_start: np.ndarray
    factor_node: np.ndarray
    factor_offset: np.ndarray
    parameters: np.ndarray

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest circuit."""
        return int(np.diff(self.node_start).max(initial=0))


class Scratch(NamedTuple):
    """What the evaluation of a circuit writes to; allocated once for many rows.

    Attributes
    ----------
    value, top : float64 of shape (n_nodes, n_targets)
        A node above a density of the target has a value for each of the target's categories, the others have one in
        column 0.  `top` holds the largest of a sum's terms, or what a product waits for.
    logs, plain : float64 of shape (n_nodes,)
    plain_bits : int64 of shape (n_nodes,)
        `plain` seen as integers.
    with_target : bool of shape (n_nodes,)
        Whether a node is above a density of the target.
    """

    value: np.ndarray
    top: np.ndarray
    logs: np.ndarray
    plain: np.ndarray
    plain_bits: np.ndarray
    with_target: np.ndarray


@kernel
def scratch_of(n_nodes, n_targets):
    """Scratch space for circuits of up to `n_nodes` nodes."""
    plain = np.empty(n_nodes)
    return Scratch(
        np.empty((n_nodes, n_targets)),
        np.empty((n_nodes, n_targets)),
        np.empty(n_nodes),
        plain,
        plain.view(np.int64),
        np.empty(n_nodes, dtype=np.bool_),
    )


def no_circuits(n_leaves: int) -> Circuits:
    """Every leaf is fully factorised."""
    empty = np.empty(0, dtype=np.int64)
    return Circuits(
        of_leaf=np.full(n_leaves, -1, dtype=np.int64),
        node_start=np.zeros(1, dtype=np.int64),
        parent=empty,
        is_sum=np.empty(0, dtype=np.bool_),
        log_weight=np.empty(0),
        variable_start=np.zeros((0, 1), dtype=np.int64),
        factor_node=empty,
        factor_offset=empty,
        parameters=np.empty(0),
    )


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)


def chain_circuits(parts: list[Circuit]) -> Circuit:
    """Put the nodes and densities of several circuits one after another; parents stay as they are."""
    all_of = Circuit(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    n_factors = [len(part.factor_node) for part in parts]
    return all_of._replace(
        factor_node=all_of.factor_node + np.repeat(_starts([len(part.parent) for part in parts]), n_factors),
        factor_offset=all_of.factor_offset + np.repeat(_starts([len(part.parameters) for part in parts]), n_factors),
    )


def join_circuits(parts: list[Circuit], of_leaf: np.ndarray, n_variables: int) -> Circuits:
    """The circuits of a forest's leaves, their densities sorted by circuit and variable."""
    if not parts:
        return no_circuits(len(of_leaf))
    n_nodes = [len(part.parent) for part in parts]
    node_start = np.append(_starts(n_nodes), sum(n_nodes))
    all_of = chain_circuits(parts)
    circuit = np.repeat(np.arange(len(parts)), [len(part.factor_node) for part in parts])
    place = circuit * n_variables + all_of.factor_variable
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(len(parts) * n_variables + 1))
    variable_start = np.empty((len(parts), n_variables + 1), dtype=np.int64)
    variable_start[:, :-1] = ends[:-1].reshape(len(parts), n_variables)
    variable_start[:, -1] = ends[n_variables::n_variables]
    return Circuits(
        of_leaf=of_leaf,
        node_start=node_start,
        parent=np.where(all_of.parent >= 0, all_of.parent + np.repeat(node_start[:-1], n_nodes), -1),
        is_sum=all_of.is_sum,
        log_weight=all_of.log_weight,
        variable_start=variable_start,
        factor_node=all_of.factor_node[order],
        factor_offset=all_of.factor_offset[order],
        parameters=all_of.parameters,
    )


# The kernels below run for every row and node.  Their parts are inlined, and they neither allocate nor count references
# (`counted`), which for records of many arrays takes longer than the arithmetic.


@kernel(inline="always")
def _add_factors(x, target, c, circuits, n_categories, logs, of_target):
    """Add the log-densities of a row's observed variables to their product nodes' `logs`.

    ``of_target`` (node, category) gets the log-probabilities of the target.
    """
    first, variable_start, factor_node = circuits.node_start[c], circuits.variable_start, circuits.factor_node
    factor_offset, parameters = circuits.factor_offset, circuits.parameters
    for u in range(len(n_categories)):
        start, end = variable_start[c, u], variable_start[c, u + 1]
        if u == target:
            for j in range(start, end):
                for k in range(of_target.shape[1]):
                    of_target[factor_node[j] - first, k] = parameters[factor_offset[j] + k]
        elif np.isnan(x[u]):
            continue
        elif n_categories[u]:
            code = np.int64(x[u])
            for j in range(start, end):
                logs[factor_node[j] - first] += parameters[factor_offset[j] + code]
        else:
            for j in range(start, end):
                o = factor_offset[j]
                d = x[u] - parameters[o]
                logs[factor_node[j] - first] += parameters[o + 2] + parameters[o + 1] * d * d


@kernel(inline="always")
def _clear(target, c, circuits, scratch):
    """Nothing is known yet but which product nodes have a density of the target."""
    first, with_target, logs = circuits.node_start[c], scratch.with_target, scratch.logs
    for v in range(circuits.node_start[c + 1] - first):
        with_target[v], logs[v] = False, 0.0
    if target >= 0:
        for j in range(circuits.variable_start[c, target], circuits.variable_start[c, target + 1]):
            with_target[circuits.factor_node[j] - first] = True


@kernel(inline="always")
def _finish(v, is_sum, value, top, with_target):
    """The log-value of a node that has got all of its children's."""
    if is_sum:
        for k in range(value.shape[1] if with_target[v] else 1):
            value[v, k] = top[v, k] + np.log(value[v, k]) if value[v, k] > 0.0 else -np.inf
    elif with_target[v]:
        # column 0 has what all categories of the target share; what differs, of the one child or density above the
        # target, waits in `top`
        shared = value[v, 0]
        for k in range(value.shape[1]):
            value[v, k] = shared + top[v, k]


@kernel(inline="always")
def _multiply_into(p, v, value, top, with_target):
    """Hand a node's log-value to its parent, a product node."""
    if with_target[v]:
        with_target[p] = True
        for k in range(value.shape[1]):
            top[p, k] = value[v, k]
    else:
        value[p, 0] += value[v, 0]


@kernel(inline="always")
def _add_into(p, v, log_weight, value, top, with_target):
    """Hand a node's log-value to its parent, a sum node: a term of a sum scaled by its largest term."""
    if with_target[v] and not with_target[p]:
        with_target[p] = True
        for k in range(value.shape[1]):
            value[p, k], top[p, k] = 0.0, -np.inf
    for k in range(value.shape[1] if with_target[v] else 1):
        s = value[v, k] + log_weight
        if s == -np.inf:
            continue
        if s > top[p, k]:
            value[p, k] = value[p, k] * np.exp(top[p, k] - s) + 1.0
            top[p, k] = s
        else:
            value[p, k] += np.exp(s - top[p, k])


@kernel(counted=False)
def evaluate_circuit(x, target, c, circuits, n_categories, scratch):
    """Log-values of the nodes of circuit c for one row, into ``scratch.value``.

    `target` is a categorical variable, or -1 (and then `scratch` has one column).  Never runs out of range.
    """
    first, parent, is_sum, log_weight = circuits.node_start[c], circuits.parent, circuits.is_sum, circuits.log_weight
    value, top, with_target, logs = scratch.value, scratch.top, scratch.with_target, scratch.logs
    n = circuits.node_start[c + 1] - first
    _clear(target, c, circuits, scratch)
    for v in range(n):
        top[v, 0] = -np.inf
    _add_factors(x, target, c, circuits, n_categories, logs, top)
    for v in range(n):
        value[v, 0] = logs[v]
    for v in range(n - 1, -1, -1):
        node = first + v
        _finish(v, is_sum[node], value, top, with_target)
        if v == 0:
            break
        if is_sum[parent[node]]:
            _add_into(parent[node] - first, v, log_weight[node], value, top, with_target)
        else:
            _multiply_into(parent[node] - first, v, value, top, with_target)


@kernel(counted=False)
def exponentials(logs, n, largest, out, bits):
    """exp(logs - largest) for the first n entries; `bits` is `out` seen as int64.

    Written out so that it runs several entries at a time: exp(z) = 2^k exp(r) with |r| <= ln(2) / 2, the Taylor
    polynomial of degree 11 for exp(r) (relative error below 1e-14), and 2^k put together from its bits.  Below e^-700
    it is 0.
    """
    shift = 6755399441055744.0  # 1.5 * 2^52: adding it leaves round(z / ln 2) in the lowest bits
    for i in range(n):
        z = max(logs[i] - largest, -700.0)
        k = z * 1.4426950408889634 + shift
        out[i] = k
        k -= shift
        r = (z - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        p = 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        logs[i] = p * r + 1.0 if z > -700.0 else 0.0
    for i in range(n):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(n):
        out[i] *= logs[i]


@kernel(inline="always")
def _take_exponentials(c, circuits, scratch):
    """Densities out of their logarithms at product nodes, zeros at sum nodes, the target's probabilities."""
    first, is_sum = circuits.node_start[c], circuits.is_sum
    value, plain, with_target = scratch.value, scratch.plain, scratch.with_target
    n = circuits.node_start[c + 1] - first
    exponentials(scratch.logs, n, 0.0, plain, scratch.plain_bits)
    for v in range(n):
        if is_sum[first + v]:
            plain[v] = 0.0
        if with_target[v]:
            for k in range(value.shape[1]):
                value[v, k] = np.exp(value[v, k])


@kernel(inline="always")
def _hand_up(c, circuits, weight, scratch):
    """Sums and products from the last node of a circuit to its root, in plain numbers."""
    first, parent, is_sum = circuits.node_start[c], circuits.parent, circuits.is_sum
    value, plain, with_target = scratch.value, scratch.plain, scratch.with_target
    for v in range(circuits.node_start[c + 1] - first - 1, 0, -1):
        node = first + v
        p = parent[node] - first
        if with_target[v]:
            scale = 1.0 if is_sum[node] else plain[v]
            if not is_sum[parent[node]]:
                for k in range(value.shape[1]):
                    value[p, k] = scale * value[v, k]
            else:
                scale *= weight[node]
                if not with_target[p]:
                    for k in range(value.shape[1]):
                        value[p, k] = 0.0
                for k in range(value.shape[1]):
                    value[p, k] += scale * value[v, k]
            with_target[p] = True
        elif is_sum[parent[node]]:
            plain[p] += weight[node] * plain[v]
        else:
            plain[p] *= plain[v]


@kernel(counted=False)
def evaluate_quickly(x, target, c, circuits, weight, n_categories, scratch):
    """`evaluate_circuit` without logarithms: the root's values for the target's categories into ``scratch.value[0]``.

    All exponentials are taken at once, then sums and products are plain; `weight` has the exponentials of the edges'
    log weights.  Returns whether that can be relied on: not where the row is so unlikely that numbers run out of range,
    or where densities are so high that a product of them might.
    """
    first, value, logs, plain = circuits.node_start[c], scratch.value, scratch.logs, scratch.plain
    _clear(target, c, circuits, scratch)
    _add_factors(x, target, c, circuits, n_categories, logs, value)
    high = 0.0
    for v in range(circuits.node_start[c + 1] - first):
        high += max(logs[v], 0.0)
    if high > MOST_LOG_DENSITY:
        return False
    _take_exponentials(c, circuits, scratch)
    _hand_up(c, circuits, weight, scratch)
    shared = 1.0 if circuits.is_sum[first] else plain[0]
    largest = 0.0
    for k in range(value.shape[1]):
        value[0, k] = value[0, k] * shared if scratch.with_target[0] else plain[0]
        largest = max(largest, value[0, k])
    return 1e-250 < largest < 1e250


@kernel
def draw_factors(x, c, circuits, value, uniform, factors):
    """Choose a child of every sum node on the way down, by weight times value; list the densities to draw from.

    `value` comes from `evaluate_circuit` for the row, `uniform` gives a number in [0, 1) for each node and is used up.
    ``factors[u]`` is the density to draw missing variable u from.
    """
    first, last, parent = circuits.node_start[c], circuits.node_start[c + 1], circuits.parent
    last_child = np.full(last - first, -1, dtype=np.int64)
    chosen, active = np.zeros(last - first, dtype=np.bool_), np.zeros(last - first, dtype=np.bool_)
    for node in range(first + 1, last):
        last_child[parent[node] - first] = node
    active[0] = True
    for node in range(first + 1, last):
        v, p = node - first, parent[node] - first
        if not circuits.is_sum[parent[node]]:
            active[v] = active[p]
        elif active[p] and not chosen[p]:
            uniform[p] -= np.exp(circuits.log_weight[node] + value[v, 0] - value[p, 0])
            if uniform[p] < 0.0 or last_child[p] == node:
                chosen[p] = active[v] = True
    for u in range(len(x)):
        if np.isnan(x[u]):
            for j in range(circuits.variable_start[c, u], circuits.variable_start[c, u + 1]):
                if active[circuits.factor_node[j] - first]:
                    factors[u] = j
