"""Which jobs travel together to a cluster."""

from itertools import pairwise

import pytest

from joints.study.plan import Plan
from joints.study.submissions import FULL, SHORT, TO_START, pack


@pytest.mark.parametrize("config", ["config/config.yaml", "config/modern.yaml", "config/smoke.yaml"])
def test_batches_of_scores_are_full_and_long_jobs_travel_alone(config):
    plan = Plan.read([config])
    costs = {job.name: plan.costs.job(job.name, {}) for job in plan.score_jobs}
    batches = {name: plan.batches.scores(name) for name in costs}
    assert all((batches[name] is None) == (cost > SHORT) for name, cost in costs.items())
    load: dict[str, float] = {}  # outlier studies, the ablation and simulations travel with them
    for key, cost in plan.batches._score_costs.items():
        load[plan.batches._scores[key]] = load.get(plan.batches._scores[key], 0.0) + cost
    assert len(load) == 1 or FULL - SHORT < min(load.values()) <= max(load.values()) < 2 * FULL


def test_stages_follow_each_other():
    """A batch has jobs of one stage, so that none waits for itself."""
    plan = Plan.read(["config/config.yaml"])
    stages = [
        {plan.batches.encoding(name) for name in [*plan.names, *plan.outlier_datasets]},
        {plan.batches.scores(name) for name in [*(job.name for job in plan.score_jobs), "simulate_theory"]} - {None},
        {plan.batches.tables(name) for name in plan.names} | {plan.batches.study},
    ]
    assert all(one and not one & other for one, other in pairwise(stages))
    assert set.union(*stages) == set(plan.batches.minutes)


def test_a_batch_asks_for_its_own_time_and_not_for_that_of_every_job_in_it():
    plan = Plan.read(["config/config.yaml"])
    asked = plan.batches.minutes
    assert TO_START < asked["tables_1"] < len(plan.names) < asked["scores_1"]  # whole minutes for every job: 160
    assert all(minutes < 60 for minutes in asked.values())


def test_forests_travel_with_their_dataset():
    plan = Plan.read(["config/config.yaml"])
    for name in plan.names:
        for piece in plan.pieces(name):
            assert plan.batches.forests(name, piece) == plan.batches.encoding(name)


def test_a_batch_is_never_empty():
    assert pack("scores", {}) == {}
    assert set(pack("scores", dict.fromkeys(range(100), 30.0)).values()) == {f"scores_{i}" for i in range(1, 6)}
