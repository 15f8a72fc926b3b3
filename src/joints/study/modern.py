"""What the modern study asks beyond the paper's: gains over the best imputation, costs, reliability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from joints.study.entries import MethodEntry, MetricEntry
from joints.study.summarise import half_width, repetition_means

IMPUTATION = "imputation"  # the family of methods that fill in values before the forest


def gains_over_best(
    scores: pd.DataFrame, methods: Mapping[str, MethodEntry], metrics: Sequence[MetricEntry]
) -> pd.DataFrame:
    """Gain over the best imputation, average and 95 % interval over the datasets.

    The best is, for each mechanism, rate and metric, the imputation with the best average over the datasets.

    Returns
    -------
    DataFrame
        mechanism, rate, metric, best (the imputation), method, gain (positive where the method is better), interval, n
        (datasets)
    """
    imputations = [name for name, entry in methods.items() if entry.family == IMPUTATION]
    rows = []
    for metric in metrics if imputations else ():
        values = metric.sign * repetition_means(scores, metric)[list(methods)]
        for key, group in values.groupby(level=["mechanism", "rate"]):
            means = group.groupby(level="dataset").mean()
            best = str(means[imputations].mean().idxmax())
            for name in methods:  # over the repetitions that both have
                gain = (group[name] - group[best]).dropna().groupby(level="dataset").mean().to_numpy()
                rows.append((*key, metric.name, best, name, gain.mean(), half_width(gain), len(gain)))
    return pd.DataFrame(rows, columns=["mechanism", "rate", "metric", "best", "method", "gain", "interval", "n"])


def costs(
    seconds: pd.DataFrame, forest_seconds: pd.DataFrame, needs_forest: Mapping[str, bool], mechanism: str
) -> pd.DataFrame:
    """CPU seconds per fold of every model on every dataset: for its forest, for fitting, and for one test fold.

    Parameters
    ----------
    seconds : DataFrame
        What `joints.study.scores.read_seconds` gives.
    forest_seconds : DataFrame
        What `joints.study.forests.grow_into` gives.
    needs_forest : mapping from model to bool
        Whether a model uses the shared forest, which then is part of its costs.
    mechanism : str
        Times of other mechanisms are left out.

    Returns
    -------
    DataFrame
        dataset, model, forest_seconds, fit_seconds, predict_seconds
    """
    own = seconds[seconds["mechanism"] == mechanism]
    found = own.groupby(["dataset", "model"], sort=False)[["fit_seconds", "predict_seconds"]].mean().reset_index()
    growing = found["dataset"].map(forest_seconds.groupby("dataset")["forest_seconds"].mean())
    found.insert(2, "forest_seconds", growing.where(found["model"].map(needs_forest), 0.0))
    return found


def reliability(bins: pd.DataFrame, methods: Mapping[str, MethodEntry]) -> pd.DataFrame:
    """Confidence and share of correct predictions by bin of confidence, over all datasets and repetitions.

    Every dataset has the same weight.

    Returns
    -------
    DataFrame
        method, mechanism, rate, bin, weight (share of the predictions), confidence, correct (both shares)
    """
    totals = bins.groupby(["dataset", "model", "answer", "mechanism", "rate"])["rows"].transform("sum")
    shares = bins.assign(**{name: bins[name] / totals for name in ("rows", "confidence", "correct")})
    tables = []
    for name, entry in methods.items():
        own = shares[(shares["model"] == entry.model) & (shares["answer"] == entry.answer)]
        found = own.groupby(["mechanism", "rate", "bin"])[["rows", "confidence", "correct"]].sum().reset_index()
        tables.append(found.assign(method=name))
    table = pd.concat(tables, ignore_index=True)
    weight = table.groupby(["method", "mechanism", "rate"])["rows"].transform("sum")
    for name in ("confidence", "correct"):
        table[name] = table[name] / table["rows"]
    table["weight"] = table["rows"] / weight
    return table[["method", "mechanism", "rate", "bin", "weight", "confidence", "correct"]]


def read_tables(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Several CSV files as one table."""
    return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
