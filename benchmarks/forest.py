"""Forests and Generative Forests against scikit-learn's random forest; every ratio compares times of the same run.

    python benchmarks/forest.py [--jobs N] [--repeats R]

Times are the best of R repeats; the exit code says whether every target was met.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import partial

from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier
from tables import DENSITIES, Fold
from targets import Targets, best_seconds, cpu_seconds, gibibytes

from joints import ForestClassifier, GenerativeForestClassifier

# The largest ratios to scikit-learn, somewhat above what was measured last.
GROW = {"breast": 0.3, "vowel": 0.5, "texture": 0.4, "electricity": 0.65}
SURROGATES = {"breast": (0.3, 1.0), "vowel": (0.35, 0.8), "texture": (0.35, 1.5), "electricity": (0.6, 1.1)}  # readings
ANSWER = {0.0: 0.15, 0.1: 0.35, 0.3: 0.6, 0.5: 0.9, 0.7: 1.2, 0.9: 1.0}  # by missing rate
LEAVES = 0.35
MEMORY = {"load": 0.5, "fit": 2.0}  # GiB
START = 0.1, 1.15  # parts of the time that numba and scikit-learn take to import
CHOOSE = 3.0  # fitting with settings that are chosen against fitting with given ones
LARGE = 200_000


def grow_and_predict(name: str, jobs: int, repeats: int, targets: Targets) -> None:
    fold = Fold(name)
    print(f"{name} {fold.train.shape} ({fold.source}): CPU seconds as a multiple of scikit-learn's")
    ours = ForestClassifier(random_state=0, n_jobs=jobs, categorical_features=fold.domains)
    theirs = RandomForestClassifier(n_estimators=100, random_state=0, n_jobs=jobs)
    own, peer = best_seconds(
        [lambda: ours.fit(fold.train, fold.y_train), lambda: theirs.fit(fold.train, fold.y_train)], repeats
    )
    targets.at_most("grow 100 trees", own / peer, GROW[name])
    own, other = best_seconds([lambda: ours.predict_proba(fold.test), lambda: theirs.predict_proba(fold.test)], repeats)
    targets.at_most("predict complete rows", own / other, 1.0)
    accuracy = [(model.predict(fold.test) == fold.y_test).mean() for model in (ours, theirs)]
    print(f"  accuracy {accuracy[0]:.4f}, scikit-learn {accuracy[1]:.4f}")
    for reading, target in zip(("published", "text"), SURROGATES[name], strict=True):
        found = []
        for _ in range(repeats):
            ours.set_params(surrogates=reading).fit(fold.train, fold.y_train)
            found.append(cpu_seconds(ours.find_surrogates))
        targets.at_most(f"surrogate splits, {reading} reading, against fitting", min(found) / peer, target)


def answer(jobs: int, repeats: int, targets: Targets) -> None:
    fold = Fold("electricity")
    forest = ForestClassifier(random_state=0, n_jobs=jobs, categorical_features=fold.domains)
    forest.fit(fold.train, fold.y_train)
    peer = RandomForestClassifier(n_estimators=100, random_state=0, n_jobs=jobs)
    n_leaves = forest.forest_.n_leaves / 100
    print(f"GeF, GeF+ and Friedman in one pass: electricity, {len(fold.test)} rows, {n_leaves:.0f} leaves per tree")

    def convert() -> GenerativeForestClassifier:
        return GenerativeForestClassifier.from_forest(forest, **DENSITIES)

    gef = convert()
    tables = [fold.with_holes(rate) for rate in ANSWER]
    fit, own, *answers = best_seconds(
        [lambda: peer.fit(fold.train, fold.y_train), convert, *(lambda h=holes: gef.answer(h) for holes in tables)],
        repeats,
    )
    targets.at_most("leaf densities, against scikit-learn's fitting", own / fit, LEAVES)
    for (rate, target), seconds in zip(ANSWER.items(), answers, strict=True):
        targets.at_most(f"answer at {rate:.0%} missing, against scikit-learn's fitting", seconds / fit, target)


def choose(jobs: int, repeats: int, targets: Targets) -> None:
    """What it costs that a Generative Forest chooses its settings; a large table gets few trees."""
    fold = Fold("texture")
    large = make_classification(LARGE, 20, n_informative=10, n_classes=4, random_state=0)
    print("fitting with settings that are chosen, against fitting with the published ones")
    for name, n_trees, rounds, (X, y) in (
        ("wdbc", 100, 5 * repeats, load_breast_cancer(return_X_y=True)),
        (f"texture ({fold.source})", 100, repeats, (fold.train, fold.y_train)),
        (f"{LARGE} synthetic rows", 10, 1, large),
    ):
        chosen = GenerativeForestClassifier(n_trees, random_state=0, n_jobs=jobs)
        given = GenerativeForestClassifier(n_trees, random_state=0, n_jobs=jobs, **DENSITIES)
        own, other = best_seconds([partial(model.fit, X, y) for model in (chosen, given)], rounds)
        targets.at_most(name, own / other, CHOOSE)


def memory(targets: Targets) -> None:
    """Peak memory of a process that fits electricity and predicts, and of one that only loads it."""
    print("memory on electricity, GiB")
    for part, target in MEMORY.items():
        line = subprocess.run([sys.executable, __file__, "--memory", part], capture_output=True, text=True, check=True)
        targets.at_most(f"peak of a process that stops after: {part}", float(line.stdout.split()[-1]), target)


def memory_part(part: str) -> None:
    fold = Fold("electricity")
    if part == "fit":
        gef = GenerativeForestClassifier(random_state=0, n_jobs=2, categorical_features=fold.domains, **DENSITIES)
        gef.fit(fold.train, fold.y_train).answer(fold.with_holes(0.3))
    print(gibibytes())


def start_up(targets: Targets) -> None:
    """From the start of Python to usable estimators, minus an empty program, against what these are made of."""
    peer = "import numba, sklearn.ensemble"
    programs = ("pass", peer, "import joints", "from joints import ForestClassifier, GenerativeForestClassifier")
    empty, theirs, *times = best_seconds(
        [lambda p=p: subprocess.run([sys.executable, "-c", p], check=True) for p in programs], 3
    )
    print(f"start, against the {theirs - empty:.1f} CPU seconds of `{peer}`")
    for program, seconds, target in zip(programs[2:], times, START, strict=True):
        targets.at_most(program, (seconds - empty) / (theirs - empty), target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", choices=["load", "fit"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        return memory_part(arguments.memory)
    targets = Targets()
    memory(targets)  # first, because a child process inherits its parent's peak memory
    for name in GROW:
        grow_and_predict(name, arguments.jobs, arguments.repeats, targets)
    answer(arguments.jobs, arguments.repeats, targets)
    choose(arguments.jobs, arguments.repeats, targets)
    start_up(targets)
    targets.finish()


if __name__ == "__main__":
    main()
