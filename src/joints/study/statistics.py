"""Tests that the paper lacks: average ranks over the datasets, and each method against KNN on each dataset.

Ranks follow Demšar (2006): a Friedman test of all methods over the datasets, and Nemenyi's critical difference between
two average ranks.  Single comparisons are corrected resampled t-tests (Nadeau and Bengio, 2003), because the training
folds of repeated cross-validation overlap, with Holm's correction over the datasets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from joints.study.protocol import REFERENCE
from joints.study.summarise import repetition_means

SIGNIFICANCE = 0.05


def ranks(scores: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Average ranks over the datasets at each missing rate; 1 is the best, ties share their ranks.

    On each dataset the methods are ranked over the repetitions that all of them have.

    Parameters
    ----------
    scores : DataFrame
        Scores of all datasets.
    methods : sequence of str

    Returns
    -------
    DataFrame
        rate, method, rank, datasets, chi_square and p_value of the Friedman test at that rate, critical_difference
    """
    rows = []
    for rate, group in repetition_means(scores)[list(methods)].dropna().groupby(level="rate"):
        # two decimals, as in the tables: equal numbers there should not differ in rank
        accuracy = group.groupby(level="dataset").mean().round(2)
        rank = accuracy.rank(axis=1, ascending=False).mean()
        chi_square, p_value = friedman_test(accuracy.to_numpy())
        difference = critical_difference(len(methods), len(accuracy))
        rows += [(rate, method, rank[method], len(accuracy), chi_square, p_value, difference) for method in methods]
    names = ["rate", "method", "rank", "datasets", "chi_square", "p_value", "critical_difference"]
    return pd.DataFrame(rows, columns=names)


def friedman_test(accuracy: np.ndarray) -> tuple[float, float]:
    """Friedman's chi-square with its correction for ties, and the p-value; one row a dataset, one column a method.

    Without any difference, or with fewer than three methods or two datasets, there is nothing to test: 0 and 1.
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


def comparisons(scores: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Every method against KNN on every dataset and at every rate, over the repetitions that both have.

    Returns
    -------
    DataFrame
        method, rate, dataset, difference (percent), t, p_value, p_holm (corrected over the datasets), outcome
        (``win``, ``tie`` or ``loss`` of the method at the 5 % level)
    """
    keys = ["rate", "dataset", "repetition", "fold"]
    wide = scores.pivot(index=keys, columns="method", values="accuracy")
    rows = []
    for method in methods:
        if method == REFERENCE:
            continue
        differences = 100 * (wide[method] - wide[REFERENCE]).dropna()  # repetitions that both have
        for rate, at_rate in differences.groupby("rate"):
            tests = [
                (dataset, values.mean(), *corrected_t_test(values.to_numpy(), _n_folds(values)))
                for dataset, values in at_rate.groupby("dataset")
            ]
            corrected = holm([test[3] for test in tests])
            for (dataset, mean, t, p_value), p_holm in zip(tests, corrected, strict=True):
                outcome = "tie" if p_holm >= SIGNIFICANCE else "win" if mean > 0 else "loss"
                rows.append((method, rate, dataset, mean, t, p_value, p_holm, outcome))
    names = ["method", "rate", "dataset", "difference", "t", "p_value", "p_holm", "outcome"]
    return pd.DataFrame(rows, columns=names)


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
    """Wins, ties and losses of every method against KNN at every rate."""
    counts = table.groupby(["method", "rate", "outcome"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=["win", "tie", "loss"], fill_value=0)
    return counts.reset_index().rename(columns={"win": "wins", "tie": "ties", "loss": "losses"})
