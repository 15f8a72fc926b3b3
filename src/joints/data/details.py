"""The "dataset details" of the paper's appendix C, as a table of all datasets of a run.

n is the number of rows, m0 and m1 count categorical and continuous features, and %Maj is the share of the most frequent
class.  What the paper does not print, such as missing cells and the source that was used, is added to the CSV file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from joints.data.catalogue import Entry
from joints.data.dataset import Dataset
from joints.data.encode import numbers
from joints.runtime.files import write_text

_LATEX_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}


def details(
    entries: Iterable[Entry], datasets: Iterable[Dataset], records: Iterable[Iterable[Mapping[str, Any]]]
) -> pd.DataFrame:
    """One row a dataset, in the order given."""
    rows = [
        {
            "dataset": entry.name,
            "label": entry.label,
            "title": entry.title or entry.label,
            **numbers(dataset),
            "missing": dataset.n_missing,
            "source": "+".join(dict.fromkeys(record["source"] for record in came_from)),
            "citation": entry.citation,
        }
        for entry, dataset, came_from in zip(entries, datasets, records, strict=True)
    ]
    return pd.DataFrame(rows)


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """The table as a CSV file."""
    write_text(path, table.to_csv(index=False, lineterminator="\n"))


def write_latex(table: pd.DataFrame, path: str | Path) -> None:
    """The columns that the paper prints, as a LaTeX table for the booktabs package."""
    counts = ["n", "categorical", "continuous", "classes"]
    lines = [
        r"\begin{tabular}{lrrrrr}",
        r"\toprule",
        r"Dataset & $n$ & $m_0$ & $m_1$ & $|\mathcal{Y}|$ & \%Maj \\",
        r"\midrule",
        *(
            " & ".join([latex(row["title"]), *(str(row[name]) for name in counts), f"{row['majority']:.2f}"]) + r" \\"
            for row in table.to_dict("records")
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    write_text(path, "\n".join(lines) + "\n")


def latex(text: str) -> str:
    r"""Text with LaTeX's special characters escaped.

    >>> print(latex("a_b & c"))
    a\_b \& c
    """
    return "".join(_LATEX_SPECIAL.get(character, character) for character in text)
