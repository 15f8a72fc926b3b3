"""The tables of the missing-value study as LaTeX (booktabs) and as HTML.

The paper's rule: of each row the best mean is underlined, and every mean that is no lower than the best one minus its
own interval is bold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import pandas as pd

from joints.data.details import latex
from joints.study.summarise import TABLE_METHODS

ORDER = ["surrogate", "friedman", "mean", "knn", "missforest", "gef", "gef_lspn"]  # of the paper's printed Table 1
assert set(ORDER) == set(TABLE_METHODS)


@dataclass(frozen=True)
class Cell:
    """A text, or a mean with its interval."""

    text: str = ""
    mean: float | None = None
    interval: float = 0.0
    bold: bool = False
    underlined: bool = False


@dataclass(frozen=True)
class Table:
    """A header and rows of cells; a rule before the columns in `rules`, those in `words` flush left in HTML."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    rules: Sequence[int] = field(default_factory=tuple)
    words: Sequence[int] = field(default_factory=tuple)


def emphasised(means: Sequence[float], intervals: Sequence[float]) -> list[Cell]:
    """The cells of a row's means, by the paper's rule."""
    known = [(mean, interval) for mean, interval in zip(means, intervals, strict=True) if not pd.isna(mean)]
    if not known:
        return [Cell() for _ in means]
    best, its_interval = max(known, key=lambda pair: pair[0])
    lower = round(best - its_interval, 2)
    return [
        Cell() if pd.isna(mean) else Cell("", mean, interval, bold=mean >= lower, underlined=mean == best)
        for mean, interval in zip(means, intervals, strict=True)
    ]


def result_table(table1: pd.DataFrame, labels: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> Table:
    """Table 1 of the paper."""
    methods = [m for m in ORDER if m in labels and m in columns and columns[m][0] in table1]
    rows = []
    for row in table1.to_dict("records"):
        means, intervals = zip(*((row[columns[m][0]], row[columns[m][1]]) for m in methods), strict=True)
        rows.append([Cell(str(row["Dataset"])), Cell(str(row["n"])), *emphasised(means, intervals)])
    first_circuit = 2 + sum(not m.startswith("gef") for m in methods)
    return Table(["Dataset", "n", *(labels[m] for m in methods)], rows, [2, first_circuit])


def dataset_tables(means: pd.DataFrame, labels: Mapping[str, str]) -> list[Table]:
    """The appendix table of one dataset, in two halves: the accuracy of every method at every rate."""
    methods = [m for m in labels if m in set(means["method"])]
    rounded = means.round({"mean": 2, "interval": 2}).set_index(["rate", "method"])
    halves: list[list[list[Cell]]] = [[], []]
    cut = -(-len(methods) // 2)
    for rate in sorted(means["rate"].unique()):
        rows = rounded.loc[[(rate, m) for m in methods]]
        cells = emphasised(rows["mean"].tolist(), rows["interval"].tolist())
        first = Cell(f"{100 * rate:g}")
        halves[0].append([first, *cells[:cut]])
        halves[1].append([first, *cells[cut:]])
    names = [labels[m] for m in methods]
    parts = zip((names[:cut], names[cut:]), halves, strict=True)
    return [Table(["(%)", *header], rows, [1]) for header, rows in parts if header]


def agreement_table(
    agreement: pd.DataFrame, labels: Mapping[str, str], text: str = "{ours:.2f} / {paper:.2f} ({z:+.1f})"
) -> Table:
    """Ours and the paper's accuracies side by side, with z; cells outside of the intervals are bold."""
    methods = [m for m in ORDER if m in set(agreement["method"])]
    cells = {
        (row["dataset"], row["method"]): Cell(text.format_map(row), bold=row["verdict"] != "within")
        for row in agreement.to_dict("records")
    }
    rows = [[Cell(d), *(cells.get((d, m), Cell()) for m in methods)] for d in agreement["dataset"].unique()]
    return Table(["Dataset", *(labels[m] for m in methods)], rows, [1])


def side_by_side(agreement: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Table 1, ours and the paper's in brackets; cells outside of the intervals are bold."""
    return agreement_table(agreement, labels, "{ours:.1f} ({paper:.1f})")


def tally_table(tally: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Wins, ties and losses against KNN at every rate."""
    methods = [m for m in labels if m in set(tally["method"])]
    cells = tally.set_index(["rate", "method"])
    rows = [
        [Cell(f"{100 * rate:g}")]
        + [Cell("{wins}/{ties}/{losses}".format(**cells.loc[(rate, m)].to_dict())) for m in methods]
        for rate in sorted(tally["rate"].unique())
    ]
    return Table(["(%)", *(labels[m] for m in methods)], rows, [1])


def rank_table(ranks: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Average ranks at every rate, the best in bold, with the Friedman test and the critical difference."""
    methods = [m for m in labels if m in set(ranks["method"])]
    rows = []
    for rate in sorted(ranks["rate"].unique()):
        group = ranks[ranks["rate"] == rate]
        by_method = group.set_index("method")["rank"]
        best = by_method.min()
        p_value, difference = group["p_value"].iloc[0], group["critical_difference"].iloc[0]
        rows.append(
            [Cell(f"{100 * rate:g}")]
            + [Cell(f"{by_method[m]:.2f}", bold=by_method[m] == best) for m in methods]
            + [Cell("< 0.001" if p_value < 0.001 else f"{p_value:.3f}"), Cell(f"{difference:.2f}")]
        )
    return Table(["(%)", *(labels[m] for m in methods), "p", "CD"], rows, [1, len(methods) + 1])


def outlier_tables(outliers: pd.DataFrame, labels: Mapping[str, str], names: Mapping[str, str]) -> list[Table]:
    """The measures of an outlier study in percent, a table for each reading of its data."""

    def measured(row: Mapping[Any, Any], measure: str) -> Cell:
        percent, interval = 100 * row[measure], 100 * row[f"{measure}_interval"]
        return Cell("", percent, interval) if row["repetitions"] > 1 else Cell(f"{percent:.2f}")

    found = []
    for study, group in outliers.groupby("study", sort=False):
        rows = [
            [
                Cell(names.get(row["model"], row["model"])),
                Cell(labels.get(row["method"], row["method"])),
                Cell(names.get(row["outliers"], row["outliers"])),
                *(measured(row, measure) for measure in ("auc", "aupr", "fpr95")),
            ]
            for row in group.to_dict("records")
        ]
        header = [str(study).replace("_", ", "), "method", "foreign rows", "AUC", "AUPR", "FPR95"]
        found.append(Table(header, rows, [3], [1, 2]))
    return found


# ---------------------------------------------------------------------------------------------------------- LaTeX


def to_latex(tables: Sequence[Table]) -> str:
    """One or more tables as LaTeX for the booktabs package, one below the other."""
    return "\n\n\\vspace{6pt}\n\n".join(_latex_table(table) for table in tables) + "\n"


def _latex_table(table: Table) -> str:
    kinds = "".join(("|" if i in table.rules and i else "") + "c" for i in range(len(table.header)))
    lines = [
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        " & ".join(latex_label(name) for name in table.header) + r" \\",
        r"\midrule",
        *(" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def latex_label(label: str) -> str:
    r"""A label with LaTeX's special characters escaped, and the plus of GeF+ as a superscript.

    >>> print(latex_label("GeF+(LSPN)"), latex_label("(%)"))
    GeF$^+$(LSPN) (\%)
    """
    return re.sub(r"GeF\+", "GeF$^+$", latex(label))


def _latex_cell(cell: Cell) -> str:
    shown = latex_label(cell.text).replace("<", "$<$") if cell.mean is None else f"{cell.mean:.2f}"
    shown = rf"\textbf{{{shown}}}" if cell.bold else shown
    shown = rf"\underline{{{shown}}}" if cell.underlined else shown
    return shown if cell.mean is None else rf"{shown} $\scriptstyle\pm$ {cell.interval:.2f}"


# ----------------------------------------------------------------------------------------------------------- HTML

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: system-ui, sans-serif; font-size: 14px; color: #222; margin: 1.5em; }}
h1 {{ font-size: 1.2em; font-weight: 600; }}
p {{ max-width: 60em; }}
table {{ border-collapse: collapse; border-top: 2px solid #222; border-bottom: 2px solid #222; margin: 0 0 1.5em; }}
th {{ border-bottom: 1px solid #222; font-weight: 600; }}
th, td {{ padding: 3px 10px; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
th:first-child, td:first-child, .words {{ text-align: left; }}
sup {{ line-height: 0; }}
.rule {{ border-left: 1px solid #bbb; }}
.interval {{ color: #666; font-size: 0.85em; }}
tbody tr:hover {{ background: #f3f6fa; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def to_html(tables: Sequence[Table], title: str, note: str = "") -> str:
    """One or more tables as a page of its own."""
    body = [f"<p>{escape(note)}</p>"] if note else []
    return _PAGE.format(title=_html_label(title), body="\n".join(body + [_html_table(table) for table in tables]))


def _html_table(table: Table) -> str:
    def kinds(column: int) -> str:
        return " ".join(["rule"] * (column in table.rules and column > 0) + ["words"] * (column in table.words))

    def line(tag: str, cells: Sequence[str]) -> str:
        marks = [f' class="{names}"' if (names := kinds(i)) else "" for i in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{m}>{c}</{tag}>" for m, c in zip(marks, cells, strict=True)) + "</tr>"

    header = line("th", [_html_label(name) for name in table.header])
    rows = [line("td", [_html_cell(cell) for cell in row]) for row in table.rows]
    return "\n".join(["<table>", f"<thead>{header}</thead>", "<tbody>", *rows, "</tbody>", "</table>"])


def _html_label(label: str) -> str:
    return re.sub(r"GeF\+", "GeF<sup>+</sup>", escape(label))


def _html_cell(cell: Cell) -> str:
    shown = _html_label(cell.text) if cell.mean is None else f"{cell.mean:.2f}"
    shown = f"<b>{shown}</b>" if cell.bold else shown
    shown = f"<u>{shown}</u>" if cell.underlined else shown
    return shown if cell.mean is None else f'{shown} <span class="interval">± {cell.interval:.2f}</span>'


# ------------------------------------------------------------------------------------------- Markdown, and terminal


def to_markdown(table: Table) -> str:
    """A table for a document in Markdown.

    >>> print(to_markdown(Table(["", "GeF+"], [[Cell("bank"), Cell("", 90.8, 0.1, bold=True)]])))
    | | GeF⁺ |
    |---|---:|
    | bank | **90.80 ± 0.10** |
    """

    def line(cells: Sequence[str]) -> str:
        return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"

    left = {0, *table.words}
    kinds = "".join("|---" if i in left else "|---:" for i in range(len(table.header))) + "|"
    return "\n".join([line([plain_label(name) for name in table.header]), kinds]
                     + [line([_markdown_cell(cell) for cell in row]) for row in table.rows])  # fmt: skip


def to_text(table: Table) -> str:
    """A table for the terminal; a star instead of bold."""
    rows = [[_plain(cell) + (" *" if cell.bold else "  ") for cell in row] for row in table.rows]
    names = ["", *(f"{name}  " for name in table.header[1:])]
    return pd.DataFrame(rows, columns=names).to_string(index=False) if rows else ""


def plain_label(label: str) -> str:
    """A label with the plus of GeF+ as a superscript.

    >>> plain_label("GeF+(LSPN)")
    'GeF⁺(LSPN)'
    """
    return label.replace("GeF+", "GeF⁺")


def _plain(cell: Cell) -> str:
    return cell.text if cell.mean is None else f"{cell.mean:.2f} ± {cell.interval:.2f}"


def _markdown_cell(cell: Cell) -> str:
    shown = plain_label(_plain(cell))
    return f"**{shown}**" if cell.bold else shown
