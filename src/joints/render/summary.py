"""The tables about all datasets together, and the summary of a run for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from joints.render import tables
from joints.render.tables import Table
from joints.study.entries import MethodEntry, View
from joints.study.summarise import agreement_sentence, at, repetitions_sentence


def labels_of(methods: Sequence[MethodEntry]) -> dict[str, str]:
    """Method -> label."""
    return {entry.name: entry.label for entry in methods}


def view_tables(
    frames: Mapping[str, pd.DataFrame], methods: Sequence[MethodEntry], reference: str, view: View, rate: float
) -> dict[str, tuple[Table, str, str]]:
    """The tables of a view about all datasets together: name -> table, title, note.

    Parameters
    ----------
    frames : mapping
        `table1` of the view, the table of `datasets`, and the long tables `means`, `ranks` and `tally`.
    methods : sequence of MethodEntry
        Those that the run shows.
    reference : str
        The label of the method that the others are compared with.
    view : View
    rate : float
        The missing rate of Table 1.
    """
    metric, labels = view.metric, labels_of(methods)
    datasets = dict(zip(frames["datasets"]["dataset"], frames["datasets"]["label"], strict=True))
    of_table1 = [entry for entry in methods if entry.in_table1]
    return {
        "table1": (
            tables.result_table(frames["table1"], of_table1, metric),
            f"{metric.title} at {100 * rate:g} % of missing values",
            "Mean and 95 % interval; the best method is underlined, and all within its interval are bold.  "
            + repetitions_sentence(at(frames["means"], **view.keys), labels_of(of_table1), datasets),
        ),
        "ranks": (
            tables.rank_table(at(frames["ranks"], **view.keys), labels),
            f"Average ranks over the datasets by {metric.label[0].lower()}{metric.label[1:]}",
            "1 is the best; p is the p-value of Friedman's test, CD is Nemenyi's critical difference at the 5 % level.",
        ),
        "tally": (
            tables.tally_table(at(frames["tally"], **view.keys), labels),
            f"Wins, ties and losses against {reference} by {metric.label[0].lower()}{metric.label[1:]}",
            "Corrected resampled t-tests (Nadeau and Bengio) at the 5 % level, Holm's correction over the datasets.",
        ),
    }


def agreement_page(agreement: pd.DataFrame, methods: Sequence[MethodEntry]) -> tuple[Table, str, str]:
    """Every cell of the paper's Table 1 beside ours: table, title, note."""
    return (
        tables.agreement_table(agreement, methods),
        "Agreement with the paper's Table 1",
        f"Ours / the paper's (z); bold where |z| > 1.  {agreement_sentence(agreement)}.",
    )


def outlier_lines(outliers: pd.DataFrame) -> list[str]:
    """How well GeF+ separates rows like its training data from foreign ones, one line per study of the run."""
    lines = []
    for study, group in outliers[outliers["method"] == "gefp"].groupby("study", sort=False):
        found = [f"{row['auc']:.3f} ({row['model']}, {row['outliers']})" for row in group.to_dict("records")]
        lines.append(f"Outliers, {str(study).replace('_', ', ')}: AUC of GeF+ {' '.join(found)}")
    return lines


def summary(
    run: str,
    table1: pd.DataFrame,
    agreement: pd.DataFrame,
    methods: Sequence[MethodEntry],
    view: View,
    rate: float,
    gain_figure: str,
    outliers: Sequence[pd.DataFrame] = (),
) -> str:
    """The summary of a run for the terminal: Table 1, with the paper's numbers, and where everything is.

    The paper's numbers are accuracies, so they are shown only beside accuracies.
    """
    theirs = agreement if view.metric.paper and view.mechanism.paper else agreement.iloc[:0]
    brackets = ", the paper's in brackets" if len(theirs) else ""
    lines = [
        f"{len(table1)} datasets, {len(methods)} methods.  {view.metric.title} at {100 * rate:g} % missing{brackets}:",
        "",
        tables.to_text(tables.side_by_side(table1, theirs, [entry for entry in methods if entry.in_table1])),
        "",
        f"Agreement: {agreement_sentence(agreement)}" + (" (* are outside)." if len(agreement) else "."),
        *(line for table in outliers for line in outlier_lines(table)),
        "",
        f"Tables   results/{run}/tables/  (table1.html, ...), as CSV in results/{run}/",
        f"Figures  figures/{run}/  ({gain_figure}.pdf, ...)",
        f"Report   results/{run}/report.html",
        f"Page     results/{run}/index.html  (open this one first)",
    ]
    return "\n".join(lines) + "\n"
