"""Scores become the paper's numbers: means with 95 % intervals, Table 1, gains over KNN, and agreement with the paper.

Tables in, tables out.  Accuracies are fractions in the scores and percent from here on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from joints.study.protocol import REFERENCE, TABLE_RATE

LEVEL = 0.95
TABLE_METHODS = ["mean", "surrogate", "friedman", "knn", "missforest", "gef", "gef_lspn"]  # order of the paper's file


def means(scores: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Means and 95 % intervals of one or more datasets, in percent.

    The interval is Student's t over the means of the repetitions, or over the folds where there is one repetition.

    Returns
    -------
    DataFrame
        dataset, method, rate, mean, interval (half its width; 0 where there is a single value), repetitions, folds (of
        each), and the means of log-loss and Brier score.
    """
    rows = []
    chosen = scores[scores["method"].isin(methods)]
    for (dataset, method, rate), group in chosen.groupby(["dataset", "method", "rate"], sort=False):
        per_repetition = group.groupby("repetition")["accuracy"].mean()
        values = 100 * (per_repetition if len(per_repetition) > 1 else group["accuracy"]).to_numpy()
        mean = 100 * per_repetition.mean()
        rows.append((dataset, method, rate, mean, half_width(values), len(per_repetition), group["fold"].nunique(),
                     group["log_loss"].mean(), group["brier"].mean()))  # fmt: skip
    names = ["dataset", "method", "rate", "mean", "interval", "repetitions", "folds", "log_loss", "brier"]
    table = pd.DataFrame(rows, columns=names)
    order = {name: i for i, name in enumerate(methods)}
    return table.sort_values(
        ["dataset", "rate", "method"], key=lambda column: column.map(order) if column.name == "method" else column
    ).reset_index(drop=True)


def repetitions_sentence(table: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """How many repetitions and folds means rest on, most of them first.

    Parameters
    ----------
    table : DataFrame
        What `means` gives.
    labels : mapping from method to its label
        The methods that are meant.

    >>> cells = pd.DataFrame({"dataset": "bank", "method": ["knn", "gef"], "repetitions": [3, 10], "folds": 5})
    >>> repetitions_sentence(cells, {"knn": "KNN", "gef": "GeF"})
    'Repetitions x folds: 10 x 5, except 3 x 5 for bank (KNN).'
    """
    cells = table[table["method"].isin(list(labels))].drop_duplicates(["dataset", "method"])
    groups = sorted(cells.groupby(["repetitions", "folds"]), key=lambda item: (len(item[1]), item[0]), reverse=True)
    parts: list[str] = []
    for (repetitions, folds), group in groups:
        names = [
            f"{dataset} ({', '.join(labels[method] for method in rows['method'])})"
            for dataset, rows in group.groupby("dataset", sort=False)
        ]
        parts.append(f"{repetitions} x {folds}" + (f" for {', '.join(names)}" if parts else ""))
    return f"Repetitions x folds: {', except '.join(parts[:2])}{''.join('; ' + part for part in parts[2:])}."


def half_width(values: np.ndarray) -> float:
    """Half the width of Student's 95 % interval for a mean.

    >>> round(half_width(np.array([1.0, 2.0, 3.0])), 3)
    2.484
    """
    n = len(values)
    if n < 2:
        return 0.0
    return float(stdtrit(n - 1, (1 + LEVEL) / 2) * np.std(values, ddof=1) / np.sqrt(n))


def dataset_table(table: pd.DataFrame, columns: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """The means of one dataset as the paper's LaTeX reads them: a row a rate, in percent with two decimals.

    Parameters
    ----------
    table : DataFrame
        What `means` gives, for one dataset.
    columns : mapping from method to the names of its two columns
    """
    rates = sorted(table["rate"].unique())
    by_method = {method: rows.set_index("rate") for method, rows in table.groupby("method")}
    out: dict[str, list] = {"Missing": [f"{100 * rate:g}" for rate in rates]}
    shown = {method: names for method, names in columns.items() if method in by_method}
    for method, (mean, interval) in columns.items():
        found = by_method.get(method)
        for name, source in ((mean, "mean"), (interval, "interval")):
            out[name] = [np.nan] * len(rates) if found is None else found.loc[rates, source].round(2).tolist()
    wide = pd.DataFrame(out)
    wide["lower"] = lower(wide, list(shown.values()))
    return wide


def lower(table: pd.DataFrame, columns: Sequence[tuple[str, str]]) -> np.ndarray:
    """Of each row, the best mean minus its own interval: all means from there on are set in bold."""
    best = table[[mean for mean, _ in columns]].to_numpy().argmax(axis=1)
    rows = range(len(table))
    values = [table[columns[b][0]].iloc[i] - table[columns[b][1]].iloc[i] for i, b in zip(rows, best, strict=True)]
    return np.round(values, 2)


def table1(table: pd.DataFrame, datasets: pd.DataFrame, columns: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """The paper's Table 1, with its columns: every dataset at 30 % missing, smallest dataset first.

    Parameters
    ----------
    table : DataFrame
        What `means` gives, for all datasets.
    datasets : DataFrame
        The table of datasets of the run.
    columns : mapping from method to the names of its two columns
    """
    shown = {method: columns[method] for method in TABLE_METHODS if method in columns}
    at = table[table["rate"] == TABLE_RATE].set_index(["dataset", "method"])
    rows = []
    for data in datasets.sort_values("n", kind="stable").to_dict("records"):
        row = {"Dataset": data["label"], "n": data["n"], "cat": data["categorical"], "cont": data["continuous"],
               "nc": data["classes"], "maj": data["majority"]}  # fmt: skip
        for source, position in (("mean", 0), ("interval", 1)):
            for method, names in shown.items():
                key = (data["dataset"], method)
                row[names[position]] = round(at.loc[key, source], 2) if key in at.index else np.nan
        rows.append(row)
    out = pd.DataFrame(rows)
    present = [names for names in shown.values() if out[names[0]].notna().any()]
    out["lower"] = lower(out, present)
    return out


def repetition_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in percent, one row a rate, dataset and repetition, one column a method; NaN where a method has none."""
    keys = ["rate", "dataset", "repetition"]
    return 100 * scores.pivot_table(index=keys, columns="method", values="accuracy", sort=False)


def gains(scores: pd.DataFrame, rivals: Sequence[str] = (REFERENCE,)) -> pd.DataFrame:
    """Gain in accuracy over each rival, average and 95 % interval over the datasets; over KNN it is Figure 2.

    On each dataset two methods are compared over the repetitions that both have.

    Returns
    -------
    DataFrame
        over (the rival), method, rate, gain, interval, n (datasets)
    """
    accuracy = repetition_means(scores)
    rows = []
    for rival in rivals:
        differences = accuracy.sub(accuracy[rival], axis=0).groupby(level=["rate", "dataset"], sort=False).mean()
        rows += [
            (rival, method, rate, values.mean(), half_width(values.to_numpy()), len(values))
            for method in scores["method"].unique()
            for rate, values in differences[method].dropna().groupby("rate")
        ]
    return pd.DataFrame(rows, columns=["over", "method", "rate", "gain", "interval", "n"])


def agreement(
    table: pd.DataFrame, datasets: pd.DataFrame, paper: pd.DataFrame, columns: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Every cell of Table 1 beside the paper's, smallest dataset first.

    z is the difference over the root of the sum of both squared intervals, so that independent repetitions of the
    same experiment stay within |z| = 1 in 95 of 100 cells.

    Parameters
    ----------
    table : DataFrame
        What `means` gives, for all datasets.
    datasets : DataFrame
        The table of datasets of the run.
    paper : DataFrame
        The paper's Table 1.
    columns : mapping from method to the names of its two columns

    Returns
    -------
    DataFrame
        dataset, method, ours, ours_interval, repetitions, folds, paper, paper_interval, difference, z, verdict
        (``within`` up to 1, ``near`` up to 2, else ``off``)
    """
    theirs = paper.set_index("Dataset")
    at = table[table["rate"] == TABLE_RATE].set_index(["dataset", "method"])
    rows = []
    for data in datasets.sort_values("n", kind="stable").to_dict("records"):
        label = data["label"]
        for method in TABLE_METHODS:
            key = (data["dataset"], method)
            if label not in theirs.index or method not in columns or key not in at.index:
                continue
            cell = at.loc[key]
            a, width = round(cell["mean"], 2), round(cell["interval"], 2)
            b, its_width = (float(theirs.loc[label, name]) for name in columns[method])
            z = z_score(a - b, width, its_width)
            rows.append((label, method, a, width, int(cell["repetitions"]), int(cell["folds"]), b, its_width,
                         round(a - b, 2), round(z, 3), verdict(z)))  # fmt: skip
    names = ["dataset", "method", "ours", "ours_interval", "repetitions", "folds", "paper", "paper_interval",
             "difference", "z", "verdict"]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def z_score(difference: float, interval: float, other: float) -> float:
    """A difference in units of both intervals together; infinite where neither has any width.

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
