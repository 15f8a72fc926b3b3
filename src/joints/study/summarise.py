"""From scores to the paper's numbers: means with 95 % intervals, Table 1, gains, and agreement with the paper.

All functions map tables to tables.  Summaries are long tables: keys, the metric, and the numbers in the metric's unit.
Scores are fractions; a metric in percent is multiplied by 100 here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from joints.study.entries import MethodEntry, MetricEntry

LEVEL = 0.95
FEWEST_REPETITIONS = 5  # with fewer, their means say too little about how far they vary


def means(scores: pd.DataFrame, methods: Sequence[str], metrics: Sequence[MetricEntry]) -> pd.DataFrame:
    """Means and 95 % intervals, sorted by dataset, mechanism, metric, rate and method.

    The interval is Student's, over what `interval_sample` gives.

    Returns
    -------
    DataFrame
        dataset, method, mechanism, rate, metric, mean, interval (half its width; 0 if there is a single value),
        repetitions, folds (of each)
    """
    keys = ["dataset", "method", "mechanism", "rate"]
    rows = []
    for key, group in scores[scores["method"].isin(methods)].groupby(keys, sort=False):
        counts = group["repetition"].nunique(), group["fold"].nunique()
        for metric in metrics:
            mean = group.groupby("repetition")[metric.name].mean().mean()
            values = metric.scale * interval_sample(group[metric.name], group["repetition"])
            rows.append((*key, metric.name, metric.scale * mean, half_width(values), *counts))
    table = pd.DataFrame(rows, columns=[*keys, "metric", "mean", "interval", "repetitions", "folds"])
    order = {"method": list(methods), "metric": [metric.name for metric in metrics]}
    return table.sort_values(
        ["dataset", "mechanism", "metric", "rate", "method"],
        key=lambda column: column.map(order[column.name].index) if column.name in order else column,
        ignore_index=True,
    )


def interval_sample(values: pd.Series, repetitions: pd.Series) -> np.ndarray:
    """The values that an interval is over: the means of the repetitions, or all folds of fewer than five repetitions.

    The first is the paper's.  But two or three means may agree, or not, by luck: their intervals range from nothing to
    tens of points.  The folds of a repetition share the rows of the dataset among them, so their mean varies less than
    that of independent ones, and an interval over folds is rather too wide than too narrow.  On nine datasets of the
    paper, intervals of two repetitions of five folds hold the mean of other repetitions in 97 of 100 cells, and are
    1.5 points wide to either side; over the two means it is 94 of 100 and 4.5 points.  (Nadeau and Bengio's correction
    is for new data, of which a further repetition has none: such intervals would hold it always.)

    >>> interval_sample(pd.Series([0.5, 0.7, 0.6, 0.8]), pd.Series([1, 1, 2, 2])).tolist()
    [0.5, 0.7, 0.6, 0.8]
    """
    means = values.groupby(repetitions).mean()
    return (means if len(means) >= FEWEST_REPETITIONS else values).to_numpy()


def at(table: pd.DataFrame, **keys: object) -> pd.DataFrame:
    """The rows of a long table with these keys, for example ``at(means, mechanism="mcar", metric="accuracy")``."""
    for name, value in keys.items():
        table = table[table[name] == value]
    return table


def repetitions_sentence(table: pd.DataFrame, labels: Mapping[str, str], datasets: Mapping[str, str]) -> str:
    """The numbers of repetitions and folds behind the means, the most common first, and what the intervals are over.

    Parameters
    ----------
    table : DataFrame
        What `means` gives.
    labels : mapping from method to its label
        The methods to consider.
    datasets : mapping from dataset to its label

    >>> cells = pd.DataFrame({"dataset": "breast", "method": ["knn", "gef"], "repetitions": [10, 10], "folds": 5})
    >>> repetitions_sentence(cells, {"knn": "KNN", "gef": "GeF"}, {"breast": "wdbc"})
    'Repetitions x folds: 10 x 5.  Intervals are over the means of the repetitions.'
    """
    cells = table[table["method"].isin(list(labels))].drop_duplicates(["dataset", "method"])
    groups = sorted(cells.groupby(["repetitions", "folds"]), key=lambda item: (len(item[1]), item[0]), reverse=True)
    parts: list[str] = []
    for (repetitions, folds), group in groups:
        names = [
            f"{datasets[str(dataset)]} ({', '.join(labels[method] for method in rows['method'])})"
            for dataset, rows in group.groupby("dataset", sort=False)
        ]
        parts.append(f"{repetitions} x {folds}" + (f" for {', '.join(names)}" if parts else ""))
    counts = f"{', except '.join(parts[:2])}{''.join('; ' + part for part in parts[2:])}"
    return f"Repetitions x folds: {counts}.  Intervals are over {_interval_words(cells['repetitions'])}."


def _interval_words(repetitions: pd.Series) -> str:
    few = repetitions < FEWEST_REPETITIONS
    if few.all():
        return "the folds"
    exception = f", or over the folds of fewer than {FEWEST_REPETITIONS} repetitions" if few.any() else ""
    return f"the means of the repetitions{exception}"


def half_width(values: np.ndarray) -> float:
    """Half the width of Student's 95 % interval for a mean.

    >>> round(half_width(np.array([1.0, 2.0, 3.0])), 3)
    2.484
    """
    n = len(values)
    if n < 2:
        return 0.0
    return float(stdtrit(n - 1, (1 + LEVEL) / 2) * np.std(values, ddof=1) / np.sqrt(n))


def dataset_table(table: pd.DataFrame, methods: Sequence[MethodEntry], metric: MetricEntry) -> pd.DataFrame:
    """The means of one dataset as the paper's LaTeX reads them: one row per rate.

    Parameters
    ----------
    table : DataFrame
        What `means` gives, for one dataset, mechanism and metric.
    methods : sequence of MethodEntry
        In the order of their columns; one without means gets empty columns.
    metric : MetricEntry
    """
    rates = sorted(table["rate"].unique())
    by_method = {method: rows.set_index("rate") for method, rows in table.groupby("method")}
    out: dict[str, list] = {"Missing": [f"{100 * rate:g}" for rate in rates]}
    for entry in methods:
        found = by_method.get(entry.name)
        for name, source in zip(entry.columns, ("mean", "interval"), strict=True):
            values = (
                [np.nan] * len(rates) if found is None else found.loc[rates, source].round(metric.decimals).tolist()
            )
            out[name] = values
    wide = pd.DataFrame(out)
    wide["lower"] = bold_bound(wide, [entry.columns for entry in methods if entry.name in by_method], metric)
    return wide


def bold_bound(table: pd.DataFrame, columns: Sequence[tuple[str, str]], metric: MetricEntry) -> np.ndarray:
    """For each row, the best mean made worse by its own interval: all means that are no worse are set in bold."""
    best = (metric.sign * table[[mean for mean, _ in columns]]).to_numpy().argmax(axis=1)
    values = [table[columns[b][0]].iloc[i] - metric.sign * table[columns[b][1]].iloc[i] for i, b in enumerate(best)]
    return np.round(values, metric.decimals)


def table1(
    table: pd.DataFrame, datasets: pd.DataFrame, methods: Sequence[MethodEntry], metric: MetricEntry
) -> pd.DataFrame:
    """The paper's Table 1, with its columns: every dataset, the smallest first.

    Parameters
    ----------
    table : DataFrame
        What `means` gives, for one mechanism, metric and rate.
    datasets : DataFrame
        The table of datasets of the run.
    methods : sequence of MethodEntry
        In the order of their columns.
    metric : MetricEntry
    """
    cells = table.set_index(["dataset", "method"])
    rows = []
    for data in datasets.sort_values("n", kind="stable").to_dict("records"):
        row = {
            "Dataset": data["label"],
            "n": data["n"],
            "cat": data["categorical"],
            "cont": data["continuous"],
            "nc": data["classes"],
            "maj": data["majority"],
        }
        for position, source in enumerate(("mean", "interval")):
            for entry in methods:
                key = (data["dataset"], entry.name)
                found = round(cells.loc[key, source], metric.decimals) if key in cells.index else np.nan
                row[entry.columns[position]] = found
        rows.append(row)
    out = pd.DataFrame(rows)
    present = [entry.columns for entry in methods if out[entry.columns[0]].notna().any()]
    out["lower"] = bold_bound(out, present, metric)
    return out


def in_file_order(methods: Sequence[MethodEntry], columns: Sequence[str]) -> list[MethodEntry]:
    """Methods in the order of their columns in a file of the paper; those that it lacks come last."""
    places = {name: i for i, name in enumerate(columns)}
    return sorted(methods, key=lambda entry: places.get(entry.columns[0], len(places)))


def repetition_means(scores: pd.DataFrame, metric: MetricEntry) -> pd.DataFrame:
    """A metric by mechanism, rate, dataset and repetition, one column per method; NaN where a method has none."""
    keys = ["mechanism", "rate", "dataset", "repetition"]
    return metric.scale * scores.pivot_table(index=keys, columns="method", values=metric.name, sort=False)


def gains(scores: pd.DataFrame, rivals: Sequence[str], metrics: Sequence[MetricEntry]) -> pd.DataFrame:
    """Gain over each rival, average and 95 % interval over the datasets; in accuracy over KNN it is Figure 2.

    A gain is positive where the method is better.  On each dataset two methods are compared over the repetitions that
    both have.

    Returns
    -------
    DataFrame
        over (the rival), method, mechanism, rate, metric, gain, interval, n (datasets)
    """
    rows = []
    for metric in metrics:
        values = metric.sign * repetition_means(scores, metric)
        for rival in rivals:
            groups = values.sub(values[rival], axis=0).groupby(level=["mechanism", "rate", "dataset"], sort=False)
            differences = groups.mean()
            rows += [
                (rival, method, *key, metric.name, each.mean(), half_width(each.to_numpy()), len(each))
                for method in scores["method"].unique()
                for key, each in differences[method].dropna().groupby(["mechanism", "rate"])
            ]
    return pd.DataFrame(rows, columns=["over", "method", "mechanism", "rate", "metric", "gain", "interval", "n"])


def agreement(
    table: pd.DataFrame, datasets: pd.DataFrame, paper: pd.DataFrame, methods: Sequence[MethodEntry]
) -> pd.DataFrame:
    """Every cell of Table 1 for which the paper has a number, beside it; the smallest dataset first.

    z is the difference divided by the two half-widths added in quadrature.

    Parameters
    ----------
    table : DataFrame
        What `means` gives, for the paper's mechanism, metric and rate.
    datasets : DataFrame
        The table of datasets of the run.
    paper : DataFrame
        The paper's Table 1.
    methods : sequence of MethodEntry

    Returns
    -------
    DataFrame
        dataset, method, ours, ours_interval, repetitions, folds, paper, paper_interval, difference, z, verdict
        (``within`` up to 1, ``near`` up to 2, else ``off``)
    """
    theirs = paper.set_index("Dataset")
    cells = table.set_index(["dataset", "method"])
    rows = []
    for data in datasets.sort_values("n", kind="stable").to_dict("records"):
        for entry in methods:
            key = (data["dataset"], entry.name)
            known = data["label"] in theirs.index and entry.columns[0] in theirs.columns
            if not known or key not in cells.index:
                continue
            cell = cells.loc[key]
            a, width = round(cell["mean"], 2), round(cell["interval"], 2)
            b, its_width = (float(theirs.loc[data["label"], name]) for name in entry.columns)
            z = z_score(a - b, width, its_width)
            counts = int(cell["repetitions"]), int(cell["folds"])
            difference = round(a - b, 2), round(z, 3), verdict(z)
            rows.append((data["label"], entry.name, a, width, *counts, b, its_width, *difference))
    names = ["dataset", "method", "ours", "ours_interval", "repetitions", "folds"]
    names += ["paper", "paper_interval", "difference", "z", "verdict"]
    return pd.DataFrame(rows, columns=names)


def z_score(difference: float, interval: float, other: float) -> float:
    """A difference divided by the two half-widths added in quadrature; infinite if both are 0 and it is not.

    >>> z_score(1.0, 3.0, 4.0)
    0.2
    """
    width = float(np.hypot(interval, other))
    return difference / width if width else np.inf * np.sign(difference) if difference else 0.0


def verdict(z: float) -> str:
    """``within`` the intervals, ``near`` them, or ``off``."""
    return "within" if abs(z) <= 1 else "near" if abs(z) <= 2 else "off"


def agreement_sentence(table: pd.DataFrame) -> str:
    """The agreement in one line.

    >>> agreement_sentence(pd.DataFrame({"verdict": ["within", "off"], "z": [0.5, -3.0]}))
    '1 of 2 cells of Table 1 within the intervals (|z| <= 1), median |z| 1.75'
    """
    if table.empty:
        return "none of the paper's cells is in this run"
    within = int((table["verdict"] == "within").sum())
    return (
        f"{within} of {len(table)} cells of Table 1 within the intervals (|z| <= 1), "
        f"median |z| {table['z'].abs().median():.2f}"
    )
