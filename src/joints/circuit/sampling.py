"""Drawing from the mixture of a forest's trees: a leaf given what is observed, then the class and what is missing."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from joints.circuit.infer import leaf_log_densities_of_row
from joints.circuit.leaves import Leaves, cells_of_tree
from joints.circuit.nodes import Scratch, draw_factors, evaluate_circuit, scratch_of
from joints.forest.arrays import Forest

FAR = 30.0  # standard deviations from the mean beyond which tails are drawn from in logarithms


def sample(
    X: np.ndarray,
    n_samples: int,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    random: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Complete each row `n_samples` times; returns the encoded rows and their classes."""
    with_class = np.append(n_categories, leaves.class_proba.shape[1])
    nodes = scratch_of(leaves.circuits.most_nodes, 1)
    chosen = np.concatenate([_choose_leaves(x, n_samples, forest, leaves, with_class, nodes, random) for x in X])
    out = np.column_stack([np.repeat(X, n_samples, axis=0), np.full(len(chosen), np.nan)])
    of_leaf = leaves.circuits.of_leaf[chosen]
    factorised = np.flatnonzero(of_leaf < 0)
    out[factorised, -1] = _draw_categories(leaves.class_proba[chosen[factorised]], random)
    tree_of = np.searchsorted(forest.leaf_start, chosen, side="right") - 1
    for tree in np.unique(tree_of):
        rows = np.flatnonzero(tree_of == tree)
        cells = cells_of_tree(forest, tree, n_categories)
        bounds = np.stack([cells.low, cells.high])[:, chosen[rows] - forest.leaf_start[tree]]
        _draw_factorised(
            out, rows[of_leaf[rows] < 0], chosen, bounds[:, of_leaf[rows] < 0], leaves, n_categories, random
        )
        for i in np.flatnonzero(of_leaf[rows] >= 0):
            _draw_circuit(out[rows[i]], of_leaf[rows[i]], bounds[:, i], leaves, with_class, nodes, random)
    return out[:, :-1].copy(), out[:, -1].astype(np.int64)


def _choose_leaves(
    x: np.ndarray,
    n: int,
    forest: Forest,
    leaves: Leaves,
    n_categories: np.ndarray,
    nodes: Scratch,
    random: np.random.RandomState,
) -> np.ndarray:
    """Leaves drawn in proportion to their weight times the density of the observed features."""
    logs = np.empty(forest.n_leaves)
    leaf_log_densities_of_row(x, forest, leaves, n_categories, nodes, logs)
    weight = np.exp(logs - logs.max())
    place = np.searchsorted(np.cumsum(weight), random.uniform(size=n) * weight.sum(), side="right")
    return place.clip(max=len(weight) - 1)


def _draw_categories(proba: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """One category for each row of probabilities; any of them where all are zero: no training row had a value."""
    total = np.cumsum(np.where(proba.any(axis=1, keepdims=True), proba, 1.0), axis=1)
    return (random.uniform(size=len(proba))[:, None] * total[:, -1:] >= total).sum(axis=1).clip(max=proba.shape[1] - 1)


def _draw_factorised(
    out: np.ndarray,
    rows: np.ndarray,
    chosen: np.ndarray,
    bounds: np.ndarray,
    leaves: Leaves,
    n_categories: np.ndarray,
    random: np.random.RandomState,
) -> None:
    """Fill the missing features of `rows` from their factorised leaves, whose cells have these bounds."""
    for f, k in enumerate(n_categories):
        missing = np.isnan(out[rows, f])
        where = rows[missing]
        entries = leaves.parameters[chosen[where], leaves.offset[f] : leaves.offset[f] + (k or 3)]
        if k:
            out[where, f] = _draw_categories(np.exp(entries), random)
        else:
            sd = np.sqrt(-0.5 / entries[:, 1])
            low, high = bounds[:, missing, f]
            out[where, f] = truncated_normal(entries[:, 0], sd, low, high, random)


def _draw_circuit(
    row: np.ndarray,
    c: int,
    bounds: np.ndarray,
    leaves: Leaves,
    n_categories: np.ndarray,
    nodes: Scratch,
    random: np.random.RandomState,
) -> None:
    """Fill the missing variables of one row, the class among them, from circuit c.

    A Gaussian that was not cut to the cell is drawn inside the cell all the same: the cell is the leaf's support.
    Where the observed variables have probability zero, the others are drawn as if nothing were observed.
    """
    circuits = leaves.circuits
    evaluate_circuit(row, -1, c, circuits, n_categories, nodes)
    if nodes.value[0, 0] == -np.inf:
        evaluate_circuit(np.full_like(row, np.nan), -1, c, circuits, n_categories, nodes)
    factors = np.full(len(row), -1, dtype=np.int64)
    uniform = random.uniform(size=circuits.node_start[c + 1] - circuits.node_start[c])
    draw_factors(row, c, circuits, nodes.value, uniform, factors)
    for v in np.flatnonzero(factors >= 0):
        o, k = circuits.factor_offset[factors[v]], n_categories[v]
        entries = circuits.parameters[None, o : o + (k or 3)]
        if k:
            row[v] = _draw_categories(np.exp(entries), random)[0]
        else:
            sd = np.sqrt(-0.5 / entries[:, 1])
            row[v] = truncated_normal(entries[:, 0], sd, bounds[:1, v], bounds[1:, v], random)[0]


def truncated_normal(
    mean: np.ndarray, sd: np.ndarray, low: np.ndarray, high: np.ndarray, random: np.random.RandomState
) -> np.ndarray:
    """Draws from Gaussians cut to (low, high], by the inverse distribution function on the side of the smaller tail."""
    a, b = (low - mean) / sd, (high - mean) / sd
    mirrored = a > 0
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    uniform = random.uniform(size=len(mean))
    z = ndtri(ndtr(a) + uniform * (ndtr(b) - ndtr(a)))
    far = np.flatnonzero(b < -FAR)
    z[far] = _draw_far(a[far], b[far], uniform[far])
    z = np.where(mirrored, -z, z)
    return np.clip(mean + sd * z, np.nextafter(low, np.inf), high)


def _draw_far(a: np.ndarray, b: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """The same for standard Gaussians cut to (a, b] far below zero, where the distribution function underflows."""
    with np.errstate(divide="ignore"):
        logs = np.logaddexp(log_ndtr(a) + np.log1p(-uniform), log_ndtr(b) + np.log(uniform))
    z = ndtri_exp(logs)
    return np.where(np.isfinite(z), z, b)  # so far off that all of the mass is at b
