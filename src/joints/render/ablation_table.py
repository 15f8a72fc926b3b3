"""The table of the ablation: one row per variant and method, one column per dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from joints.render.tables import Cell, Table, to_html, to_latex
from joints.runtime.files import write_text
from joints.study.entries import MetricEntry

NOTE = (
    "with another setting minus that with the published one, with 95 % intervals over the repetitions (over the "
    "folds of fewer than 5); bold where the interval excludes 0."
)


def difference_table(
    differences: pd.DataFrame,
    rate: float,
    methods: Mapping[str, str],
    datasets: Mapping[str, str],
    metric: MetricEntry,
) -> Table:
    """The differences at one rate and in one metric; bold where the interval excludes 0."""
    at = differences[differences["rate"] == rate].to_dict("records")
    cells = {(r["variant"], r["method"], r["dataset"]): difference_cell(r, metric.decimals) for r in at}
    names = {(r["variant"], r["method"]): r["label"] for r in at}
    rows, last = [], None
    for (variant, method), label in names.items():
        first = Cell("" if variant == last else label)  # a variant is named once, in the row of its first method
        found = [cells.get((variant, method, dataset), Cell()) for dataset in datasets]
        rows.append([first, Cell(methods[method]), *found])
        last = variant
    return Table([f"{100 * rate:g} % missing", "Method", *datasets.values()], rows, [2], [1])


def difference_cell(row: Mapping[Any, Any], decimals: int = 2) -> Cell:
    """A difference with its interval.

    >>> difference_cell({"difference": -0.001, "interval": 0.0005})
    Cell(text='', mean=0.0, interval=0.0005, bold=True, underlined=False, decimals=2)
    """
    difference, interval = row["difference"], row["interval"]
    outside = round(abs(difference) - interval, 9) > 0  # a rounding error is not a difference
    return Cell("", round(difference, decimals) + 0.0, interval, outside, decimals=decimals)  # the sum avoids -0.0


def write_differences(
    differences: pd.DataFrame,
    methods: Mapping[str, str],
    datasets: Mapping[str, str],
    metric: MetricEntry,
    html: str | Path,
    tex: str | Path,
) -> None:
    """Write one table per rate, one below the other, as HTML and as LaTeX."""
    rates = sorted(differences["rate"].unique())
    found = [difference_table(differences, rate, methods, datasets, metric) for rate in rates]
    note = f"{metric.title} {NOTE}"
    write_text(html, to_html(found, "The effect of settings that the paper leaves open", note))
    write_text(tex, to_latex(found))
