"""Circuits of sum nodes, product nodes and univariate densities as flat arrays, and their evaluation.

A forest leaf that is more than a product of univariate densities is a small circuit over the features and the class,
which is variable m after the features 0, ..., m - 1.  Parents are numbered before their children, so one loop from the
last node to the first evaluates a circuit, each node handing its value to its parent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from joints.compiled import kernel


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
    factor_start : int64 of shape (n_nodes + 1,)
        The univariate densities of product node v are ``factor_start[v]`` up to ``factor_start[v + 1]``.
    factor_variable, factor_offset : int64 of shape (n_factors,)
        The variable of a univariate density and where its entries begin in `parameters`.
    parameters : float64
        Three entries for a Gaussian, one a category otherwise; see `joints.circuit.leaves`.
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

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All of it, in the order in which kernels take it."""
        return (
            self.of_leaf, self.node_start, self.parent, self.is_sum, self.log_weight, self.factor_start,
            self.factor_variable, self.factor_offset, self.parameters,
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
        np.empty(0), np.zeros(1, dtype=np.int64), empty, empty, np.empty(0),
    )  # fmt: skip


def join_circuits(parts: list[tuple[np.ndarray, ...]], of_leaf: np.ndarray, one: bool = False) -> Circuits:
    """Put circuits (as `joints.circuit.learnspn.learn` returns them) behind one another.

    With `one` they are parts of one circuit, and their parents are numbered already.
    """
    if not parts:
        return no_circuits(len(of_leaf))
    parent, is_sum, log_weight, factor_start, variable, offset, parameters = zip(*parts, strict=True)
    n_nodes = np.array([len(part) for part in parent])
    n_factors = np.array([len(part) for part in variable])
    node_start = np.concatenate([[0], np.cumsum(n_nodes)])
    first_factor = np.concatenate([[0], np.cumsum(n_factors)])
    first_parameter = np.concatenate([[0], np.cumsum([len(part) for part in parameters])])
    all_parents = np.concatenate(parent)
    if not one:
        all_parents = np.where(all_parents >= 0, all_parents + np.repeat(node_start[:-1], n_nodes), -1)
    return Circuits(
        of_leaf=of_leaf,
        node_start=node_start[[0, -1]] if one else node_start,
        parent=all_parents,
        is_sum=np.concatenate(is_sum),
        log_weight=np.concatenate(log_weight),
        factor_start=np.concatenate(
            [part[:-1] + first for part, first in zip(factor_start, first_factor, strict=False)] + [first_factor[-1:]]
        ),
        factor_variable=np.concatenate(variable),
        factor_offset=np.concatenate(offset) + np.repeat(first_parameter[:-1], n_factors),
        parameters=np.concatenate(parameters),
    )


@kernel
def evaluate_circuit(
    x, target, n_targets, first, last, parent, is_sum, log_weight, factor_start, factor_variable, factor_offset,
    parameters, n_categories, top, value, touched, with_target,
):  # fmt: skip
    """Log-values of the nodes `first` up to `last` of one circuit for one row, into ``value`` (node, value of target).

    `target` is a categorical variable; a node above one of its densities has a value for each of its categories
    (`with_target`), the others have one in column 0.  A node below which nothing is observed is not `touched`: its
    value is log 1.
    """
    for v in range(last - first):
        touched[v], with_target[v] = False, False
        value[v, 0], top[v, 0] = 0.0, -np.inf
    for node in range(last - 1, first - 1, -1):
        v = node - first
        if is_sum[node]:
            if touched[v]:
                for k in range(n_targets if with_target[v] else 1):
                    value[v, k] = top[v, k] + np.log(value[v, k]) if value[v, k] > 0.0 else -np.inf
        else:
            # column 0 collects what all categories of the target share, and is spread over them at the end
            shared = 0.0
            for j in range(factor_start[node], factor_start[node + 1]):
                u, o = factor_variable[j], factor_offset[j]
                if u == target:
                    touched[v] = with_target[v] = True
                    for k in range(n_targets):
                        top[v, k] = parameters[o + k]
                elif not np.isnan(x[u]):
                    touched[v] = True
                    if n_categories[u]:
                        shared += parameters[o + np.int64(x[u])]
                    else:
                        d = x[u] - parameters[o]
                        shared += parameters[o + 2] + parameters[o + 1] * d * d
            shared += value[v, 0]
            if with_target[v]:
                for k in range(n_targets):
                    value[v, k] = shared + top[v, k]
            else:
                value[v, 0] = shared
        if parent[node] < 0 or not touched[v]:
            continue
        p = parent[node] - first
        touched[p] = True
        n_values = n_targets if with_target[v] else 1
        if with_target[v] and not with_target[p]:
            with_target[p] = True
            if is_sum[parent[node]]:
                for k in range(n_targets):
                    value[p, k], top[p, k] = 0.0, -np.inf
        if not is_sum[parent[node]]:
            # a product has one child above the target: that one's values wait in `top`, the others' are added up
            if with_target[v]:
                for k in range(n_targets):
                    top[p, k] = value[v, k]
            else:
                value[p, 0] += value[v, 0]
            continue
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
def draw_factors(
    x, first, last, parent, is_sum, log_weight, factor_start, factor_variable, value, uniform, active, factors
):  # fmt: skip
    """Choose a child of every sum node on the way down, by weight times value; list the densities to draw from.

    `value` comes from `evaluate_circuit` for the row, `uniform` gives a number in [0, 1) for each node and is used up,
    `active` has room for all nodes.  Returns how many densities are listed in `factors`: one for each missing variable.
    """
    n_nodes = last - first
    last_child = np.full(n_nodes, -1, dtype=np.int64)
    chosen = np.zeros(n_nodes, dtype=np.bool_)
    for node in range(first + 1, last):
        last_child[parent[node] - first] = node
    active[:n_nodes] = False
    active[0] = True
    n = 0
    for node in range(first, last):
        v = node - first
        if node > first:
            p = parent[node] - first
            if not is_sum[parent[node]]:
                active[v] = active[p]
            elif active[p] and not chosen[p]:
                uniform[p] -= np.exp(log_weight[node] + value[v, 0] - value[p, 0])
                if uniform[p] < 0.0 or last_child[p] == node:
                    chosen[p] = active[v] = True
        if active[v] and not is_sum[node]:
            for j in range(factor_start[node], factor_start[node + 1]):
                if np.isnan(x[factor_variable[j]]):
                    factors[n] = j
                    n += 1
    return n
