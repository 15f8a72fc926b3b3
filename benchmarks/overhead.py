"""How much of a finished run's CPU time is not our own computation.

    python benchmarks/overhead.py [--run NAME]

Every log ends with the CPU seconds of its job, including what it called, and `snakemake.log` with those of Snakemake's
own process: with the process that jobs are forks of, they are the whole run.  Not our own computation are Snakemake,
its report, that process, and the start of every job: one that imports what the job imports, loads a first kernel if the
job needs any, and stops.  Reading and writing files, and drawing, are our own.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import targets

from joints.patches.snakemake_scripts import LIBRARIES, run_forked, start_server
from joints.study.costs import cpu_seconds

ROOT = Path(__file__).resolve().parent.parent
MOST = 0.15
# The first kernel loads what numba needs for all of them.
KERNEL = "; import numpy; from joints.numerics.random import mix; mix(numpy.uint64(0), numpy.uint64(0))"
SCRIPTS = {  # pattern of logs: the script of such a job; elsewhere the log has the name of the script
    "fetch/*.log": "fetch_dataset",
    "encode/*.log": "encode_dataset",
    "forests/*/*.log": "grow_forests",
    "scores/*/*.log": "score_models",
    "means/*.log": "summarise_dataset",
    "render/**/*.log": "render_dataset",
    "ablation/summarise.log": "summarise_ablation",
    "ablation/*.log": "score_variants",
    "outliers/images.log": "score_images",
    "outliers/images/*.log": "fetch_foreign_images",
    "outliers/wine_*.log": "score_wine",
    "outliers/summarise_*.log": "summarise_outliers",
    "outliers/draw_*.log": "draw_outliers",
}
OUTSIDE = ("snakemake", "build_report")  # altogether
LOADED = {  # by name, from the catalogues
    "score_models": ["joints.study.methods.gef", "joints.study.mechanisms.mcar", "joints.study.metrics"],
    "score_variants": ["joints.study.methods.gef", "joints.study.mechanisms.mcar", "joints.study.metrics"],
}


def jobs(logs: Path) -> dict[str, list[Path]]:
    """Script -> the logs of its jobs."""
    found: dict[str, list[Path]] = {}
    left = set(logs.rglob("*.log"))
    for pattern, script in SCRIPTS.items():
        some = left & set(logs.glob(pattern))
        found.setdefault(script, []).extend(some)
        left -= some
    for path in left:
        found.setdefault(path.stem, []).append(path)
    return {script: paths for script, paths in found.items() if paths}


def modules_of(script: str) -> list[str]:
    """The modules of the package that a script of the workflow imports, and those that it loads by name."""
    text = (ROOT / "workflow" / "scripts" / f"{script}.py").read_text()
    return [*re.findall(r"^from (joints\.\S+) import", text, re.MULTILINE), *LOADED.get(script, [])]


def start_up(modules: list[str]) -> float:
    """User and system seconds of a process that starts as a job does; the smallest of three."""
    with tempfile.TemporaryDirectory() as folder:
        script, found = Path(folder) / "job.py", Path(folder) / "seconds"
        log = f"from joints.runtime import log; log.start({str(Path(folder) / 'job.log')!r})"
        program = f"from snakemake.iocontainers import Snakemake; {log}; import {', '.join(modules)}"
        program += KERNEL if any("forests" in name or "outliers.studies" in name for name in modules) else ""
        script.write_text(f"{program}; import os; open({str(found)!r}, 'a').write(f'{{sum(os.times()[:4])}}\\n')")
        for _ in range(3):
            run_forked(str(script))
        return min(map(float, found.read_text().split()))


def server() -> float:
    """User and system seconds of the process that jobs are forks of: one that imports the libraries."""
    command = [sys.executable, "-c", f"import {', '.join(LIBRARIES)}"]
    return targets.cpu_seconds(lambda: subprocess.run(command, check=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="quick")
    logs = ROOT / "results" / parser.parse_args().run / "logs"
    if not (logs / "snakemake.log").is_file():
        print(f"there is no finished run in {logs.parent.relative_to(ROOT)}, so there is nothing to measure")
        return
    start_server()
    outside = total = server()
    print(f"  {'imports of libraries':22s}    1 time, {total:7.1f} s")
    for script, paths in sorted(jobs(logs).items()):
        spent = sum(map(cpu_seconds, paths))
        start = spent / len(paths) if script in OUTSIDE else start_up(modules_of(script))
        outside, total = outside + start * len(paths), total + spent
        print(f"  {script:22s} {len(paths):4d} jobs, {spent:7.1f} s, of which {start:5.2f} s each are outside")
    print(f"outside {outside:.0f} of {total:.0f} CPU seconds: {outside / total:.0%}, target {MOST:.0%}")
    sys.exit(int(outside > MOST * total))


if __name__ == "__main__":
    main()
