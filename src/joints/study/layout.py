"""Where a run keeps what it writes: one pattern for each kind of file, in the words of the workflow's wildcards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIGURE_KINDS = ("pgf", "pdf", "png")


def fill(pattern: Path, **wildcards: Any) -> Path:
    """A pattern with its wildcards filled in.

    >>> fill(Path("results/quick/raw/{dataset}.parquet"), dataset="wine").as_posix()
    'results/quick/raw/wine.parquet'
    """
    return Path(str(pattern).format(**wildcards))


@dataclass(frozen=True)
class Layout:
    """The files of a run.

    The wildcard `view` is empty for the tables and figures of the run's first mechanism and first metric, and
    ``<mechanism>/<metric>/`` for all others.
    """

    run: str

    @property
    def results(self) -> Path:
        return Path("results") / self.run

    @property
    def figures(self) -> Path:
        return Path("figures") / self.run

    @property
    def logs(self) -> Path:
        return self.results / "logs"

    # the data

    @property
    def raw(self) -> Path:
        return self.results / "raw" / "{dataset}.parquet"

    @property
    def record(self) -> Path:
        """Where a raw table came from."""
        return self.results / "raw" / "{dataset}.json"

    @property
    def dataset(self) -> Path:
        return self.results / "data" / "{dataset}.npz"

    # the experiment

    @property
    def forests(self) -> Path:
        """A folder."""
        return self.results / "forests" / "{dataset}" / "{repetitions}"

    @property
    def scores(self) -> Path:
        return self.results / "scores" / "{dataset}" / "{model}" / "{mechanism}" / "{repetitions}.csv"

    @property
    def seconds(self) -> Path:
        return self.results / "seconds" / "{dataset}" / "{model}" / "{mechanism}" / "{repetitions}.csv"

    @property
    def means(self) -> Path:
        return self.results / "means" / "{dataset}.csv"

    @property
    def variant(self) -> Path:
        """Scores of a variant of the ablation."""
        return self.results / "ablation" / "{dataset}" / "{variant}.csv"

    # the outlier studies

    @property
    def foreign(self) -> Path:
        """Foreign images."""
        return self.results / "outliers" / "images" / "{dataset}.npz"

    @property
    def wine_signals(self) -> Path:
        return self.results / "outliers" / "wine_{reading}.parquet"

    @property
    def image_signals(self) -> Path:
        return self.results / "outliers" / "images.parquet"

    @property
    def outliers(self) -> Path:
        return self.results / "outliers_{study}.csv"

    # tables and figures

    @property
    def ci(self) -> Path:
        """The means of a dataset as the paper's LaTeX reads them."""
        return self.results / "ci" / "{view}{dataset}.csv"

    @property
    def table1(self) -> Path:
        """Table 1 as the paper's LaTeX reads it."""
        return self.results / "{view}table1.csv"

    @property
    def page(self) -> Path:
        """A table as HTML."""
        return self.results / "tables" / "{view}{name}.html"

    @property
    def latex(self) -> Path:
        """A table as LaTeX."""
        return self.results / "tables" / "{view}{name}.tex"

    @property
    def figure(self) -> Path:
        return self.figures / "{view}{name}.{kind}"

    @property
    def summary(self) -> Path:
        return self.results / "summary.txt"

    @property
    def report(self) -> Path:
        return self.results / "report.html"

    @property
    def pdf(self) -> Path:
        return self.results / "study.pdf"

    @property
    def provenance(self) -> Path:
        return self.results / "provenance.html"
