"""Fill documents with a run's numbers: ``python -m joints.render.documents config/reference.yaml REPRODUCTION.md``.

Comments in a document, ``<!-- table1 -->`` and ``<!-- end of table1 -->``, mark what is generated: the text between
them comes from the run's files, so no number there is typed by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from joints.errors import JointsError
from joints.render import tables
from joints.render.ablation_table import difference_table
from joints.render.claims import rows_of_claims
from joints.render.modern_blocks import MODERN_BLOCKS
from joints.render.results_page import Study, results_page
from joints.render.tables import Cell, Table, gain_text
from joints.runtime.files import write_text
from joints.study import summarise
from joints.study.outliers.signals import LABELS as OUTLIER_LABELS
from joints.study.plan import Plan
from joints.study.statistics import agreement_by_chance
from joints.study.summarise import at, half_width

PAPER_REPETITIONS = 10
PAPER_OUTLIERS = "config/paper_outliers.csv"


@dataclass(frozen=True)
class Run:
    """The files of a finished run; documents show the paper's mechanism and metric."""

    plan: Plan

    def read(self, name: str) -> pd.DataFrame:
        """A table of the run."""
        return pd.read_csv(self.plan.files.results / f"{name}.csv")

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a long table that are about the paper's mechanism and metric."""
        return at(self.read(name), **self.plan.paper_view.keys)

    @property
    def labels(self) -> dict[str, str]:
        return self.plan.labels

    @property
    def datasets(self) -> dict[str, str]:
        """Dataset -> label."""
        return {name: self.plan.label(name) for name in self.plan.names}


def words(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of strings."""
    return tables.to_markdown(Table(header, [[Cell(text) for text in row] for row in rows]))


def percent(rates: Iterable[float]) -> list[str]:
    """Rates as column headers.

    >>> percent([0, 0.3])
    ['0 %', '30 %']
    """
    return [f"{100 * rate:g} %" for rate in rates]


def _table1(run: Run) -> str:
    """Table 1, the paper's numbers in brackets; bold where the two disagree."""
    return tables.to_markdown(tables.side_by_side(run.read("table1"), run.read("agreement"), run.plan.table1_methods))


def _sentence(run: Run) -> str:
    """The agreement in one line."""
    return summarise.agreement_sentence(run.read("agreement")) + "."


def _by_method(run: Run) -> str:
    """How well each column of Table 1 agrees with the paper."""
    cells = run.read("agreement")
    rows = []
    for entry in run.plan.table1_methods:
        of = at(cells, method=entry.name)
        within = f"{(of['verdict'] == 'within').sum()} of {len(of)}"
        middle = f"{of['difference'].abs().median():.2f}"
        rows.append([entry.label, within, f"{of['difference'].mean():+.2f}", middle, f"{of['z'].abs().max():.1f}"])
    return words(["", "within the intervals", "mean difference", "median absolute difference", "largest z"], rows)


def _chance(run: Run) -> str:
    """How well the paper would agree with a repetition of itself, for the numbers of repetitions in the run."""
    found = [n for n in sorted(run.read("agreement")["repetitions"].unique()) if n >= summarise.FEWEST_REPETITIONS]
    rows = []
    for n in found:
        share, median = agreement_by_chance(int(n), PAPER_REPETITIONS)
        rows.append([f"{n} against the paper's {PAPER_REPETITIONS}", f"{100 * share:.1f} %", f"{median:.2f}"])
    return words(["repetitions", "within the intervals by chance", "median z by chance"], rows)


def _outside(run: Run) -> str:
    """The cells that are not within the intervals."""
    cells = run.read("agreement")
    texts = "{ours:.2f} ± {ours_interval:.2f}", "{paper:.2f} ± {paper_interval:.2f}", "{difference:+.2f}", "{z:+.1f}"
    rows = [
        [row["dataset"], run.labels[row["method"]], *(text.format_map(row) for text in texts)]
        for row in cells[cells["verdict"] != "within"].to_dict("records")
    ]
    return words(["dataset", "method", "ours", "paper", "difference", "z"], rows) if rows else "There are none."


def gains_over(run: Run, rival: str, methods: Sequence[str]) -> str:
    """Average gain of methods over a rival at every rate, over the datasets, with 95 % intervals."""
    found = run.table("gains").query("over == @rival")
    texts = {(row["method"], row["rate"]): gain_text(row["gain"], row["interval"]) for row in found.to_dict("records")}
    rates = sorted(found["rate"].unique())
    rows = [[run.labels[m], *(texts[m, rate] for rate in rates)] for m in methods]
    return words([f"over {run.labels[rival]}", *percent(rates)], rows)


def _gains(run: Run) -> str:
    """Figure 2 as numbers, with the methods as the text describes them in addition to the published ones."""
    return gains_over(run, run.plan.reference, [name for name in run.labels if name != run.plan.reference])


def _gains_over_readings(run: Run) -> str:
    """The Generative Forests' gains over the methods that the run has only for comparison."""
    methods = [entry.name for entry in run.plan.shown if entry.family == "generative forest"]
    rivals = [name for name in run.plan.rivals if name != run.plan.reference]
    return "\n\n".join(gains_over(run, rival, methods) for rival in sorted(rivals))


def _gains_elsewhere(run: Run) -> str:
    """Average gains over the rivals on the datasets that methods were not developed on, from the means."""
    cells = run.table("means")
    cells = cells[~cells["dataset"].isin(run.plan.config["developed_on"])]
    means = cells.pivot(index=["rate", "dataset"], columns="method", values="mean")
    found = []
    for rival in run.plan.rivals:
        each = means.drop(columns=rival).sub(means[rival], axis=0).groupby("rate")
        rows = [
            [run.labels[m], *(gain_text(d.mean(), half_width(d.to_numpy())) for _, d in each[m])]
            for m in run.labels
            if m != rival
        ]
        found.append(words([f"over {run.labels[rival]}", *percent(sorted(cells["rate"].unique()))], rows))
    return "\n\n".join(found)


def _by_dataset(run: Run, metric: str) -> str:
    """Means of one metric at the rate of Table 1: a row per dataset, a column per method."""
    cells = at(run.read("means"), mechanism=run.plan.paper_view.mechanism.name, metric=metric)
    cells = at(cells, rate=run.plan.config["table_rate"])
    means = cells.pivot(index="dataset", columns="method", values="mean")
    entry, methods = run.plan.metrics[metric], [method.name for method in run.plan.shown]
    rows = [
        [label, *(f"{value:.{entry.decimals}f}" for value in means.loc[name, methods])]
        for name, label in run.datasets.items()
    ]
    rows.append(["average", *(f"{value:.{entry.decimals}f}" for value in means[methods].mean())])
    return words([entry.title, *(run.labels[name] for name in methods)], rows)


def _better_log_loss(run: Run) -> str:
    """On how many datasets the log-loss is lower than the reference's, at the rate of Table 1."""
    rate, mechanism = run.plan.config["table_rate"], run.plan.paper_view.mechanism.name
    found = at(run.read("comparisons"), metric="log_loss", mechanism=mechanism, rate=rate)
    counts = [
        f"{run.labels[name]} on {(at(found, method=name)['difference'] < 0).sum()}"
        for name, entry in run.plan.used.items()
        if not entry.paper
    ]
    n = found["dataset"].nunique()
    return (
        f"At {percent([rate])[0]} missing the log-loss is lower than that of {run.labels[run.plan.reference]}, of {n} "
        f"datasets, for {' and for '.join(counts)}."
    )


def _losses(run: Run) -> str:
    """Where a method that is not the paper's is significantly worse than the reference."""
    found = at(run.table("comparisons"), outcome="loss").to_dict("records")
    rows = [
        [run.labels[row["method"]], run.datasets[row["dataset"]], *percent([row["rate"]]), f"{row['difference']:+.1f}"]
        for row in found
        if not run.plan.used[row["method"]].paper
    ]
    return words(["", "dataset", "missing", "difference"], rows) if rows else "There are none."


def _tally(run: Run) -> str:
    """Wins, ties and losses against the reference."""
    return tables.to_markdown(tables.tally_table(run.table("tally"), run.labels))


def _repetitions(run: Run) -> str:
    """Repetitions per dataset and method, grouped where they are the same."""
    means = run.table("means").drop_duplicates(["dataset", "method"])
    counts = means.pivot(index="dataset", columns="method", values="repetitions").loc[
        list(run.datasets), list(run.labels)
    ]
    alike = counts.T.groupby(counts.T.apply(tuple, axis=1), sort=False).groups.values()
    methods = [[method for method in run.labels if method in set(group)] for group in alike]
    rows = [
        [", ".join(run.datasets[dataset] for dataset in group.index), *(str(group[m[0]].iloc[0]) for m in methods)]
        for _, group in counts.groupby([m[0] for m in methods], sort=False)
    ]
    return words(["repetitions of 5 folds", *(", ".join(run.labels[name] for name in m) for m in methods)], rows)


def _seconds(run: Run) -> str:
    """CPU seconds per fold, all rates together, of every model shown in tables."""
    path = run.plan.files.results / "provenance.json"
    found = json.loads(path.read_text(encoding="utf-8"))["seconds"]
    counts = run.table("means").drop_duplicates(["dataset", "method"]).set_index(["dataset", "method"])
    models = [entry.name for entry in run.plan.shown if not entry.of]
    rows = []
    for dataset, times in found.items():
        folds = [counts.loc[(dataset, name), ["repetitions", "folds"]].prod() for name in models]
        spent = [times[name]["fit"] + times[name]["predict"] for name in models]
        rows.append([run.datasets[dataset], *(f"{t / n:.1f}" for t, n in zip(spent, folds, strict=True))])
    total = sum(times[model]["fit"] + times[model]["predict"] for times in found.values() for model in run.plan.models)
    sentence = f"Fitting and predicting took {total / 3600:.1f} core-hours in all."
    return words(["seconds per fold", *(run.labels[name] for name in models)], rows) + f"\n\n{sentence}"


def _ablation(run: Run) -> str:
    """The effect of other settings at the rate of Table 1: difference from the published setting, in points."""
    cells = run.table("ablation")
    names = {name: run.datasets[name] for name in cells["dataset"].unique()}
    metric = run.plan.paper_view.metric
    return tables.to_markdown(difference_table(cells, run.plan.config["table_rate"], run.labels, names, metric))


def _outliers_wine(run: Run) -> str:
    """AUC of the wine study for both readings of what a good wine is, beside the authors' numbers."""
    labels = run.plan.outlier_labels
    found = run.read("outliers_wine").assign(reading=lambda rows: rows["study"].str.removeprefix("wine_"))
    found = pd.concat([found, pd.read_csv(PAPER_OUTLIERS).assign(reading="authors' notebook")])
    found["model"] = found["model"].map(labels)
    auc = found.set_index(["model", "method", "reading"])["auc"].map("{:.3f}".format).to_dict()
    readings = list(found["reading"].unique())
    rows = [
        [model, OUTLIER_LABELS[method], *(auc.get((model, method, reading), "") for reading in readings)]
        for model, method in found[["model", "method"]].drop_duplicates().itertuples(index=False)
    ]
    return words(["model", "method", *readings], rows)


def _outliers_images(run: Run) -> str:
    """AUC of the image study."""
    found = run.read("outliers_images")
    auc = found.set_index(["outliers", "method"])["auc"].map("{:.4f}".format).to_dict()
    methods = list(found["method"].unique())
    rows = [[kind, *(auc[kind, method] for method in methods)] for kind in found["outliers"].unique()]
    return words(["foreign images", *(OUTLIER_LABELS[method] for method in methods)], rows)


def _modern(run: Run, block: Callable[..., str]) -> str:
    """A table of the modern study."""
    return block(run.plan, run.read)


def _claims(run: Run) -> str:
    """The paper's statements, one by one."""
    return words(["the paper says", "where", "measured", "verdict", "why"], rows_of_claims(run))


BLOCKS: Mapping[str, Callable[[Run], str]] = {
    "table1": _table1,
    "agreement": _sentence,
    "columns": _by_method,
    "chance": _chance,
    "outside": _outside,
    "gains": _gains,
    "gains over the text's methods": _gains_over_readings,
    "gains on other datasets": _gains_elsewhere,
    "gains over rivals": _gains_over_readings,
    "accuracy by dataset": lambda run: _by_dataset(run, "accuracy"),
    "log-loss by dataset": lambda run: _by_dataset(run, "log_loss"),
    "better log-loss": _better_log_loss,
    "losses": _losses,
    "tally": _tally,
    "repetitions": _repetitions,
    "seconds": _seconds,
    "ablation": _ablation,
    "outliers, wine": _outliers_wine,
    "outliers, images": _outliers_images,
    "claims": _claims,
    **{name: partial(_modern, block=block) for name, block in MODERN_BLOCKS.items()},
}


def fill_document(text: str, plan: Plan) -> str:
    """A document with all its marked blocks filled in from a run's files."""
    run = Run(plan)

    def block(match: re.Match[str]) -> str:
        name = match[1]
        if name not in BLOCKS:
            raise JointsError(f"the marker '<!-- {name} -->' is unknown: use one of {', '.join(BLOCKS)}")
        return f"<!-- {name} -->\n{BLOCKS[name](run)}\n<!-- end of {name} -->"

    return re.sub(r"<!-- ([^>]*?) -->\n(?:.*?\n)?<!-- end of \1 -->", block, text, flags=re.DOTALL)


def study_of(plan: Plan) -> Study:
    """What the page says about a run, apart from its numbers."""
    return Study(
        plan.run,
        plan.shown,
        plan.all_metrics,
        list(plan.used_mechanisms.values()),
        plan.used[plan.reference],
        plan.config["table_rate"],
        plan.views[0],
        plan.outlier_labels,
        plan.config["protocol"],
    )


def page_of(plan: Plan, links: bool = True) -> str:
    """The page of a finished run from its files, with links to the others if these are beside it."""
    names = ["datasets", "means", "gains", "agreement", "ranks", "tally", "table1"]
    names += [f"outliers_{name}" for name in plan.studies]
    frames = {name: pd.read_csv(plan.files.results / f"{name}.csv") for name in names}
    figures = dict(zip(plan.studies, plan.outlier_figures, strict=True))
    provenance = json.loads((plan.files.results / "provenance.json").read_text(encoding="utf-8"))
    return results_page(study_of(plan), frames, figures, provenance, plan.linked_files if links else [])


def main(arguments: Sequence[str]) -> Any:
    """Fill in documents from a finished run; the first argument is its configuration, the others are documents."""
    config, *documents = arguments
    plan = Plan.read([config])
    for document in map(Path, documents):
        write_text(document, fill_document(document.read_text(encoding="utf-8"), plan))


if __name__ == "__main__":
    main(sys.argv[1:])
