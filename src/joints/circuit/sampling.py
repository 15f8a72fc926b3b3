"""Drawing from the mixture of a forest's trees: a leaf given what is observed, then the class and what is missing."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from joints.circuit.evidence import ONE_OF, Given
from joints.circuit.infer import ask_left_out
from joints.circuit.leaves import Cells, Leaves, cells_of_tree
from joints.circuit.nodes import draw_factors
from joints.circuit.posterior import Posterior, Row, evaluate_given, of_tree, posterior
from joints.forest.arrays import Forest

FAR = 30.0  # standard deviations from the mean beyond which tails are drawn from in logarithms


def draw_leaves(found: Posterior, n_samples: int, random: np.random.RandomState) -> np.ndarray:
    """So many leaves for each row, given their posterior."""
    n_rows = len(found.start) - 1
    return np.array([_choose(found.component, found.weight, found.start, i, n_samples, random) for i in range(n_rows)])


def draw_leaves_by_tree(
    given: Given, n_samples: int, forest: Forest, leaves: Leaves, random: np.random.RandomState, n_jobs: int | None
) -> np.ndarray:
    """The same for rows with plain values: a tree by the probability of the row in it, then one of its leaves.

    So only the leaves of few trees are weighed one by one.
    """
    every = np.ones((forest.n_trees, len(given.low)), dtype=bool)
    logs, _ = ask_left_out(given.low[:, :-1], every, forest, leaves, np.diff(given.start)[:-1], n_jobs)
    largest = logs.max(axis=0)
    total = np.cumsum(np.exp(logs - np.where(np.isfinite(largest), largest, 0.0)), axis=0)
    out = np.empty((len(given.low), n_samples), dtype=np.int64)
    draws = random.uniform(size=out.shape)
    tree_of = np.column_stack([(total[:-1] <= draw * total[-1]).sum(axis=0) for draw in draws.T])
    for tree in np.unique(tree_of[total[-1] > 0]):
        rows = np.flatnonzero((tree_of == tree).any(axis=1))
        start, component, weight, *_ = of_tree(given.rows(rows), -1, forest, leaves, False, tree)
        for k, i in enumerate(rows):
            own = tree_of[i] == tree
            out[i, own] = _choose(component, weight, start, k, int(own.sum()), random)
    unlikely = np.flatnonzero(total[-1] == 0)  # of probability zero in all trees
    if len(unlikely):
        out[unlikely] = draw_leaves(posterior(given.rows(unlikely), -1, forest, leaves, "mixture"), n_samples, random)
    return out


def sample(
    given: Given, chosen: np.ndarray, forest: Forest, leaves: Leaves, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Complete each row once for every leaf that was drawn for it; returns the encoded rows and classes."""
    n_samples, chosen = chosen.shape[1], chosen.ravel()
    given = given.rows(np.repeat(np.arange(len(given.low)), n_samples))
    out = np.where((given.low == given.high) & (given.low != ONE_OF), given.low, np.nan)
    n_categories, of_leaf = np.diff(given.start), leaves.circuits.of_leaf[chosen]
    where = np.flatnonzero((of_leaf < 0) & np.isnan(out[:, -1]))
    out[where, -1] = _draw_categories(leaves.class_proba[chosen[where]], random)
    tree_of = np.searchsorted(forest.leaf_start, chosen, side="right") - 1
    for tree in np.unique(tree_of):
        rows = np.flatnonzero(tree_of == tree)
        bounds = _bounds(cells_of_tree(forest, tree, n_categories[:-1]), chosen[rows] - forest.leaf_start[tree])
        factorised = of_leaf[rows] < 0
        _draw_factorised(out, rows[factorised], chosen, bounds[:, factorised], leaves, given, random)
        for i in np.flatnonzero(~factorised):
            _draw_circuit(out[rows[i]], of_leaf[rows[i]], bounds[:, i], leaves, given.rows(rows[i]), random)
    return out[:, :-1].copy(), out[:, -1].astype(np.int64)


def _choose(
    component: np.ndarray, weight: np.ndarray, start: np.ndarray, i: int, n: int, random: np.random.RandomState
) -> np.ndarray:
    """Leaves drawn by their weight for row i."""
    entries = slice(start[i], start[i + 1])
    total = np.cumsum(weight[entries])
    place = np.searchsorted(total, random.uniform(size=n) * total[-1], side="right")
    return component[entries][place.clip(max=len(total) - 1)]


def _bounds(cells: Cells, leaf: np.ndarray) -> np.ndarray:
    """The lower and upper bounds of the cells of some leaves."""
    return np.stack([cells.low, cells.high])[:, leaf]


def _draw_categories(proba: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """One category for each row of probabilities; any of them where all are zero: no training row had a value."""
    total = np.cumsum(np.where(proba.any(axis=1, keepdims=True), proba, 1.0), axis=1)
    return (random.uniform(size=len(proba))[:, None] * total[:, -1:] >= total).sum(axis=1).clip(max=proba.shape[1] - 1)


def _draw_feature(
    entries: np.ndarray, f: int, low: np.ndarray, high: np.ndarray, given: Given, random: np.random.RandomState
) -> np.ndarray:
    """One value of feature f for each row of entries, inside the leaf's bounds and what is given about it."""
    if given.start[f + 1] > given.start[f]:
        proba = np.exp(entries)
        if given.allowed.shape[1]:
            proba = proba * given.allowed[:, given.start[f] : given.start[f + 1]]
        return _draw_categories(proba, random)
    sd = np.sqrt(-0.5 / entries[:, 1])
    return truncated_normal(entries[:, 0], sd, np.fmax(low, given.low[:, f]), np.fmin(high, given.high[:, f]), random)


def _draw_factorised(
    out: np.ndarray,
    rows: np.ndarray,
    chosen: np.ndarray,
    bounds: np.ndarray,
    leaves: Leaves,
    given: Given,
    random: np.random.RandomState,
) -> None:
    """Fill the missing features of `rows` from their factorised leaves, whose cells have these bounds."""
    for f, k in enumerate(np.diff(given.start)[:-1]):
        missing = np.isnan(out[rows, f])
        where = rows[missing]
        entries = leaves.parameters[chosen[where], leaves.offset[f] : leaves.offset[f] + (k or 3)]
        low, high = bounds[:, missing, f]
        out[where, f] = _draw_feature(entries, f, low, high, given.rows(where), random)


def _draw_circuit(
    out: np.ndarray,
    c: int,
    bounds: np.ndarray,
    leaves: Leaves,
    given: Given,
    random: np.random.RandomState,
) -> None:
    """Fill the missing variables of one row, the class among them, from circuit c.

    A Gaussian that was not cut to the cell is drawn inside the cell all the same: the cell is the leaf's support.
    Where what is given has probability zero, the others are drawn as if nothing were given.
    """
    circuits, n_categories = leaves.circuits, np.diff(given.start)
    n_nodes = circuits.node_start[c + 1] - circuits.node_start[c]
    value, top = np.empty(n_nodes), np.empty(n_nodes)
    evaluate_given(Row(*given), c, circuits, bounds[0], bounds[1], value, top)
    if value[0] == -np.inf:
        nothing = np.full(len(out), np.nan)
        evaluate_given(Row(nothing, nothing, given.allowed, given.start), c, circuits, bounds[0], bounds[1], value, top)
    factors = np.full(len(out), -1, dtype=np.int64)
    draw_factors(out, c, circuits, value[:, None], random.uniform(size=n_nodes), factors)
    row = given._replace(low=given.low[None], high=given.high[None], allowed=given.allowed[None])
    for v in np.flatnonzero(factors >= 0).tolist():
        o, k = circuits.factor_offset[factors[v]], n_categories[v]
        entries = circuits.parameters[None, o : o + (k or 3)]
        low, high = bounds[:, v, None] if v < bounds.shape[1] else (np.array([-np.inf]), np.array([np.inf]))
        out[v] = _draw_feature(entries, v, low, high, row, random)[0]


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
