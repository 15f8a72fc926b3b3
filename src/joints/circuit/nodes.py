"""Circuits of sum nodes, product nodes and univariate densities as flat arrays, and their evaluation.

A forest leaf that is more than a product of univariate densities is a small circuit over the features and the class,
which is variable m after the features 0, ..., m - 1.  Parents are numbered before their children, so one loop from the
last node to the first evaluates a circuit, each node handing its value to its parent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from joints.numerics.compiled import kernel


@dataclass(frozen=True)
class Circuits:
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
        Three entries for a Gaussian, one a category otherwise; see `joints.circuit.leaves`.
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
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All of it, in the order in which kernels take it."""
        return (
            self.of_leaf, self.node_start, self.parent, self.is_sum, self.log_weight, self.variable_start,
            self.factor_node, self.factor_offset, self.parameters,
        )  # fmt: skip

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest circuit."""
        return int(np.diff(self.node_start).max(initial=0))


def no_circuits(n_leaves: int) -> Circuits:
    """Every leaf is fully factorised."""
    empty = np.empty(0, dtype=np.int64)
    return Circuits(
        np.full(n_leaves, -1, dtype=np.int64), np.zeros(1, dtype=np.int64), empty, np.empty(0, dtype=np.bool_),
        np.empty(0), np.zeros((0, 1), dtype=np.int64), empty, empty, np.empty(0),
    )  # fmt: skip


def join_circuits(
    parts: list[tuple[np.ndarray, ...]], of_leaf: np.ndarray, n_variables: int, one: bool = False
) -> Circuits:
    """Put circuits (as `joints.circuit.learnspn.learn` returns them) behind one another.

    With `one` they are parts of one circuit, and their parents are numbered already.
    """
    if not parts:
        return no_circuits(len(of_leaf))
    parent, is_sum, log_weight, factor_node, variable, offset, parameters = zip(*parts, strict=True)
    n_nodes = np.array([len(part) for part in parent])
    n_factors = np.array([len(part) for part in variable])
    node_start = np.concatenate([[0], np.cumsum(n_nodes)])
    first_parameter = np.concatenate([[0], np.cumsum([len(part) for part in parameters])])
    all_parents = np.concatenate(parent)
    if not one:
        all_parents = np.where(all_parents >= 0, all_parents + np.repeat(node_start[:-1], n_nodes), -1)
    circuit = np.zeros(n_factors.sum(), dtype=np.int64) if one else np.repeat(np.arange(len(parts)), n_factors)
    place = circuit * n_variables + np.concatenate(variable)
    order = np.argsort(place, kind="stable")
    n_circuits = 1 if one else len(parts)
    ends = np.searchsorted(place[order], np.arange(n_circuits * n_variables + 1))
    variable_start = np.empty((n_circuits, n_variables + 1), dtype=np.int64)
    variable_start[:, :-1] = ends[:-1].reshape(n_circuits, n_variables)
    variable_start[:, -1] = ends[n_variables::n_variables]
    return Circuits(
        of_leaf=of_leaf,
        node_start=node_start[[0, -1]] if one else node_start,
        parent=all_parents,
        is_sum=np.concatenate(is_sum),
        log_weight=np.concatenate(log_weight),
        variable_start=variable_start,
        factor_node=(np.concatenate(factor_node) + np.repeat(node_start[:-1], n_factors))[order],
        factor_offset=(np.concatenate(offset) + np.repeat(first_parameter[:-1], n_factors))[order],
        parameters=np.concatenate(parameters),
    )


@kernel
def _add_factors(
    x, target, n_targets, c, first, variable_start, factor_node, factor_offset, parameters, n_categories, logs,
    of_target,
):  # fmt: skip
    """Add the log-densities of a row's observed variables to their product nodes' `logs`.

    ``of_target`` (node, category) gets the log-probabilities of the target.
    """
    for u in range(len(n_categories)):
        start, end = variable_start[c, u], variable_start[c, u + 1]
        if u == target:
            for j in range(start, end):
                for k in range(n_targets):
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


@kernel
def evaluate_circuit(
    x, target, n_targets, c, first, last, parent, is_sum, log_weight, variable_start, factor_node, factor_offset,
    parameters, n_categories, top, value, with_target,
):  # fmt: skip
    """Log-values of the nodes `first` up to `last` of one circuit for one row, into ``value`` (node, value of target).

    `target` is a categorical variable; a node above one of its densities has a value for each of its categories
    (`with_target`), the others have one in column 0.  Never runs out of range.
    """
    n = last - first
    for v in range(n):
        with_target[v], value[v, 0], top[v, 0] = False, 0.0, -np.inf
    if target >= 0:
        for j in range(variable_start[c, target], variable_start[c, target + 1]):
            with_target[factor_node[j] - first] = True
    _add_factors(
        x, target, n_targets, c, first, variable_start, factor_node, factor_offset, parameters, n_categories,
        value[:, 0], top,
    )  # fmt: skip
    for v in range(n - 1, -1, -1):
        node = first + v
        if is_sum[node]:
            for k in range(n_targets if with_target[v] else 1):
                value[v, k] = top[v, k] + np.log(value[v, k]) if value[v, k] > 0.0 else -np.inf
        elif with_target[v]:
            # column 0 has what all categories of the target share; what differs, of the one child or density above the
            # target, waits in `top`
            shared = value[v, 0]
            for k in range(n_targets):
                value[v, k] = shared + top[v, k]
        if v == 0:
            break
        p = parent[node] - first
        n_values = n_targets if with_target[v] else 1
        if not is_sum[parent[node]]:
            if with_target[v]:
                with_target[p] = True
                for k in range(n_targets):
                    top[p, k] = value[v, k]
            else:
                value[p, 0] += value[v, 0]
            continue
        if with_target[v] and not with_target[p]:
            with_target[p] = True
            for k in range(n_targets):
                value[p, k], top[p, k] = 0.0, -np.inf
        for k in range(n_values):
            s = value[v, k] + log_weight[node]
            if s == -np.inf:
                continue
            if s > top[p, k]:
                value[p, k] = value[p, k] * np.exp(top[p, k] - s) + 1.0
                top[p, k] = s
            else:
                value[p, k] += np.exp(s - top[p, k])


@kernel
def exponentials(logs, n, largest, out, bits):
    """exp(logs - largest) for the first n entries; `bits` is `out` seen as int64.

    Written out so that it runs several entries at a time: exp(z) = 2^k exp(r) with |r| <= ln(2) / 2, the Taylor
    polynomial of degree 11 for exp(r) (relative error below 1e-14), and 2^k put together from its bits.
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
        logs[i] = p * r + 1.0
    for i in range(n):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(n):
        out[i] *= logs[i]


@kernel
def evaluate_quickly(
    x, target, n_targets, c, first, last, parent, is_sum, weight, variable_start, factor_node, factor_offset,
    parameters, n_categories, value, logs, plain, plain_bits, with_target,
):  # fmt: skip
    """`evaluate_circuit` without logarithms: the root's values for the target's categories into ``value[0]``.

    All exponentials are taken at once, then sums and products are plain.  Returns whether that can be relied on: not
    where the row is so unlikely that numbers run out of range, or where densities are so high that a product of them
    might.  `plain_bits` is `plain` seen as int64.
    """
    n = last - first
    for v in range(n):
        with_target[v], logs[v] = False, 0.0
    _add_factors(
        x, target, n_targets, c, first, variable_start, factor_node, factor_offset, parameters, n_categories, logs,
        value,
    )  # fmt: skip
    high = 0.0
    for v in range(n):
        high += max(logs[v], 0.0)
    if high > 50.0:
        return False
    if target >= 0:
        for j in range(variable_start[c, target], variable_start[c, target + 1]):
            v = factor_node[j] - first
            with_target[v] = True
            for k in range(n_targets):
                value[v, k] = np.exp(value[v, k])
    exponentials(logs, n, 0.0, plain, plain_bits)
    for v in range(n):
        if is_sum[first + v]:
            plain[v] = 0.0
    for v in range(n - 1, 0, -1):
        node = first + v
        p = parent[node] - first
        if with_target[v]:
            scale = 1.0 if is_sum[node] else plain[v]
            if not is_sum[parent[node]]:
                for k in range(n_targets):
                    value[p, k] = scale * value[v, k]
            else:
                scale *= weight[node]
                if not with_target[p]:
                    for k in range(n_targets):
                        value[p, k] = 0.0
                for k in range(n_targets):
                    value[p, k] += scale * value[v, k]
            with_target[p] = True
        elif is_sum[parent[node]]:
            plain[p] += weight[node] * plain[v]
        else:
            plain[p] *= plain[v]
    largest = 0.0
    for k in range(n_targets):
        if not with_target[0]:
            value[0, k] = plain[0]
        elif not is_sum[first]:
            value[0, k] *= plain[0]
        largest = max(largest, value[0, k])
    return 1e-250 < largest < 1e250


@kernel
def draw_factors(x, c, first, last, parent, is_sum, log_weight, variable_start, factor_node, value, uniform, factors):
    """Choose a child of every sum node on the way down, by weight times value; list the densities to draw from.

    `value` comes from `evaluate_circuit` for the row, `uniform` gives a number in [0, 1) for each node and is used up.
    ``factors[u]`` is the density to draw missing variable u from.
    """
    n_nodes = last - first
    last_child = np.full(n_nodes, -1, dtype=np.int64)
    chosen, active = np.zeros(n_nodes, dtype=np.bool_), np.zeros(n_nodes, dtype=np.bool_)
    for node in range(first + 1, last):
        last_child[parent[node] - first] = node
    active[0] = True
    for node in range(first + 1, last):
        v, p = node - first, parent[node] - first
        if not is_sum[parent[node]]:
            active[v] = active[p]
        elif active[p] and not chosen[p]:
            uniform[p] -= np.exp(log_weight[node] + value[v, 0] - value[p, 0])
            if uniform[p] < 0.0 or last_child[p] == node:
                chosen[p] = active[v] = True
    for u in range(len(x)):
        if np.isnan(x[u]):
            for j in range(variable_start[c, u], variable_start[c, u + 1]):
                if active[factor_node[j] - first]:
                    factors[u] = j
