"""Drawing from the mixture of a forest's trees: a leaf given what is observed, then the class and what is missing."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from joints.circuit.infer import leaf_log_densities_of_row
from joints.circuit.leaves import FactorisedLeaves, cells
from joints.forest.arrays import Forest


def sample(
    X: np.ndarray,
    n_samples: int,
    forest: Forest,
    leaves: FactorisedLeaves,
    n_categories: np.ndarray,
    random: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Complete each row `n_samples` times; returns the encoded rows and their classes."""
    chosen = np.concatenate([_choose_leaves(x, n_samples, forest, leaves, n_categories, random) for x in X])
    out = np.repeat(X, n_samples, axis=0)
    classes = _draw_categories(leaves.class_proba[chosen], random)
    order = np.argsort(chosen, kind="stable")
    tree_of = np.searchsorted(forest.leaf_start, chosen[order], side="right") - 1
    for tree in np.unique(tree_of):
        rows = order[tree_of == tree]
        first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        low, high, _ = cells(*forest.splits, n_categories, forest.tree_start[tree], last - first)
        _draw_features(out, rows, chosen[rows], chosen[rows] - first, low, high, leaves, n_categories, random)
    return out, classes


def _choose_leaves(
    x: np.ndarray,
    n: int,
    forest: Forest,
    leaves: FactorisedLeaves,
    n_categories: np.ndarray,
    random: np.random.RandomState,
) -> np.ndarray:
    """Leaves drawn in proportion to their weight times the density of the observed features."""
    logs = np.empty(forest.n_leaves)
    leaf_log_densities_of_row(
        x, forest.tree_start, forest.leaf_start, *forest.splits, n_categories, leaves.offset, leaves.parameters,
        leaves.log_weight, logs,
    )  # fmt: skip
    weight = np.exp(logs - logs.max())
    return np.searchsorted(np.cumsum(weight), random.uniform(size=n) * weight.sum(), side="right").clip(
        max=len(weight) - 1
    )


def _draw_categories(proba: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    total = np.cumsum(proba, axis=1)
    return (random.uniform(size=len(proba))[:, None] * total[:, -1:] >= total).sum(axis=1).clip(max=proba.shape[1] - 1)


def _draw_features(
    out: np.ndarray,
    rows: np.ndarray,
    leaf: np.ndarray,
    cell: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    leaves: FactorisedLeaves,
    n_categories: np.ndarray,
    random: np.random.RandomState,
) -> None:
    """Fill the missing features of `rows`, whose leaves lie in one tree with the cells (`low`, `high`]."""
    for f, k in enumerate(n_categories):
        missing = np.isnan(out[rows, f])
        where, at, in_cell = rows[missing], leaf[missing], cell[missing]
        o = leaves.offset[f]
        if k:
            out[where, f] = _draw_categories(np.exp(leaves.parameters[at, o : o + k]), random)
            continue
        mean = leaves.parameters[at, o]
        sd = np.sqrt(-0.5 / leaves.parameters[at, o + 1])
        out[where, f] = truncated_normal(mean, sd, low[in_cell, f], high[in_cell, f], random)


def truncated_normal(
    mean: np.ndarray, sd: np.ndarray, low: np.ndarray, high: np.ndarray, random: np.random.RandomState
) -> np.ndarray:
    """Draws from Gaussians cut to (low, high], by the inverse distribution function on the side of the smaller tail."""
    a, b = (low - mean) / sd, (high - mean) / sd
    mirrored = a > 0
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    z = ndtri(ndtr(a) + random.uniform(size=len(mean)) * (ndtr(b) - ndtr(a)))
    z = np.where(mirrored, -z, z)
    return np.clip(mean + sd * z, np.nextafter(low, np.inf), high)
