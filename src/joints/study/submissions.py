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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from joints.study.costs import ANY_JOB

if TYPE_CHECKING:
    from joints.study.plan import Plan

SHORT = 300.0  # CPU seconds of the longest job that does not travel alone
PROCESSORS = 2  # of a batch
FULL = PROCESSORS * SHORT  # CPU seconds of a batch
TO_START = 15.0  # minutes that a batch asks for, besides three times those that it is expected to need
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
    def minutes(self) -> dict[str, int]:
        """The time that each batch asks a cluster for."""
        load: dict[str, float] = {}
        stages: list[tuple[Mapping[Any, float], Mapping[Any, str]]] = [
            (self._forest_costs, self._forests),
            (self._score_costs, self._scores),
            (self._table_costs, self._tables),
        ]
        for costs, batches in stages:
            for key, seconds in costs.items():
                load[batches[key]] = load.get(batches[key], 0.0) + seconds
        return {name: int(TO_START + 3 * seconds / PROCESSORS / 60) for name, seconds in sorted(load.items())}

    def _forest_cost(self, dataset: str, repetitions: str) -> float:
        return self.plan.costs.job("grow_forests", {"dataset": dataset, "repetitions": repetitions})

    @cached_property
    def _forest_costs(self) -> dict[str, float]:
        """Dataset -> encoding it and growing its forests, except for those that travel alone."""
        costs = {name: ANY_JOB for name in [*self.plan.names, *self.plan.outlier_datasets]}
        for name in self.plan.names:
            pieces = [self._forest_cost(name, piece) for piece in self.plan.pieces(name)]
            costs[name] += sum(cost for cost in pieces if cost <= SHORT)
        return costs

    @cached_property
    def _forests(self) -> dict[str, str]:
        return pack("forests", self._forest_costs)

    @cached_property
    def _score_costs(self) -> dict[tuple[str, ...], float]:
        """Rule and wildcards of everything that is scored, or simulated, and does not travel alone."""
        plan = self.plan
        jobs: list[tuple[str, dict[str, str]]] = [(job.name, {}) for job in plan.score_jobs]
        jobs += [(f"score_variants_{name}", {}) for name in plan.variants_by_dataset]
        if "wine" in plan.studies:
            jobs += [("score_wine", {"reading": reading}) for reading in plan.config["outliers"]["wine"]["datasets"]]
        if "images" in plan.studies:
            jobs.append(("score_images", {}))
        if plan.theory:
            jobs.append(("simulate_theory", {}))
        costs = {(rule, *wildcards.values()): plan.costs.job(rule, wildcards) for rule, wildcards in jobs}
        return {key: cost for key, cost in costs.items() if cost <= SHORT}

    @cached_property
    def _scores(self) -> dict[tuple[str, ...], str]:
        return pack("scores", self._score_costs)

    @cached_property
    def _table_costs(self) -> dict[str, float]:
        """Dataset -> what is made from its scores."""
        each = ANY_JOB * (1 + len(self.plan.views))
        return {**dict.fromkeys(self.plan.names, each), STUDY: ANY_JOB * STUDY_JOBS}

    @cached_property
    def _tables(self) -> dict[str, str]:
        return pack("tables", self._table_costs)


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


class Submission(NamedTuple):
    """What is submitted at once, or what runs at once where the run was started."""

    name: str
    seconds: float  # that it is expected to take on its processors
    processors: int
    minutes: int  # that it asks for
    needs: frozenset[int]  # the places of others in the list of submissions
    local: bool


def submissions(dag: Any, costs: Mapping[int, float]) -> list[Submission]:
    """The submissions of a run, from Snakemake's graph of jobs: batches, and jobs that travel alone."""
    jobs = [job for job in dag.needrun_jobs() if not job.is_norun]
    sent = {job: dag.get_job_group(job) or job for job in jobs}
    places = {unit: place for place, unit in enumerate(dict.fromkeys(sent.values()))}
    members: list[list[Any]] = [[] for _ in places]
    for job in jobs:
        members[places[sent[job]]].append(job)
    found = []
    for unit, inside in zip(places, members, strict=True):
        seconds = [costs[dag.jobid(job)] for job in inside]
        processors = PROCESSORS if unit.is_group() else inside[0].threads
        needs = {places[sent[needed]] for job in inside for needed in dag.dependencies[job] if needed in sent}
        found.append(
            Submission(
                unit.groupid if unit.is_group() else str(inside[0]),
                max(sum(seconds) / processors, max(seconds) / inside[0].threads),
                processors,
                int(unit.resources.get("runtime", 0)),
                frozenset(needs - {places[unit]}),
                inside[0].rule.name in dag.workflow._localrules,
            )
        )
    return found
