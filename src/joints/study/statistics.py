"""Tests that the paper lacks: average ranks over the datasets, and each method against the reference on each dataset.

Ranks follow Demšar (2006): a Friedman test of all methods over the datasets, and Nemenyi's critical difference between
two average ranks.  Single comparisons are corrected resampled t-tests (Nadeau and Bengio, 2003), because the training
folds of repeated cross-validation overlap, with Holm's correction over the datasets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq

from joints.study.entries import MetricEntry
from joints.study.summarise import LEVEL, repetition_means

SIGNIFICANCE = 0.05


def ranks(scores: pd.DataFrame, methods: Sequence[str], metrics: Sequence[MetricEntry]) -> pd.DataFrame:
    """Average ranks over the datasets for each mechanism, rate and metric; 1 is the best, ties share their ranks.

    On each dataset the methods are ranked over the repetitions that all of them have.

    Parameters
    ----------
    scores : DataFrame
        Scores of all datasets.
    methods : sequence of str
    metrics : sequence of MetricEntry

    Returns
    -------
    DataFrame
        mechanism, rate, metric, method, rank, datasets, chi_square and p_value of the Friedman test, and
        critical_difference
    """
    rows = []
    for metric in metrics:
        shared = repetition_means(scores, metric)[list(methods)].dropna()
        for key, group in shared.groupby(level=["mechanism", "rate"]):
            # rounded as in the tables: numbers that are equal there should not differ in rank
            values = group.groupby(level="dataset").mean().round(metric.decimals)
            rank = values.rank(axis=1, ascending=metric.sign < 0).mean()
            chi_square, p_value = friedman_test(values.to_numpy())
            about = len(values), chi_square, p_value, critical_difference(len(methods), len(values))
            rows += [(*key, metric.name, method, rank[method], *about) for method in methods]
    names = ["mechanism", "rate", "metric", "method", "rank"]
    return pd.DataFrame(rows, columns=[*names, "datasets", "chi_square", "p_value", "critical_difference"])


def friedman_test(accuracy: np.ndarray) -> tuple[float, float]:
    """Friedman's chi-square with its correction for ties, and the p-value; one row per dataset, one column per method.

    If nothing differs, or with fewer than three methods or two datasets, there is nothing to test: returns 0 and 1.
    """
    n, k = accuracy.shape
    if k < 3 or n < 2 or not np.ptp(accuracy, axis=1).any():
        return 0.0, 1.0
    chi_square, p_value = stats.friedmanchisquare(*accuracy.T)
    return float(chi_square), float(p_value)


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Nemenyi's critical difference of two average ranks at the 5 % level.

    >>> round(critical_difference(4, 14), 2)  # the example of Demšar (2006)
    1.25
    """
    q = stats.studentized_range.ppf(1 - SIGNIFICANCE, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def comparisons(
    scores: pd.DataFrame, methods: Sequence[str], reference: str, metrics: Sequence[MetricEntry]
) -> pd.DataFrame:
    """Every method against the reference on every dataset, over the repetitions that both have.

    Returns
    -------
    DataFrame
        method, mechanism, rate, metric, dataset, difference (in the metric's unit), t, p_value, p_holm (corrected over
        the datasets), outcome (``win``, ``tie`` or ``loss`` of the method at the 5 % level)
    """
    keys = ["mechanism", "rate", "dataset", "repetition", "fold"]
    rows = []
    for metric in metrics:
        wide = scores.pivot(index=keys, columns="method", values=metric.name)
        for method in methods:
            if method == reference:
                continue
            differences = metric.scale * (wide[method] - wide[reference]).dropna()  # repetitions that both have
            for key, group in differences.groupby(["mechanism", "rate"]):
                tests = [
                    (dataset, values.mean(), *corrected_t_test(values.to_numpy(), _n_folds(values)))
                    for dataset, values in group.groupby("dataset")
                ]
                corrected = holm([test[3] for test in tests])
                for (dataset, mean, t, p_value), p_holm in zip(tests, corrected, strict=True):
                    better = metric.sign * mean > 0
                    outcome = "tie" if p_holm >= SIGNIFICANCE else "win" if better else "loss"
                    rows.append((method, *key, metric.name, dataset, mean, t, p_value, p_holm, outcome))
    names = ["method", "mechanism", "rate", "metric", "dataset", "difference", "t", "p_value", "p_holm", "outcome"]
    return pd.DataFrame(rows, columns=names)


def agreement_by_chance(n: int, m: int) -> tuple[float, float]:
    """How well means of n and of m repetitions of one experiment agree, if their intervals are Student's.

    Two intervals added in quadrature are more than the interval of the difference, so more than 95 % agree.

    Returns
    -------
    share, median : float
        The probability of |z| <= 1, and the median of |z|, for the z of `joints.study.summarise.z_score`.

    >>> [round(value, 3) for value in agreement_by_chance(10, 10)]
    [0.964, 0.304]
    """
    quantiles = (np.arange(500) + 0.5) / 500

    def squared_intervals(k: int) -> np.ndarray:  # of the mean of k normal values with variance 1, at the quantiles
        return stats.t.ppf((1 + LEVEL) / 2, k - 1) ** 2 * stats.chi2.ppf(quantiles, k - 1) / (k - 1) / k

    widths = np.sqrt(np.add.outer(squared_intervals(n), squared_intervals(m)) / (1 / n + 1 / m))

    def share(z: float) -> float:
        return float(np.mean(2 * stats.norm.cdf(z * widths) - 1))

    return share(1.0), float(brentq(lambda z: share(z) - 0.5, 0.0, 1.0))


def _n_folds(values: pd.Series) -> int:
    return values.index.get_level_values("fold").nunique()


def corrected_t_test(differences: np.ndarray, folds: int) -> tuple[float, float]:
    """Student's t-test of paired differences from repeated cross-validation, by Nadeau and Bengio.

    The variance of the mean is multiplied by 1 + J / (folds - 1) for J differences: 1 / (folds - 1) is the ratio of
    test to training rows.

    Returns
    -------
    t, p_value : float
        Two-sided.
    """
    n = len(differences)
    mean = float(np.mean(differences))
    deviation = float(np.std(differences, ddof=1)) if n > 1 else 0.0
    if deviation == 0.0:
        return (0.0, 1.0) if mean == 0.0 or n < 2 else (float(np.sign(mean) * np.inf), 0.0)
    t = mean / (deviation * np.sqrt(1 / n + 1 / (folds - 1)))
    return float(t), float(2 * stats.t.sf(abs(t), n - 1))


def holm(p_values: Sequence[float]) -> np.ndarray:
    """p-values corrected by Holm's step-down procedure.

    >>> holm([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(corrected, 1.0)
    return out


def tally(table: pd.DataFrame) -> pd.DataFrame:
    """Wins, ties and losses of every method against the reference."""
    keys = ["method", "mechanism", "rate", "metric"]
    counts = table.groupby([*keys, "outcome"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=["win", "tie", "loss"], fill_value=0)
    return counts.reset_index().rename(columns={"win": "wins", "tie": "ties", "loss": "losses"})
