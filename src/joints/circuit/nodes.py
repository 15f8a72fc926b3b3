"""Circuits of sum nodes, product nodes and univariate densities as flat arrays, and their evaluation.

A forest leaf that is more than a product of univariate densities is a small circuit over the features and the class,
which is variable m after the features 0, ..., m - 1.  Parents are numbered before their children, so one loop from the
last node to the first evaluates a circuit, each node handing its value to its parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.numerics.compiled import kernel


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
    factor_start : int64 of shape (n_nodes + 1,)
        The univariate densities of node v are ``factor_start[v]`` up to ``factor_start[v + 1]``; sum nodes have none.
    factor_variable, factor_offset : int64 of shape (n_factors,)
        The variable of a univariate density, and where its entries begin in `parameters`.
    parameters : float64
        Three entries for a Gaussian, otherwise one per category; see `joints.circuit.leaves`.
    depth : int64 of shape (n_nodes,)
        0 at a root.
    weight, probabilities : float64
        Exponentials of `log_weight`, and of `parameters` where these are log-probabilities.
    peaks : float64 of shape (n_circuits, n_variables)
        The highest peak of a circuit's Gaussians over each variable, in logarithms; 0 for a categorical variable.
    """

    of_leaf: np.ndarray
    node_start: np.ndarray
    parent: np.ndarray
    is_sum: np.ndarray
    log_weight: np.ndarray
    factor_start: np.ndarray
    factor_variable: np.ndarray
    factor_offset: np.ndarray
    parameters: np.ndarray
    depth: np.ndarray
    weight: np.ndarray
    probabilities: np.ndarray
    peaks: np.ndarray

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest circuit."""
        return int(np.diff(self.node_start).max(initial=0))

    @property
    def most_depths(self) -> int:
        """Depths of the deepest circuit."""
        return int(self.depth.max(initial=-1)) + 1


class Scratch(NamedTuple):
    """What the evaluation of a circuit writes to; allocated once for many rows.

    Attributes
    ----------
    value, top : float64 of shape (n_nodes, n_targets)
        A node above a density of the target has a value for each of the target's categories, the others have one in
        column 0.  `top` holds the largest of a sum's terms, or what a product waits for.
    with_target : bool of shape (n_nodes,)
        Whether a node is above a density of the target.
    """

    value: np.ndarray
    top: np.ndarray
    with_target: np.ndarray


@kernel
def scratch_of(n_nodes, n_targets):
    """Scratch space for circuits of up to `n_nodes` nodes."""
    return Scratch(np.empty((n_nodes, n_targets)), np.empty((n_nodes, n_targets)), np.empty(n_nodes, dtype=np.bool_))


def no_circuits(n_leaves: int) -> Circuits:
    """Every leaf is fully factorised."""
    empty, nothing = np.empty(0, dtype=np.int64), np.empty(0)
    return Circuits(
        of_leaf=np.full(n_leaves, -1, dtype=np.int64),
        node_start=np.zeros(1, dtype=np.int64),
        parent=empty,
        is_sum=np.empty(0, dtype=np.bool_),
        log_weight=nothing,
        factor_start=np.zeros(1, dtype=np.int64),
        factor_variable=empty,
        factor_offset=empty,
        parameters=nothing,
        depth=empty,
        weight=nothing,
        probabilities=nothing,
        peaks=np.zeros((0, 1)),
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


@kernel
def _depths(parent):
    depth = np.zeros(len(parent), dtype=np.int64)
    for v in range(len(parent)):
        if parent[v] >= 0:
            depth[v] = depth[parent[v]] + 1
    return depth


@kernel
def _take_peaks(circuit, factor_variable, factor_offset, parameters, n_categories, peaks, probabilities):
    """The highest peaks by circuit and variable, and the probabilities out of their logarithms."""
    seen = np.zeros(peaks.shape, dtype=np.bool_)
    for j in range(len(factor_variable)):
        c, u, o = circuit[j], factor_variable[j], factor_offset[j]
        if n_categories[u]:
            for k in range(o, o + n_categories[u]):
                probabilities[k] = np.exp(parameters[k])
        elif not seen[c, u] or parameters[o + 2] > peaks[c, u]:
            seen[c, u], peaks[c, u] = True, parameters[o + 2]


def join_circuits(parts: list[Circuit], of_leaf: np.ndarray, n_categories: np.ndarray) -> Circuits:
    """The circuits of a forest's leaves over variables with so many categories (0: continuous)."""
    if not parts:
        return no_circuits(len(of_leaf))
    n_nodes = [len(part.parent) for part in parts]
    node_start = np.append(_starts(n_nodes), sum(n_nodes))
    all_of = chain_circuits(parts)
    parent = np.where(all_of.parent >= 0, all_of.parent + np.repeat(node_start[:-1], n_nodes), -1)
    circuit = np.repeat(np.arange(len(parts)), [len(part.factor_node) for part in parts])
    peaks, probabilities = np.zeros((len(parts), len(n_categories))), np.zeros(len(all_of.parameters))
    _take_peaks(
        circuit, all_of.factor_variable, all_of.factor_offset, all_of.parameters, n_categories, peaks, probabilities
    )
    return Circuits(
        of_leaf=of_leaf,
        node_start=node_start,
        parent=parent,
        is_sum=all_of.is_sum,
        log_weight=all_of.log_weight,
        factor_start=np.searchsorted(all_of.factor_node, np.arange(len(parent) + 1)),  # they come node by node
        factor_variable=all_of.factor_variable,
        factor_offset=all_of.factor_offset,
        parameters=all_of.parameters,
        depth=_depths(parent),
        weight=np.exp(all_of.log_weight),
        probabilities=probabilities,
        peaks=peaks,
    )


@kernel
def above_variable(variable, circuits):
    """Which nodes are above a density of this variable."""
    above = np.zeros(len(circuits.parent), dtype=np.bool_)
    for node in range(len(above) - 1, -1, -1):
        for j in range(circuits.factor_start[node], circuits.factor_start[node + 1]):
            above[node] |= circuits.factor_variable[j] == variable
        if above[node] and circuits.parent[node] >= 0:
            above[circuits.parent[node]] = True
    return above


# The kernels below run for every row and node.  Their parts are inlined, and they neither allocate nor count references
# (`counted`), which for records of many arrays takes longer than the arithmetic.


@kernel(inline="always")
def _add_factors(x, target, node, v, circuits, n_categories, scratch):
    """Start a product node with the log-densities of its observed variables, and those of the target's categories."""
    value, top, with_target, parameters = scratch.value, scratch.top, scratch.with_target, circuits.parameters
    for j in range(circuits.factor_start[node], circuits.factor_start[node + 1]):
        u, o = circuits.factor_variable[j], circuits.factor_offset[j]
        if u == target:
            with_target[v] = True
            for k in range(value.shape[1]):
                top[v, k] = parameters[o + k]
        elif np.isnan(x[u]):
            continue
        elif n_categories[u]:
            value[v, 0] += parameters[o + np.int64(x[u])]
        else:
            d = x[u] - parameters[o]
            value[v, 0] += parameters[o + 2] + parameters[o + 1] * d * d


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
    value, top, with_target = scratch.value, scratch.top, scratch.with_target
    n = circuits.node_start[c + 1] - first
    for v in range(n):
        value[v, 0], top[v, 0], with_target[v] = 0.0, -np.inf, False
        _add_factors(x, target, first + v, v, circuits, n_categories, scratch)
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
    for node in range(first, last):
        if active[node - first]:
            for j in range(circuits.factor_start[node], circuits.factor_start[node + 1]):
                if np.isnan(x[circuits.factor_variable[j]]):
                    factors[circuits.factor_variable[j]] = j
