"""What the jobs of a run cost, in CPU seconds.

They are measured: `config/costs.yaml` has the seconds per fold of every model on every dataset of the paper.  For other
datasets and methods they are guessed from the size of the dataset and from `seconds` in the catalogue of methods.  When
a run has finished,

    python -m joints.study.costs config/reference.yaml

replaces what it has measured.  Costs decide which scores share a job, in which order jobs start, and how long a run is
expected to take; never what it writes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from joints.errors import JointsError
from joints.runtime.files import write_text
from joints.runtime.log import CPU_SECONDS

if TYPE_CHECKING:
    from joints.study.plan import Plan

ANY_JOB = 1.0  # starting a job, and what the small ones do
REPORT = 15.0
THEORY = 20.0  # a million simulated rows
FOREST, OUTLIERS = "forest", "outliers"  # measured like models: per fold, and per repetition
GUESSES = {FOREST: 1.0, OUTLIERS: 5.0}  # per 100,000 cells
USUAL_RATES = 10  # that costs are given for
FEWEST_RATES = 4  # that a measurement needs
HEADER = """\
# CPU seconds: per fold, for a forest and for fitting and predicting at ten rates; per repetition, for outlier studies.
# `python -m joints.study.costs config/<run>.yaml` replaces what a finished run has measured.

"""


class Costs:
    """The costs of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def per_fold(self, dataset: str, work: str) -> float:
        """What was measured, or a guess."""
        guess = GUESSES[work] if work in GUESSES else self.plan.methods[work].seconds
        return self.plan.measured.get(dataset, {}).get(work, guess * self.plan.size(dataset))

    def forests(self, dataset: str, repetitions: str) -> float:
        """The forests of some repetitions."""
        return self.per_fold(dataset, FOREST) * self._folds(dataset, repetitions)

    def scores(self, dataset: str, model: str, repetitions: str, group: str) -> float:
        """Fitting a model and predicting, on some repetitions, for a group of mechanisms."""
        cases = len(self.plan.protocol(dataset).rates) * len(group.split("+"))
        fits = cases if self.plan.own_forest(group) else 1
        return self.per_fold(dataset, model) * _share(cases, fits) * self._folds(dataset, repetitions)

    def variants(self, dataset: str) -> float:
        """All variants of the ablation on a dataset."""
        plan, share = self.plan, _share(len(self.plan.ablation["rates"]))
        models = [model for name in plan.variants_by_dataset[dataset] for model in plan.variant_models(name)]
        forests = {str(plan.variant_forest(name)) for name in plan.variants_by_dataset[dataset]}
        fold = sum(self.per_fold(dataset, model) * share for model in models)
        fold += self.per_fold(dataset, FOREST) * len(forests)
        return fold * plan.protocol(dataset).folds * len(plan.variant_repetitions)

    def outliers(self, study: str, *datasets: str) -> float:
        """An outlier study of some datasets."""
        repetitions = self.plan.config["outliers"][study]["repetitions"]
        return repetitions * sum(self.per_fold(dataset, OUTLIERS) for dataset in datasets)

    def job(self, rule: str, wildcards: Mapping[str, str]) -> float:
        """A job of the workflow."""
        if rule == "grow_forests":
            return ANY_JOB + self.forests(wildcards["dataset"], wildcards["repetitions"])
        if rule == "score_wine":
            pair = self.plan.config["outliers"]["wine"]["datasets"][wildcards["reading"]]
            return ANY_JOB + self.outliers("wine", *pair)
        if rule == "score_images":
            return ANY_JOB + self.outliers("images", self.plan.config["outliers"]["images"]["dataset"])
        return ANY_JOB + self._named.get(rule, 0.0)

    def expected(self, dag: Any) -> dict[int, float]:
        """The jobs that Snakemake is to run, by their ids, with what they are expected to cost."""
        costs = {
            job: 0.0 if job.is_norun else self.job(job.rule.name, job.wildcards_dict) for job in dag.needrun_jobs()
        }
        return {dag.jobid(job): seconds for job, seconds in costs.items()}

    @cached_property
    def _named(self) -> dict[str, float]:
        """The jobs that have rules of their own."""
        scores = {job.name: job.seconds for job in self.plan.score_jobs}
        variants = {f"score_variants_{name}": self.variants(name) for name in self.plan.variants_by_dataset}
        return {**scores, **variants, "build_report": REPORT, "simulate_theory": self._theory()}

    def _theory(self) -> float:
        settings = self.plan.theory
        if not settings:
            return 0.0
        rows = sum(settings["rows"]) + settings["example_rows"] * len(settings["epsilons"])
        return THEORY * rows * settings["repetitions"] / 1e6

    def _folds(self, dataset: str, repetitions: str) -> int:
        first, last = map(int, repetitions.split("-"))
        return self.plan.protocol(dataset).folds * (last - first + 1)


def _share(cases: int, fits: int = 1) -> float:
    """What so many masks and fits cost, relative to one fit and the usual rates, half of which is taken for fitting."""
    return (fits + cases / USUAL_RATES) / 2


def measure(plan: Plan) -> dict[str, dict[str, float]]:
    """Dataset -> work -> CPU seconds, from what a finished run has written."""
    found: dict[str, dict[str, float]] = {}
    for (dataset, model), seconds in _fitted(plan).items():
        found.setdefault(dataset, {})[model] = seconds
    logs = plan.files.logs
    for dataset in plan.names:
        spent = [cpu_seconds(path) for path in (logs / "forests" / dataset).glob("*.log")]
        folds = plan.protocol(dataset).folds * plan.protocol(dataset).repetitions
        if spent:
            found.setdefault(dataset, {})[FOREST] = sum(spent) / folds
    for study in plan.studies:
        for path in (logs / "outliers").glob("images.log" if study == "images" else "wine_*.log"):
            settings = plan.config["outliers"][study]
            own = settings["dataset"] if study == "images" else settings["datasets"][path.stem.removeprefix("wine_")]
            names = [own] if isinstance(own, str) else own
            for name in names:
                found.setdefault(name, {})[OUTLIERS] = cpu_seconds(path) / settings["repetitions"] / len(names)
    return found


def _fitted(plan: Plan) -> dict[tuple[str, str], float]:
    import pandas as pd

    path = plan.files.results / "seconds.csv"
    if not path.is_file():
        raise JointsError(f"there is no {path}: finish the run {plan.run!r} first")
    keys = ["dataset", "model", "mechanism", "repetition", "fold"]
    found = pd.read_csv(path)
    shared = found[[not plan.own_forest(name) for name in found["mechanism"]]]
    folds = shared.groupby(keys).agg({"fit_seconds": "first", "predict_seconds": "mean", "rate": "size"})
    folds = folds[folds["rate"] >= FEWEST_RATES]
    means = (folds["fit_seconds"] + USUAL_RATES * folds["predict_seconds"]).groupby(["dataset", "model"]).mean()
    return dict(zip(means.index, means, strict=True))


def cpu_seconds(log: Path) -> float:
    """The CPU seconds of a job, from the last line of its log."""
    found = re.findall(CPU_SECONDS.replace("%.1f", r"([0-9.]+)"), log.read_text(encoding="utf-8"))
    return float(found[-1]) if found else 0.0


def update(path: Path, measured: Mapping[str, Mapping[str, float]], known: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the catalogue of costs with new numbers."""
    datasets = {name: {**known.get(name, {}), **measured.get(name, {})} for name in sorted({*known, *measured})}
    rounded = {name: {work: float(f"{s:.2g}") for work, s in sorted(of.items())} for name, of in datasets.items()}
    lines = [
        f"{name}: {yaml.safe_dump(of, default_flow_style=True, width=1000).strip()}\n" for name, of in rounded.items()
    ]
    write_text(path, HEADER + "".join(lines))


def main() -> None:
    from joints.study.plan import Plan

    try:
        plan = Plan.read(sys.argv[1:] or ["config/reference.yaml"])
        update(Path(plan.config["catalogues"]["costs"]), measure(plan), plan.measured)
    except JointsError as error:
        sys.exit(f"Error: {error}.")


if __name__ == "__main__":
    main()
