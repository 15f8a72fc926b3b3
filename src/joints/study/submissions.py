"""Which jobs travel together to a cluster.

A cluster's queue is made for jobs of minutes to hours, and most jobs of a run take seconds.  The short ones of each
stage are put into batches, by what they are expected to cost, so that a batch takes about five minutes on two cores;
longer jobs travel alone.  Snakemake calls a batch a group: it is submitted as one, and starts when everything that its
jobs need from other batches is there.  A stage depends only on earlier stages, so that no two batches wait for each
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from joints.study.costs import ANY_JOB

if TYPE_CHECKING:
    from joints.study.plan import Plan

SHORT = 300.0  # CPU seconds of the longest job that does not travel alone
FULL = 600.0  # CPU seconds of a batch
STUDY = "study"  # the tables and figures about all datasets, among those of single ones
STUDY_JOBS = 12

Key = TypeVar("Key")


class Batches:
    """The batches of a plan; None stands for a job that travels alone."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def encoding(self, dataset: str) -> str | None:
        return self._forests.get(dataset)

    def forests(self, dataset: str, repetitions: str) -> str | None:
        return self._forests.get(dataset) if self._forest_cost(dataset, repetitions) <= SHORT else None

    def scores(self, rule: str, **wildcards: str) -> str | None:
        return self._scores.get((rule, *wildcards.values()))

    def wine(self, reading: str) -> str | None:
        return self.scores("score_wine", reading=reading)

    def tables(self, dataset: str) -> str | None:
        return self._tables.get(dataset)

    @property
    def study(self) -> str:
        return self._tables[STUDY]

    @property
    def names(self) -> list[str]:
        """All batches."""
        return sorted({*self._forests.values(), *self._scores.values(), *self._tables.values()})

    def _forest_cost(self, dataset: str, repetitions: str) -> float:
        return self.plan.costs.job("grow_forests", {"dataset": dataset, "repetitions": repetitions})

    @cached_property
    def _forests(self) -> dict[str, str]:
        """Dataset -> batch in which it is encoded, and its forests are grown."""
        costs = {name: ANY_JOB for name in [*self.plan.names, *self.plan.outlier_datasets]}
        for name in self.plan.names:
            pieces = [self._forest_cost(name, piece) for piece in self.plan.pieces(name)]
            costs[name] += sum(cost for cost in pieces if cost <= SHORT)
        return pack("forests", costs)

    @cached_property
    def _scores(self) -> dict[tuple[str, ...], str]:
        """Rule and wildcards of everything that is scored -> batch."""
        plan = self.plan
        jobs: list[tuple[str, dict[str, str]]] = [(job.name, {}) for job in plan.score_jobs]
        jobs += [(f"score_variants_{name}", {}) for name in plan.variants_by_dataset]
        if "wine" in plan.studies:
            jobs += [("score_wine", {"reading": reading}) for reading in plan.config["outliers"]["wine"]["datasets"]]
        if "images" in plan.studies:
            jobs.append(("score_images", {}))
        costs = {(rule, *wildcards.values()): plan.costs.job(rule, wildcards) for rule, wildcards in jobs}
        return pack("scores", {key: cost for key, cost in costs.items() if cost <= SHORT})

    @cached_property
    def _tables(self) -> dict[str, str]:
        """Dataset -> batch of what is made from its scores."""
        each = ANY_JOB * (1 + len(self.plan.views))
        return pack("tables", {**dict.fromkeys(self.plan.names, each), STUDY: ANY_JOB * STUDY_JOBS})


def pack(stage: str, costs: Mapping[Key, float]) -> dict[Key, str]:
    """Divide jobs evenly among as many batches as can be full: the costliest first, each to the emptiest batch.

    >>> pack("scores", {"a": 250, "b": 300, "c": 100, "d": 280, "e": 290})
    {'b': 'scores_1', 'e': 'scores_2', 'd': 'scores_2', 'a': 'scores_1', 'c': 'scores_1'}
    """
    load = [0.0] * max(1, int(sum(costs.values()) / FULL))
    batch = {}
    for key in sorted(costs, key=lambda key: -costs[key]):
        emptiest = load.index(min(load))
        load[emptiest] += costs[key]
        batch[key] = f"{stage}_{emptiest + 1}"
    return batch


def submissions(dag: Any) -> int:
    """The number of submissions of a run, from Snakemake's graph of jobs: batches, and jobs that travel alone."""
    local = dag.workflow._localrules
    jobs = [job for job in dag.needrun_jobs() if not job.is_norun and job.rule.name not in local]
    return len({dag.get_job_group(job) or job for job in jobs})
