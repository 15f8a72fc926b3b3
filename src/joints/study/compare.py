"""All datasets together: the tables that compare the methods with each other and with the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from joints.study import statistics, summarise
from joints.study.entries import MethodEntry, MetricEntry, View

PAPER_RATE = 0.3  # of the paper's Table 1: a run with another rate is not compared with it


def comparison_tables(
    scores: pd.DataFrame,
    means: pd.DataFrame,
    datasets: pd.DataFrame,
    paper: pd.DataFrame,
    methods: Mapping[str, MethodEntry],
    metrics: Sequence[MetricEntry],
    reference: str,
    rivals: Sequence[str],
    view: View,
    rate: float,
) -> dict[str, pd.DataFrame]:
    """Gains, agreement, ranks, comparisons and tally, by name.

    Parameters
    ----------
    scores, means : DataFrame
        Of all datasets.
    datasets : DataFrame
        The table of datasets of the run.
    paper : DataFrame
        The paper's Table 1.
    methods : mapping from name to MethodEntry
        Those of the run.
    metrics : sequence of MetricEntry
    reference : str
        The method that the others are compared with.
    rivals : sequence of str
        The methods that gains are measured over.
    view, rate : View and float
        The mechanism, metric and missing rate of the paper's Table 1.
    """
    shown = [entry for entry in methods.values() if entry.shown]
    cells = summarise.at(means, **view.keys, rate=rate)
    theirs = paper if rate == PAPER_RATE else paper.iloc[:0]
    tested = statistics.comparisons(scores, list(methods), reference, metrics)
    return {
        "gains": summarise.gains(scores, rivals, metrics),
        "agreement": summarise.agreement(cells, datasets, theirs, summarise.in_file_order(shown, list(paper.columns))),
        "ranks": statistics.ranks(scores, [entry.name for entry in shown], metrics),
        "comparisons": tested,
        "tally": statistics.tally(tested),
    }
