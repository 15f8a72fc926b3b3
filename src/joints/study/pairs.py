"""Every method against every other over the datasets: Wilcoxon's test, and a Bayesian signed-rank test with a region of
practical equivalence.

The Bayesian test is that of Benavoli, Corani, Mangili and Zaffalon (2014; Benavoli et al., 2017, "Time for a change").
The differences of two methods on the datasets are draws from an unknown distribution with a Dirichlet process as its
prior, of strength 1/2 and at 0.  Given differences z[1], ..., z[n] and z[0] = 0, its posterior has weights w from
Dirichlet(1/2, 1, ..., 1), and

    better = sum of w[i] w[j] over all pairs with (z[i] + z[j]) / 2 > r
    worse  = sum of w[i] w[j] over all pairs with (z[i] + z[j]) / 2 < -r
    equal  = 1 - better - worse

for a region of practical equivalence from -r to r.  The answer is how often each of the three is the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from joints.study.entries import MetricEntry
from joints.study.protocol import seeded
from joints.study.statistics import holm
from joints.study.summarise import repetition_means

EQUIVALENCE = 0.5  # in percent, the region of practical equivalence to either side
PRIOR = 0.5
DRAWS = 20_000
SEED = 2017


def pairs(scores: pd.DataFrame, methods: Sequence[str], metrics: Sequence[MetricEntry]) -> pd.DataFrame:
    """All pairs of methods, over the datasets that both have, for each mechanism, rate and metric.

    Returns
    -------
    DataFrame
        first, second, mechanism, rate, metric, datasets, gain (the mean difference, positive where the first is
        better), p_value of Wilcoxon's signed-rank test, p_holm (corrected over the pairs), and the probabilities that
        the first is better, equal for all practical purposes, or worse
    """
    rows: list[tuple] = []
    for metric in metrics:
        values = metric.sign * repetition_means(scores, metric)[list(methods)]
        for key, group in values.groupby(level=["mechanism", "rate"]):
            found = [
                (one, other, (group[one] - group[other]).dropna().groupby(level="dataset").mean().to_numpy())
                for one, other in combinations(methods, 2)
            ]
            tests = [(one, other, z, wilcoxon(z)) for one, other, z in found if len(z)]
            corrected = holm([p for *_, p in tests])
            region = EQUIVALENCE * metric.scale / 100
            for (one, other, z, p_value), p_holm in zip(tests, corrected, strict=True):
                about = one, other, *key, metric.name, len(z), z.mean(), p_value, p_holm
                rows.append((*about, *signed_rank(z, region)))
    names = ["first", "second", "mechanism", "rate", "metric", "datasets", "gain", "p_value", "p_holm"]
    return pd.DataFrame(rows, columns=[*names, "better", "equal", "worse"])


def wilcoxon(differences: np.ndarray) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test; 1 if nothing differs.  Zeros count half for each sign."""
    if not np.any(differences):
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)


def signed_rank(differences: np.ndarray, region: float, draws: int = DRAWS) -> tuple[float, float, float]:
    """The posterior probabilities that differences are positive, within the region around 0, and negative.

    >>> signed_rank(np.full(20, 3.0), 0.5), signed_rank(np.zeros(20), 0.5)
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    """
    z = np.append(0.0, differences)
    i, j = np.triu_indices(len(z))
    means = (z[i] + z[j]) / 2
    products = _products(len(z), draws)
    better, worse = products @ (means > region), products @ (means < -region)
    winner = np.argmax(np.column_stack([1 - better - worse, better, worse]), axis=1)
    equal, positive, negative = np.bincount(winner, minlength=3) / draws
    return float(positive), float(equal), float(negative)


@cache
def _products(n: int, draws: int) -> np.ndarray:
    """For random weights of n observations, the first of which is the prior's, the products of all pairs."""
    weights = seeded(SEED).dirichlet([PRIOR, *[1.0] * (n - 1)], draws)
    i, j = np.triu_indices(n)
    return weights[:, i] * weights[:, j] * np.where(i == j, 1.0, 2.0)
