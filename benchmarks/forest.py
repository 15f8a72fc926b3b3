"""Forests and Generative Forests against scikit-learn's random forest; every ratio compares times of the same run.

    python benchmarks/forest.py [--jobs N] [--repeats R]

Times are the best of R repeats; the exit code says whether every target was met.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from tables import Fold

from joints import ForestClassifier, GenerativeForestClassifier

GROW = {"breast": 0.5, "vowel": 0.5, "texture": 1.0, "electricity": 1.0}  # dataset: largest ratio to scikit-learn
PUBLISHED = {"min_sd": 1.0, "smoothing": 1e-6, "combine": "average"}
ANSWER = {0.3: 1.5, 0.9: 2.0}  # missing rate: largest ratio to the time that scikit-learn takes to fit


def best_seconds(functions: list[Callable[[], object]], repeats: int) -> list[float]:
    """The best time of each function; they take turns, so that load on the machine affects all alike."""
    times = [[] for _ in functions]
    for _ in range(repeats):
        for record, function in zip(times, functions, strict=True):
            start = time.perf_counter()
            function()
            record.append(time.perf_counter() - start)
    return [min(record) for record in times]


def report(what: str, ours: float, theirs: float, target: float) -> bool:
    met = ours <= target * theirs
    mark = "" if met else "   TARGET MISSED"
    print(f"  {what:48s} {ours:8.3f} s  against {theirs:8.3f} s: ratio {ours / theirs:5.2f}, target {target}{mark}")
    return met


def grow_and_predict(name: str, jobs: int, repeats: int) -> bool:
    fold = Fold(name)
    print(f"{name} {fold.train.shape} ({fold.source})")
    ours = ForestClassifier(random_state=0, n_jobs=jobs, categorical_features=fold.domains)
    theirs = RandomForestClassifier(n_estimators=100, random_state=0, n_jobs=jobs)
    times = best_seconds(
        [lambda: ours.fit(fold.train, fold.y_train), lambda: theirs.fit(fold.train, fold.y_train)], repeats
    )
    met = report("grow 100 trees", *times, GROW[name])
    times = best_seconds([lambda: ours.predict_proba(fold.test), lambda: theirs.predict_proba(fold.test)], repeats)
    met &= report("predict complete rows", *times, 1.0)
    accuracy = [(model.predict(fold.test) == fold.y_test).mean() for model in (ours, theirs)]
    print(f"  accuracy {accuracy[0]:.4f}, scikit-learn {accuracy[1]:.4f}")
    for reading in ("published", "text"):
        ours.set_params(surrogates=reading).fit(fold.train, fold.y_train)
        start = time.perf_counter()
        ours.find_surrogates()
        print(f"  surrogate splits, {reading} reading: {time.perf_counter() - start:.3f} s")
    return met


def answer(jobs: int, repeats: int) -> bool:
    fold = Fold("electricity")
    forest = ForestClassifier(random_state=0, n_jobs=jobs, categorical_features=fold.domains)
    forest.fit(fold.train, fold.y_train)
    peer = RandomForestClassifier(n_estimators=100, random_state=0, n_jobs=jobs)
    n_leaves = forest.forest_.n_leaves / 100
    print(f"GeF, GeF+ and Friedman in one pass: electricity, {len(fold.test)} rows, {n_leaves:.0f} leaves per tree")
    gef = GenerativeForestClassifier.from_forest(forest, **PUBLISHED)
    times = best_seconds(
        [
            lambda: GenerativeForestClassifier.from_forest(forest, **PUBLISHED),
            lambda: forest.fit(fold.train, fold.y_train),
        ],
        repeats,
    )
    print(f"  leaf densities: {times[0]:.3f} s, growing {times[1]:.3f} s")
    met = True
    for rate in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9):
        holes = fold.with_holes(rate)
        times = best_seconds([lambda h=holes: gef.answer(h), lambda: peer.fit(fold.train, fold.y_train)], repeats)
        met &= report(f"answer at {rate:.0%} missing, against fitting", *times, ANSWER.get(rate, np.inf))
    return met


def memory() -> bool:
    """Peak memory of a process that fits electricity and predicts, and of one that only loads it."""
    peaks = []
    for part in ("load", "fit"):
        line = subprocess.run([sys.executable, __file__, "--memory", part], capture_output=True, text=True, check=True)
        peaks.append(int(line.stdout.split()[-1]))
    print(f"memory: electricity takes {peaks[1] / 1024:.0f} MiB at its peak, {peaks[0] / 1024:.0f} MiB before growing")
    return True


def memory_part(part: str) -> None:
    fold = Fold("electricity")
    if part == "fit":
        gef = GenerativeForestClassifier(**PUBLISHED, random_state=0, n_jobs=2, categorical_features=fold.domains)
        gef.fit(fold.train, fold.y_train).answer(fold.with_holes(0.3))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def start_up() -> bool:
    """Seconds from the start of Python to usable estimators, minus those of an empty program."""
    programs = ("pass", "import joints", "from joints import ForestClassifier, GenerativeForestClassifier")
    times = best_seconds([lambda p=p: subprocess.run([sys.executable, "-c", p], check=True) for p in programs], 3)
    print(
        f"start: import joints {times[1] - times[0]:.2f} s, with its estimators {times[2] - times[0]:.2f} s, target 1.5"
    )
    return times[1] - times[0] < 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", choices=["load", "fit"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        return memory_part(arguments.memory)
    results = [memory()]  # first, because a child process inherits its parent's peak memory
    results += [grow_and_predict(name, arguments.jobs, arguments.repeats) for name in GROW]
    results += [answer(arguments.jobs, arguments.repeats), start_up()]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
