"""How many submissions a run becomes on a cluster, and how long it takes there: a simulation over the measured costs.

    python benchmarks/cluster.py [--config config/config.yaml] [--nodes 1 10 100]

A node works on one submission at a time, with two processors.  The forests of a dataset are grown before its scores are
computed, the tables follow when all scores are there, and the submission that takes longest starts first.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Sequence

from targets import Targets

from joints.study.plan import Plan
from joints.study.submissions import STUDY

PROCESSORS = 2
WAITING = 15.0  # seconds that Slurm and Snakemake need to start a submission and to notice its end
REPORT = 30.0  # seconds for the report, on the node that Snakemake runs on
MOST_HOURS = 6.0


def stages(plan: Plan) -> list[dict[str, float]]:
    """Submission -> seconds on two processors, stage by stage."""
    batches, costs = plan.batches, plan.costs
    forests: dict[str, float] = dict.fromkeys(filter(None, map(batches.encoding, plan.outlier_datasets)), 1.0)
    for dataset in plan.names:
        for piece in plan.pieces(dataset):
            seconds = costs.job("grow_forests", {"dataset": dataset, "repetitions": piece})
            add(forests, batches.forests(dataset, piece) or f"forests of {dataset}, {piece}", seconds)
    scores: dict[str, float] = {}
    for job in plan.score_jobs:
        add(scores, batches.scores(job.name) or job.name, costs.job(job.name, {}))
    for dataset in plan.variants_by_dataset:
        name = f"score_variants_{dataset}"
        add(scores, batches.scores(name) or name, costs.job(name, {}))
    tables = dict.fromkeys({*(batches.tables(dataset) for dataset in plan.names), batches.tables(STUDY)}, 60.0)
    return [forests, scores, {str(name): seconds for name, seconds in tables.items()}]


def add(load: dict[str, float], name: str, seconds: float) -> None:
    load[name] = load.get(name, 0.0) + seconds / PROCESSORS


def wall_seconds(submissions: Sequence[float], nodes: int) -> float:
    """How long so many nodes need, the longest submission first."""
    free = [0.0] * nodes
    for seconds in sorted(submissions, reverse=True):
        heapq.heappush(free, heapq.heappop(free) + WAITING + seconds)
    return max(free)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="config/config.yaml")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 10, 100])
    arguments = parser.parse_args()
    found = stages(Plan.read([arguments.config]))
    hours = sum(sum(stage.values()) for stage in found) * PROCESSORS / 3600
    print(f"{arguments.config}: {sum(map(len, found))} submissions")
    for nodes in arguments.nodes:
        minutes = (sum(wall_seconds(list(stage.values()), nodes) for stage in found) + REPORT) / 60
        longest = max(max(stage.values()) for stage in found) / 60
        many = "node" if nodes == 1 else "nodes"
        print(f"  {nodes} {many} of {PROCESSORS} processors: {minutes:.0f} minutes (longest submission {longest:.0f})")
    targets = Targets()
    targets.at_most("core-hours", hours, MOST_HOURS)
    targets.finish()


if __name__ == "__main__":
    main()
