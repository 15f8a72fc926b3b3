"""Where a run keeps what it writes: one pattern per kind of file, with the workflow's wildcards."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

FIGURE_KINDS = ("pgf", "pdf", "png")


def fill(pattern: Path, **wildcards: Any) -> Path:
    """A pattern with its wildcards filled in.

    >>> fill(Path("results/quick/raw/{dataset}.parquet"), dataset="wine").as_posix()
    'results/quick/raw/wine.parquet'
    """
    return Path(str(pattern).format(**wildcards))


def members(repetitions: str) -> list[int]:
    """The repetitions of a piece.

    >>> members("6-8")
    [6, 7, 8]
    """
    first, last = map(int, repetitions.split("-"))
    return list(range(first, last + 1))


def overlap(one: str, other: str) -> bool:
    """Whether two pieces share a repetition.

    >>> overlap("1-5", "5-5"), overlap("1-5", "6-10")
    (True, False)
    """
    return bool(set(members(one)) & set(members(other)))


class Layout(NamedTuple):
    """The files of a run.

    The wildcard `view` is empty for the tables and figures of the run's first mechanism and first metric, and
    ``<mechanism>/<metric>/`` for all others.
    """

    results: Path
    figures: Path
    logs: Path
    # the data
    raw: Path
    record: Path  # where a raw table came from
    dataset: Path
    # the experiment
    forests: Path  # a folder
    forest_seconds: Path
    scores: Path
    seconds: Path
    confidence: Path
    means: Path
    variant: Path  # scores of a variant of the ablation
    # the outlier studies
    foreign: Path  # images
    wine_signals: Path
    image_signals: Path
    outliers: Path
    # tables and figures
    ci: Path  # the means of a dataset, as the paper's LaTeX reads them
    table1: Path  # likewise
    page: Path  # a table as HTML
    latex: Path  # a table as LaTeX
    figure: Path
    summary: Path
    home: Path  # the page of the run
    report: Path
    pdf: Path
    provenance: Path

    @classmethod
    def of(cls, run: str) -> Layout:
        """The files of the run with this name."""
        results, figures = Path("results") / run, Path("figures") / run
        piece = Path("{dataset}", "{model}", "{mechanism}", "{repetitions}.csv")
        return cls(
            results=results,
            figures=figures,
            logs=results / "logs",
            raw=results / "raw" / "{dataset}.parquet",
            record=results / "raw" / "{dataset}.json",
            dataset=results / "data" / "{dataset}.npz",
            forests=results / "forests" / "{dataset}" / "{repetitions}",
            forest_seconds=results / "seconds" / "{dataset}" / "forests" / "{repetitions}.csv",
            scores=results / "scores" / piece,
            seconds=results / "seconds" / piece,
            confidence=results / "confidence" / piece,
            means=results / "means" / "{dataset}.csv",
            variant=results / "ablation" / "{dataset}" / "{variant}.csv",
            foreign=results / "outliers" / "images" / "{dataset}.npz",
            wine_signals=results / "outliers" / "wine_{reading}.parquet",
            image_signals=results / "outliers" / "images.parquet",
            outliers=results / "outliers_{study}.csv",
            ci=results / "ci" / "{view}{dataset}.csv",
            table1=results / "{view}table1.csv",
            page=results / "tables" / "{view}{name}.html",
            latex=results / "tables" / "{view}{name}.tex",
            figure=figures / "{view}{name}.{kind}",
            summary=results / "summary.txt",
            home=results / "index.html",
            report=results / "report.html",
            pdf=results / "study.pdf",
            provenance=results / "provenance.html",
        )
