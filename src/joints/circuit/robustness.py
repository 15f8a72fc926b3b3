"""The e-robustness of a prediction (Correia, Peharz and de Campos 2020, "Towards robust classification with deep
generative forests"): the largest contamination of all weights that leaves the predicted class as it is.

The weights w of every sum node may be any (1 - e) w + e v, where v is any distribution, each node has its own, and e is
the same everywhere.  Sums are the mixture of the trees (GeF+), the decision nodes, those of LearnSPN, and all
categorical distributions, of features and of the class, which are sums over indicators; the indicators of a
class-selective circuit are none.  Gaussians have no weights and stay as they are; the authors' programs also move their
means by up to e / 2.  The class y is kept if p(x, y) - p(x, y') > 0 for all other classes y' and all such weights.  As
circuits are trees, the least difference is found in one pass (Maua et al. 2018, credal sum-product networks): every
node takes the worst of its own weights, which is a corner of the allowed ones.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np

from joints.circuit.evidence import Given
from joints.circuit.infer import Combine
from joints.circuit.leaves import Leaves
from joints.circuit.posterior import Row, branches, log_factor, posterior
from joints.forest.arrays import Forest
from joints.numerics.buffers import with_room
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

STEPS = 30  # of bisection: halving [0, 1] this often leaves an error of 1e-9


class _Parts(NamedTuple):
    """The nodes of all trees that are above leaves a row reaches, parents first.

    Attributes
    ----------
    tree_end : int64 of shape (n_trees,)
    leaf : int64 of shape (n_parts,)
        -1 at decision nodes.
    children : int64 of shape (n_parts, 2)
        -1 where nothing is reached.
    left_weight : float64 of shape (n_parts,)
    log_density : float64 of shape (n_parts,)
        Of a leaf's Gaussians; of a circuit, what its plain values have to be multiplied by; -inf at decision nodes.
    category : float64 of shape (n_parts, n_observed)
        In a factorised leaf, the probabilities of the observed categories where there is more than one.
    """

    tree_end: np.ndarray
    leaf: np.ndarray
    children: np.ndarray
    left_weight: np.ndarray
    log_density: np.ndarray
    category: np.ndarray


class _Densities(NamedTuple):
    """The least and the largest density of every leaf, relative to the largest of its tree; `scale` has their logs."""

    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray


class _Bounds(NamedTuple):
    """The least and the largest values of a circuit's nodes; above the class only the least, of the linear function."""

    low: np.ndarray
    high: np.ndarray
    least: np.ndarray
    with_class: np.ndarray


@kernel
def _choices(row):
    """The observed features with more than one category."""
    n_categories = row.start[1:-1] - row.start[:-2]
    return np.flatnonzero((n_categories > 1) & ~np.isnan(row.low[:-1]))


@kernel
def _log_density(row, v, leaves):
    """log-density of a leaf's Gaussians; of a circuit, that of their peaks."""
    c, total, nowhere = leaves.circuits.of_leaf[v], 0.0, np.empty(0)
    for u in range(len(leaves.offset)):
        if row.start[u + 1] == row.start[u] and not np.isnan(row.low[u]):
            entries = leaves.parameters[v, leaves.offset[u] :]
            total += leaves.circuits.peaks[c, u] if c >= 0 else log_factor(row, u, entries, nowhere, nowhere)
    return total


@kernel
def _reached_parts(row, forest, leaves):
    """The nodes above the leaves that a row reaches."""
    n_trees = len(forest.tree_start) - 1
    tree_end, n = np.zeros(n_trees, dtype=np.int64), 0
    nodes, children = np.empty(256, dtype=np.int64), np.full((256, 2), -1)
    stack = np.empty((256, 3), dtype=np.int64)  # node, its parent among the parts, side
    for tree in range(n_trees):
        stack[0, 0], stack[0, 1], stack[0, 2] = forest.tree_start[tree], -1, 0
        height = 1
        while height > 0:
            height -= 1
            node, parent, side = stack[height, 0], stack[height, 1], stack[height, 2]
            nodes, children, stack = with_room(nodes, n + 1), with_room(children, n + 1), with_room(stack, height + 2)
            nodes[n], children[n, 0], children[n, 1] = node, -1, -1
            if parent >= 0:
                children[parent, side] = n
            if forest.feature[node] >= 0:
                left, right = branches(row, forest.feature[node], forest, node)
                if right:
                    stack[height, 0], stack[height, 1], stack[height, 2] = forest.right[node], n, 1
                    height += 1
                if left:
                    stack[height, 0], stack[height, 1], stack[height, 2] = node + 1, n, 0
                    height += 1
            n += 1
        tree_end[tree] = n
    return _weigh_parts(row, nodes[:n], tree_end, children[:n], forest, leaves)


@kernel
def _weigh_parts(row, nodes, tree_end, children, forest, leaves):
    n, choices = len(nodes), _choices(row)
    leaf, left_weight, log_density = np.full(n, -1), np.ones(n), np.full(n, -np.inf)
    category = np.ones((n, len(choices)))
    for i in range(n):
        node = nodes[i]
        if forest.feature[node] >= 0:
            left_weight[i] = forest.counts[node + 1].sum() / forest.counts[node].sum()
            continue
        v = leaf[i] = forest.leaf[node]
        log_density[i] = _log_density(row, v, leaves)
        for j, u in enumerate(choices):
            category[i, j] = exp(leaves.parameters[v, leaves.offset[u] + np.int64(row.low[u])])
    return _Parts(tree_end, leaf, children, left_weight, log_density, category)


@kernel
def _log(p):
    return log(p) if p > 0.0 else -np.inf


@kernel
def _densities(parts, circuits, epsilon):
    """The least and the largest densities of leaves whose categorical distributions are contaminated."""
    n, n_trees, begin = len(parts.leaf), len(parts.tree_end), 0
    low, high, scale = parts.log_density.copy(), parts.log_density.copy(), np.full(n_trees, -np.inf)
    for i in range(n):
        if parts.leaf[i] >= 0 and circuits.of_leaf[parts.leaf[i]] < 0:
            for j in range(parts.category.shape[1]):
                p = (1.0 - epsilon) * parts.category[i, j]
                low[i] += _log(p)
                high[i] += _log(p + epsilon)
    for tree in range(n_trees):
        end = parts.tree_end[tree]
        scale[tree] = high[begin:end].max()
        if scale[tree] > -np.inf:
            low[begin:end] -= scale[tree]
            high[begin:end] -= scale[tree]
        begin = end
    return _Densities(np.exp(low), np.exp(high), scale)


@kernel
def _least_of_class(probabilities, function, epsilon):
    """The least value of a linear function of the class, given its distribution."""
    total = 0.0
    for k in range(len(function)):
        total += probabilities[k] * function[k]
    return (1.0 - epsilon) * total + epsilon * function.min()


@kernel
def _add_factors(row, node, v, circuits, peaks, function, epsilon, bounds):
    """Start a product node with its densities; an indicator of the class is no sum."""
    for j in range(circuits.factor_start[node], circuits.factor_start[node + 1]):
        u, o = circuits.factor_variable[j], circuits.factor_offset[j]
        if u == len(row.low) - 1:
            proba = circuits.probabilities[o : o + len(function)]
            bounds.with_class[v] = True
            bounds.least[v] = _least_of_class(proba, function, 0.0 if proba.max() == 1.0 else epsilon)
        elif not np.isnan(row.low[u]):
            nowhere = np.empty(0)
            density = exp(log_factor(row, u, circuits.parameters[o:], nowhere, nowhere) - peaks[u])
            share = epsilon if row.start[u + 1] - row.start[u] > 1 else 0.0
            bounds.low[v] *= (1.0 - share) * density
            bounds.high[v] *= (1.0 - share) * density + share


@kernel
def _finish(v, is_sum, epsilon, extremes, bounds):
    """The bounds of a node that has got all of its children's; `extremes` has the least and largest of a sum's."""
    if is_sum:
        bounds.low[v] = (1.0 - epsilon) * bounds.low[v] + epsilon * extremes[v, 0]
        bounds.high[v] = (1.0 - epsilon) * bounds.high[v] + epsilon * extremes[v, 1]
        bounds.least[v] = (1.0 - epsilon) * bounds.least[v] + epsilon * extremes[v, 2]
    elif bounds.with_class[v]:
        bounds.least[v] *= bounds.low[v] if bounds.least[v] >= 0.0 else bounds.high[v]


@kernel
def _hand_up(p, v, weight, is_sum, extremes, bounds):
    """Give a node's bounds to its parent."""
    bounds.with_class[p] |= bounds.with_class[v]
    if is_sum:
        bounds.low[p] += weight * bounds.low[v]
        bounds.high[p] += weight * bounds.high[v]
        bounds.least[p] += weight * bounds.least[v]
        extremes[p, 0] = min(extremes[p, 0], bounds.low[v])
        extremes[p, 1] = max(extremes[p, 1], bounds.high[v])
        extremes[p, 2] = min(extremes[p, 2], bounds.least[v])
    elif bounds.with_class[v]:
        bounds.least[p] = bounds.least[v]
    else:
        bounds.low[p] *= bounds.low[v]
        bounds.high[p] *= bounds.high[v]


@kernel
def _least_of_circuit(row, c, circuits, function, epsilon):
    """The least value of a linear function of the joint probabilities of circuit c, relative to its peaks."""
    first, last = circuits.node_start[c], circuits.node_start[c + 1]
    n = last - first
    start = np.where(circuits.is_sum[first:last], 0.0, 1.0)
    bounds = _Bounds(start.copy(), start.copy(), np.zeros(n), np.zeros(n, dtype=np.bool_))
    extremes = np.empty((n, 3))
    extremes[:, 0], extremes[:, 1], extremes[:, 2] = np.inf, -np.inf, np.inf
    for node in range(last - 1, first - 1, -1):
        v = node - first
        _add_factors(row, node, v, circuits, circuits.peaks[c], function, epsilon, bounds)
        _finish(v, circuits.is_sum[node], epsilon, extremes, bounds)
        if v > 0:
            parent = circuits.parent[node]
            _hand_up(parent - first, v, circuits.weight[node], circuits.is_sum[parent], extremes, bounds)
    return bounds.least[0]


@kernel
def _least_of_tree(row, begin, end, parts, densities, leaves, function, epsilon, value):
    """The least value of a linear function of the joint probabilities of one tree; `value` has room for its parts."""
    for i in range(end - 1, begin - 1, -1):
        v = parts.leaf[i]
        if v >= 0:
            c = leaves.circuits.of_leaf[v]
            if c >= 0:
                value[i] = _least_of_circuit(row, c, leaves.circuits, function, epsilon)
            else:
                value[i] = _least_of_class(leaves.class_proba[v], function, epsilon)
            value[i] *= densities.low[i] if value[i] >= 0.0 else densities.high[i]
            continue
        left, right = parts.children[i, 0], parts.children[i, 1]
        a, b = value[left] if left >= 0 else 0.0, value[right] if right >= 0 else 0.0
        w = parts.left_weight[i]
        value[i] = (1.0 - epsilon) * (w * a + (1.0 - w) * b) + epsilon * min(a, b)
    return value[begin]


@kernel
def _least_lead(row, parts, densities, leaves, first, second, epsilon, shares, value):
    """By how much class `first` is ahead of class `second` at least: 0 or less if their order may change.

    In the mixture, of p(x, first) - p(x, second); averaging, of p(first | x) - p(second | x), tree by tree: `shares`
    say by how much each tree counts then, and are empty in the mixture.
    """
    average = len(shares) > 0
    function = np.zeros(leaves.class_proba.shape[1])
    total, worst, begin, largest = 0.0, np.inf, 0, densities.scale.max()
    for tree in range(len(parts.tree_end)):
        end = parts.tree_end[tree]
        low, high = (-1.0, 1.0) if average else (0.0, 0.0)
        for _ in range(STEPS if average else 1):
            middle = 0.5 * (low + high)
            function[:] = -middle
            function[first], function[second] = 1.0 - middle, -1.0 - middle
            least = _least_of_tree(row, begin, end, parts, densities, leaves, function, epsilon, value)
            low, high = (middle, high) if least > 0.0 else (low, middle)
        if average:
            total += low * shares[tree]
        elif largest > -np.inf:
            least *= exp(densities.scale[tree] - largest)
            total += least / len(parts.tree_end)
            worst = min(worst, least)
        begin = end
    return total if average else (1.0 - epsilon) * total + epsilon * worst


@kernel
def _keeps_class(row, parts, leaves, best, epsilon, shares, value):
    densities = _densities(parts, leaves.circuits, epsilon)
    for k in range(leaves.class_proba.shape[1]):
        if k != best and not _least_lead(row, parts, densities, leaves, best, k, epsilon, shares, value) > 0.0:
            return False
    return True


@kernel
def _robustness_of_rows(given, predicted, forest, leaves, shares, out):
    """The largest contamination under which each row keeps its prediction, by bisection."""
    for i in range(len(out)):
        row = Row(given.low[i], given.high[i], given.allowed[i], given.start)
        parts = _reached_parts(row, forest, leaves)
        value = np.empty(len(parts.leaf))
        low, high = (0.0, 1.0) if leaves.class_proba.shape[1] > 1 else (1.0, 1.0)
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            if _keeps_class(row, parts, leaves, predicted[i], middle, shares[i], value):
                low = middle
            else:
                high = middle
        out[i] = low


def robustness_of(
    given: Given, predicted: np.ndarray, forest: Forest, leaves: Leaves, combine: Combine, n_jobs: int | None = None
) -> np.ndarray:
    """The largest contamination of all weights under which each row keeps its predicted class; in [0, 1].

    The weights by which trees are averaged are not part of a circuit, and stay as they are.
    """
    out = np.empty(len(predicted))

    def one(first: int, last: int) -> None:
        rows = given.rows(slice(first, last))
        shares = np.empty((last - first, 0))
        if combine != "mixture":
            shares = np.ascontiguousarray(posterior(rows, -1, forest, leaves, combine).shares.T)
        _robustness_of_rows(rows, predicted[first:last], forest, leaves, shares, out[first:last])

    run(one, blocks(len(predicted), 64), n_jobs)
    return out
