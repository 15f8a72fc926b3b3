"""The tables about all datasets together, and the run in a few lines for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from joints.render import tables
from joints.render.tables import Cell, Table
from joints.runtime.files import write_text
from joints.study.summarise import agreement_sentence, repetitions_sentence


def dataset_details(datasets: pd.DataFrame) -> Table:
    """The "dataset details" of the paper's appendix, with what is missing and where the data came from."""
    header = ["Dataset", "Name", "n", "m₀", "m₁", "|Y|", "%Maj", "missing cells", "source"]
    names = ["label", "title", "n", "categorical", "continuous", "classes", "majority", "missing", "source"]
    rows = [[Cell(str(row[name])) for name in names] for row in datasets.to_dict("records")]
    return Table(header, rows, words=[1, 8])


def study_tables(
    frames: Mapping[str, pd.DataFrame], labels: Mapping[str, str], columns: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Table, str, str]]:
    """Every table about the whole study: name -> table, title, note."""
    agreement = frames["agreement"]
    return {
        "table1": (
            tables.result_table(frames["table1"], labels, columns),
            "Accuracy at 30 % of missing values",
            "Mean and 95 % interval; the best method is underlined, all within its interval are bold.  "
            + repetitions_sentence(frames["means"], {m: labels[m] for m in tables.ORDER if m in labels}),
        ),
        "agreement": (
            tables.agreement_table(agreement, labels),
            "Agreement with the paper's Table 1",
            f"Ours / the paper's (z); bold where |z| > 1.  {agreement_sentence(agreement)}.",
        ),
        "ranks": (
            tables.rank_table(frames["ranks"], labels),
            "Average ranks over the datasets",
            "1 is the best; p is that of Friedman's test, CD is Nemenyi's critical difference at the 5 % level.",
        ),
        "tally": (
            tables.tally_table(frames["tally"], labels),
            "Wins, ties and losses against KNN imputation",
            "Corrected resampled t-tests (Nadeau and Bengio) at the 5 % level, Holm's correction over the datasets.",
        ),
        "datasets": (dataset_details(frames["datasets"]), "The datasets", ""),
    }


def write_study(
    frames: Mapping[str, pd.DataFrame],
    labels: Mapping[str, str],
    columns: Mapping[str, Sequence[str]],
    html: Sequence[str],
    tex: Sequence[str],
) -> None:
    """Write the tables of the study; a file's stem says which one it holds."""
    found = study_tables(frames, labels, columns)
    for path in html:
        table, title, note = found[Path(path).stem]
        write_text(path, tables.to_html([table], title, note))
    for path in tex:
        write_text(path, tables.to_latex([found[Path(path).stem][0]]))


def outlier_lines(outliers: pd.DataFrame) -> list[str]:
    """How well GeF+ tells the rows of its data from foreign ones, a line for each study of the run."""
    lines = []
    for study, group in outliers[outliers["method"] == "gefp"].groupby("study", sort=False):
        found = [f"{row['auc']:.3f} ({row['model']}, {row['outliers']})" for row in group.to_dict("records")]
        lines.append(f"Outliers, {str(study).replace('_', ', ')}: AUC of GeF+ {' '.join(found)}")
    return lines


def summary(
    run: str,
    datasets: pd.DataFrame,
    agreement: pd.DataFrame,
    labels: Mapping[str, str],
    outliers: Sequence[pd.DataFrame] = (),
) -> str:
    """What a run has made, for the terminal: Table 1 beside the paper's numbers, and where everything is."""
    lines = [
        f"{len(datasets)} datasets, {len(labels)} methods.  Accuracy at 30 % missing, the paper's in brackets:",
        "",
    ]
    if len(agreement):
        lines += [tables.to_text(tables.side_by_side(agreement, labels)), ""]
    lines += [
        f"Agreement: {agreement_sentence(agreement)}" + (" (* are outside)." if len(agreement) else "."),
        *(line for table in outliers for line in outlier_lines(table)),
        "",
        f"Tables   results/{run}/tables/  (table1.html, ...), as CSV in results/{run}/",
        f"Figures  figures/{run}/  (againstKNN.pdf, ...)",
        f"Report   results/{run}/report.html",
    ]
    return "\n".join(lines) + "\n"
