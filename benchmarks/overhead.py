"""What starting the jobs of a finished run costs, compared with what they compute.

    python benchmarks/overhead.py [--run NAME]

The overhead is the CPU seconds of a process that imports what a job imports, loads a first kernel, and stops, times the
number of such jobs according to the run's logs.  It is compared with the CPU seconds of fitting and predicting in the
run's seconds.csv, plus the seconds of growing forests according to the logs.  Drawing, the outlier studies and
Snakemake itself are not counted on either side.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from joints.study.plan import Plan

ROOT = Path(__file__).resolve().parent.parent
MOST = 0.25
# The first kernel loads what numba needs for all of them.
KERNEL = "; import numpy; from joints.numerics.random import mix; mix(numpy.uint64(0), numpy.uint64(0))"
JOBS = {  # pattern of logs: the script of such a job
    "fetch/*.log": "fetch_dataset",
    "encode/*.log": "encode_dataset",
    "forests/*/*.log": "grow_forests",
    "means/*.log": "summarise_dataset",
    "render/*.log": "render_dataset",
}


def jobs(run: str) -> dict[str, list[str]]:
    """Pattern of logs -> the modules that such a job imports."""
    plan = Plan.read([ROOT / "config" / f"{run}.yaml"])
    found = {pattern: modules_of(script) for pattern, script in JOBS.items()}
    for model in plan.models:
        found[f"scores/*/{model}/*/*.log"] = [*modules_of("score_method"), *plan.modules([model], ["mcar"])]
    return found


def modules_of(script: str) -> list[str]:
    """The modules of the package that a script of the workflow imports."""
    text = (ROOT / "workflow" / "scripts" / f"{script}.py").read_text()
    return re.findall(r"^from (joints\.\S+) import", text, re.MULTILINE)


def start_up(modules: list[str]) -> float:
    """User and system seconds of a process that starts as a job does; the smallest of three."""
    with tempfile.TemporaryDirectory() as folder:
        log = f"from joints.runtime import log; log.start({str(Path(folder) / 'job.log')!r})"
        program = f"from snakemake.iocontainers import Snakemake; {log}; import {', '.join(modules)}"
        program += KERNEL if "joints.study.forests" in modules else ""
        found = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", program], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def computed(path: Path) -> float:
    """Seconds of fitting, once per fold, and of predicting."""
    seconds = pd.read_csv(path)
    folds = seconds.drop_duplicates(["dataset", "model", "mechanism", "repetition", "fold"])
    return float(folds["fit_seconds"].sum() + seconds["predict_seconds"].sum())


def grown(logs: Path) -> float:
    """Seconds of growing forests, from the last line of each log."""
    lines = [path.read_text().splitlines()[-1] for path in logs.glob("forests/*/*.log")]
    return float(sum(int(found[1]) for line in lines if (found := re.search(r"folds in (\d+) s", line))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="quick")
    run = parser.parse_args().run
    results = ROOT / "results" / run
    if not (results / "seconds.csv").is_file():
        print(f"there is no finished run in {results.relative_to(ROOT)}, so there is nothing to measure")
        return
    outside = 0.0
    for pattern, modules in jobs(run).items():
        n_jobs = len(list((results / "logs").glob(pattern)))
        if n_jobs:
            seconds = start_up(modules)
            outside += n_jobs * seconds
            print(f"  {pattern:30s} {n_jobs:4d} jobs start in {seconds:5.2f} s each")
    inside = computed(results / "seconds.csv") + grown(results / "logs")
    share = outside / (outside + inside)
    print(f"starting jobs {outside:.0f} s, computing {inside:.0f} s: {share:.0%} outside, target {MOST:.0%}")
    sys.exit(int(share > MOST))


if __name__ == "__main__":
    main()
