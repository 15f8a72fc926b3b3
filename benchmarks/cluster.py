"""How many submissions a run becomes on a cluster, and how long it takes there: a simulation over the expected costs.

    python benchmarks/cluster.py [CONFIG ...] [--nodes 1 10 100]

Without a configuration: the paper, the modern study, and the 72 datasets of OpenML-CC18 by their sizes (`cc18.csv`), as
`make suite` extends config/quick.yaml.  The submissions are those of a dry run from nothing.  A node has two
processors, each of which may run a job of one thread; a submission starts when all that it needs is there and a node
has room for it, the longest first.  Memory and the cluster's other users are left out.
"""

from __future__ import annotations

import argparse
import csv
import heapq
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml
from targets import Targets

from joints.study.submissions import PROCESSORS, SHORT, Submission

WAITING = 15.0  # seconds that Slurm and Snakemake need to start a submission and to notice its end
MOST_HOURS = 6.0  # of the paper
LONGEST_DAY = 24 * 3600.0  # the limit of a common partition
PAPER, MODERN = "config/config.yaml", "config/modern.yaml"


def found(config: str) -> list[Submission]:
    """The submissions of a dry run of everything."""
    from snakemake.cli import main

    from snakemake_logger_plugin_joints import Expectation

    options = ["--dry-run", "--forceall", "--quiet", "all", "--logger", "joints"]
    try:
        main(["--configfile", config, "--profile", "profiles/slurm", *options])
    except SystemExit as leaving:
        if leaving.code:
            raise
    return list(Expectation.found)


def quietly(config: str) -> list[Submission]:
    """The same in a process of its own, since Snakemake can be started once."""
    with multiprocessing.get_context("spawn").Pool(1, initializer=_silence) as pool:
        return pool.apply(found, (config,))


def _silence() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os.dup2(sys.stdout.fileno(), sys.stderr.fileno())


def wall_seconds(submissions: Sequence[Submission], nodes: int) -> float:
    """How long a run takes on so many nodes."""
    missing = [set(submission.needs) for submission in submissions]
    needed_by: list[list[int]] = [[] for _ in submissions]
    for place, submission in enumerate(submissions):
        for needed in submission.needs:
            needed_by[needed].append(place)
    free = [PROCESSORS] * nodes
    ready = [(-submissions[place].seconds, place) for place, needs in enumerate(missing) if not needs]
    heapq.heapify(ready)
    running: list[tuple[float, int, int]] = []  # when it ends, which, and on which node; -1 where the run was started
    now = 0.0
    while ready or running:
        waiting = []
        while ready:
            order, place = heapq.heappop(ready)
            submission = submissions[place]
            node = -1 if submission.local else _room(free, submission.processors)
            if node is None:
                waiting.append((order, place))
                continue
            if node >= 0:
                free[node] -= submission.processors
            heapq.heappush(running, (now + submission.seconds + (0 if submission.local else WAITING), place, node))
        ready = waiting
        now, place, node = heapq.heappop(running)
        if node >= 0:
            free[node] += submissions[place].processors
        for other in needed_by[place]:
            missing[other].discard(place)
            if not missing[other]:
                ready.append((-submissions[other].seconds, other))
        heapq.heapify(ready)
    return now


def _room(free: Sequence[int], processors: int) -> int | None:
    """The node that is used most among those with room."""
    nodes = [node for node, count in enumerate(free) if count >= processors]
    return min(nodes, key=lambda node: free[node]) if nodes else None


def suite(folder: str) -> str:
    """The configuration that `make suite` would write for OpenML-CC18."""
    with (Path(__file__).parent / "cc18.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    entries = {
        row["dataset"]: {
            "label": row["dataset"],
            "sources": [{"openml": {"id": int(row["id"])}}],
            "target": "class",
            "numbers": {"n": int(row["rows"]), "continuous": int(row["features"]), "classes": int(row["classes"])},
        }
        for row in rows
    }
    catalogue = Path(folder, "datasets.yaml")
    catalogue.write_text(yaml.safe_dump(entries))
    content = {
        "extends": str(Path("config/quick.yaml").absolute()),
        "run": "suite_99",
        "catalogues": {"datasets": str(catalogue)},
        "datasets": list(entries),
        "fetch": {"sources": ["openml"]},
        "protocol": {"exceptions": {}},
        "developed_on": [],
        **dict.fromkeys(("outliers", "ablation", "theory")),
    }
    path = Path(folder, "suite_99.yaml")
    path.write_text(yaml.safe_dump(content))
    return str(path)


def describe(name: str, all_of_it: Sequence[Submission], nodes: Sequence[int]) -> float:
    """Print what was found about a run; returns its core-hours."""
    sent = [submission for submission in all_of_it if not submission.local]
    hours = sum(submission.seconds * submission.processors for submission in all_of_it) / 3600
    short = [submission for submission in sent if submission.seconds < 0.9 * SHORT]
    long = [submission for submission in sent if submission.seconds > LONGEST_DAY]
    print(f"{name}: {len(sent)} submissions, {hours:.1f} core-hours")
    print(f"  shorter than {0.9 * SHORT / 60:.1f} minutes: {', '.join(brief(one) for one in short) or 'none'}")
    print(f"  longer than a day: {', '.join(brief(one) for one in long) or 'none'}")
    print(f"  asked for at most: {max(submission.minutes for submission in sent) / 60:.1f} hours")
    for count in nodes:
        minutes = wall_seconds(all_of_it, count) / 60
        print(f"  {count} {'node' if count == 1 else 'nodes'} of {PROCESSORS} processors: {minutes:.0f} minutes")
    return hours


def brief(submission: Submission) -> str:
    return f"{submission.name} ({submission.seconds / 60:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", nargs="*")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 10, 100])
    arguments = parser.parse_args()
    targets = Targets()
    with tempfile.TemporaryDirectory() as folder:
        for config in arguments.configs or [PAPER, MODERN, suite(folder)]:
            hours = describe(Path(config).name, quietly(config), arguments.nodes)
            if config == PAPER:
                targets.at_most("core-hours", hours, MOST_HOURS)
    targets.finish()


if __name__ == "__main__":
    main()
