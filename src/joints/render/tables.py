"""The tables of the studies, and how they become LaTeX (booktabs), HTML, Markdown, and text for the terminal.

The paper's rule: in each row the best mean is underlined, and every mean that is no worse than the best one made
worse by its own interval is bold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import pandas as pd

from joints.study.entries import MethodEntry, MetricEntry

_LATEX_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}


@dataclass(frozen=True)
class Cell:
    """A string, or a mean with its interval."""

    text: str = ""
    mean: float | None = None
    interval: float = 0.0
    bold: bool = False
    underlined: bool = False
    decimals: int = 2

    @property
    def number(self) -> str:
        return f"{self.mean:.{self.decimals}f}"

    @property
    def width(self) -> str:
        return f"{self.interval:.{self.decimals}f}"


@dataclass(frozen=True)
class Table:
    """A header and rows of cells; a rule precedes the columns in `rules`, and those in `words` are left-aligned."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    rules: Sequence[int] = field(default_factory=tuple)
    words: Sequence[int] = field(default_factory=tuple)


def emphasised(means: Sequence[float], intervals: Sequence[float], metric: MetricEntry) -> list[Cell]:
    """The cells of a row's means, by the paper's rule."""
    known = [(mean, interval) for mean, interval in zip(means, intervals, strict=True) if not pd.isna(mean)]
    if not known:
        return [Cell() for _ in means]
    best, its_interval = max(known, key=lambda pair: metric.sign * pair[0])
    bound = round(metric.sign * best - its_interval, metric.decimals)
    return [
        Cell()
        if pd.isna(mean)
        else Cell("", mean, interval, metric.sign * mean >= bound, mean == best, metric.decimals)
        for mean, interval in zip(means, intervals, strict=True)
    ]


def result_table(table1: pd.DataFrame, methods: Sequence[MethodEntry], metric: MetricEntry) -> Table:
    """Table 1: the paper's methods, then the user's own."""
    rows = []
    for row in table1.to_dict("records"):
        means, intervals = zip(*([row[name] for name in entry.columns] for entry in methods), strict=True)
        rows.append([Cell(str(row["Dataset"])), Cell(str(row["n"])), *emphasised(means, intervals, metric)])
    return Table(["Dataset", "n", *(entry.label for entry in methods)], rows, [2, *(2 + i for i in breaks(methods))])


def breaks(methods: Sequence[MethodEntry]) -> list[int]:
    """The positions of rules between methods: before the Generative Forests, and before the user's own methods."""
    groups = [(entry.family == "generative forest", not entry.paper) for entry in methods]
    return [i for i in range(1, len(groups)) if groups[i] != groups[i - 1]]


def dataset_tables(means: pd.DataFrame, methods: Sequence[MethodEntry], metric: MetricEntry) -> list[Table]:
    """The appendix table of one dataset, in two halves: every method at every rate."""
    found = [entry for entry in methods if entry.name in set(means["method"])]
    cells = means.round({"mean": metric.decimals, "interval": metric.decimals}).set_index(["rate", "method"])
    halves: list[list[list[Cell]]] = [[], []]
    cut = -(-len(found) // 2)
    for rate in sorted(means["rate"].unique()):
        rows = cells.loc[[(rate, entry.name) for entry in found]]
        row = emphasised(rows["mean"].tolist(), rows["interval"].tolist(), metric)
        first = Cell(f"{100 * rate:g}")
        halves[0].append([first, *row[:cut]])
        halves[1].append([first, *row[cut:]])
    names = [entry.label for entry in found]
    parts = zip((names[:cut], names[cut:]), halves, strict=True)
    return [Table(["(%)", *header], rows, [1]) for header, rows in parts if header]


def agreement_table(agreement: pd.DataFrame, methods: Sequence[MethodEntry]) -> Table:
    """Our accuracies and the paper's side by side, with z; cells outside the intervals are bold."""
    found = [entry for entry in methods if entry.name in set(agreement["method"])]
    cells = {
        (row["dataset"], row["method"]): Cell(
            "{ours:.2f} / {paper:.2f} ({z:+.1f})".format_map(row), bold=row["verdict"] != "within"
        )
        for row in agreement.to_dict("records")
    }
    rows = [[Cell(d), *(cells.get((d, entry.name), Cell()) for entry in found)] for d in agreement["dataset"].unique()]
    return Table(["Dataset", *(entry.label for entry in found)], rows, [1])


def side_by_side(table1: pd.DataFrame, agreement: pd.DataFrame, methods: Sequence[MethodEntry]) -> Table:
    """Table 1, with the paper's number in brackets where it has one; cells outside the intervals are bold."""
    theirs = {(row["dataset"], row["method"]): row for row in agreement.to_dict("records")}

    def cell(dataset: str, ours: float, method: str) -> Cell:
        if pd.isna(ours):
            return Cell()
        paper = theirs.get((dataset, method))
        if paper is None:
            return Cell(f"{ours:.1f}")
        return Cell(f"{ours:.1f} ({paper['paper']:.1f})", bold=paper["verdict"] != "within")

    rows = [
        [Cell(str(row["Dataset"])), *(cell(row["Dataset"], row[entry.columns[0]], entry.name) for entry in methods)]
        for row in table1.to_dict("records")
    ]
    return Table(["Dataset", *(entry.label for entry in methods)], rows, [1])


def tally_table(tally: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Wins, ties and losses against the reference at every rate."""
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
    """The measures of an outlier study in percent, one table per reading of its data."""

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


def dataset_details(datasets: pd.DataFrame) -> Table:
    """The "dataset details" of the paper's appendix, with the number of missing cells and the source of the data."""
    header = ["Dataset", "Name", "n", "m₀", "m₁", "|Y|", "%Maj", "missing cells", "source"]
    names = ["label", "title", "n", "categorical", "continuous", "classes", "majority", "missing", "source"]
    rows = [[Cell(str(row[name])) for name in names] for row in datasets.to_dict("records")]
    return Table(header, rows, words=[1, 8])


# ---------------------------------------------------------------------------------------------------------- LaTeX


def details_to_latex(datasets: pd.DataFrame) -> str:
    """The columns of the dataset details that the paper prints."""
    counts = ["n", "categorical", "continuous", "classes"]
    lines = [
        r"\begin{tabular}{lrrrrr}",
        r"\toprule",
        r"Dataset & $n$ & $m_0$ & $m_1$ & $|\mathcal{Y}|$ & \%Maj \\",
        r"\midrule",
        *(
            " & ".join([latex(row["title"]), *(str(row[name]) for name in counts), f"{row['majority']:.2f}"]) + r" \\"
            for row in datasets.to_dict("records")
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    r"""Text with LaTeX's special characters escaped.

    >>> print(latex("a_b & c"))
    a\_b \& c
    """
    return "".join(_LATEX_SPECIAL.get(character, character) for character in text)


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
    shown = latex_label(cell.text).replace("<", "$<$") if cell.mean is None else cell.number
    shown = rf"\textbf{{{shown}}}" if cell.bold else shown
    shown = rf"\underline{{{shown}}}" if cell.underlined else shown
    return shown if cell.mean is None else rf"{shown} $\scriptstyle\pm$ {cell.width}"


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
    """One or more tables as a complete page."""
    body = [f"<p>{escape(note)}</p>"] if note else []
    return _PAGE.format(title=html_label(title), body="\n".join(body + [html_table(table) for table in tables]))


def html_table(table: Table, kind: str = "") -> str:
    """A table as HTML, of a class of its own if `kind` names one."""

    def kinds(column: int) -> str:
        return " ".join(["rule"] * (column in table.rules and column > 0) + ["words"] * (column in table.words))

    def line(tag: str, cells: Sequence[str]) -> str:
        marks = [f' class="{names}"' if (names := kinds(i)) else "" for i in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{m}>{c}</{tag}>" for m, c in zip(marks, cells, strict=True)) + "</tr>"

    header = line("th", [html_label(name) for name in table.header])
    rows = [line("td", [_html_cell(cell) for cell in row]) for row in table.rows]
    start = f'<table class="{kind}">' if kind else "<table>"
    return "\n".join([start, f"<thead>{header}</thead>", "<tbody>", *rows, "</tbody>", "</table>"])


def html_label(label: str) -> str:
    """A label as HTML, with the plus of GeF+ as a superscript.

    >>> html_label("GeF+ & more")
    'GeF<sup>+</sup> &amp; more'
    """
    return re.sub(r"GeF\+", "GeF<sup>+</sup>", escape(label))


def _html_cell(cell: Cell) -> str:
    shown = html_label(cell.text) if cell.mean is None else cell.number
    shown = f"<b>{shown}</b>" if cell.bold else shown
    shown = f"<u>{shown}</u>" if cell.underlined else shown
    return shown if cell.mean is None else f'{shown} <span class="interval">± {cell.width}</span>'


# ------------------------------------------------------------------------------------------- Markdown, and terminal


def to_markdown(table: Table) -> str:
    """A table in Markdown.

    >>> print(to_markdown(Table(["", "GeF+"], [[Cell("bank"), Cell("", 90.8, 0.1, bold=True)]])))
    | | GeF⁺ |
    |---|---:|
    | bank | **90.80 ± 0.10** |
    """

    def line(cells: Sequence[str]) -> str:
        return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"

    left = {0, *table.words}
    kinds = "".join("|---" if i in left else "|---:" for i in range(len(table.header))) + "|"
    rows = [line([_markdown_cell(cell) for cell in row]) for row in table.rows]
    return "\n".join([line([plain_label(name) for name in table.header]), kinds, *rows])


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
    return cell.text if cell.mean is None else f"{cell.number} ± {cell.width}"


def _markdown_cell(cell: Cell) -> str:
    shown = plain_label(_plain(cell))
    return f"**{shown}**" if cell.bold else shown


def gain_text(gain: float, interval: float) -> str:
    """A gain with its interval.

    >>> gain_text(-0.01, 0.25)
    '+0.0 ± 0.2'
    """
    return f"{round(gain, 1) + 0.0:+.1f} ± {interval:.1f}"  # without -0.0
