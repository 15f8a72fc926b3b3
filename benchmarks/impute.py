"""The imputers against their peers: time and memory; every ratio compares measurements of the same run.

    python benchmarks/impute.py [--jobs N] [knn] [memory] [missforest] [learning]

The exit code says whether every target was met.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
import sklearn.impute
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tables import Fold

from joints.impute import KNNImputer, MissForestImputer

TIMED = (0, 10, 20)  # features whose forests scikit-learn grows
GESTURE, MICE = 0.25, 0.5


def seconds(function, repeats: int = 1) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def benchmark_knn(jobs: int) -> bool:
    fold = Fold("wine")
    print(f"wine {fold.train.shape} ({fold.source})")
    train, holes = fold.train, fold.with_holes(0.3)
    peer = sklearn.impute.KNNImputer(n_neighbors=7).fit(train)
    theirs = seconds(lambda: peer.transform(holes), 3)
    met = True
    for metric in ("published", "huang"):
        ours = KNNImputer(7, metric=metric, n_jobs=jobs).fit(train)
        ours.transform(holes[:5])  # compiles
        own = seconds(lambda imputer=ours: imputer.transform(holes), 3)
        print(f"knn, wine, 30 %, {metric}: {own:.3f} s; scikit-learn {theirs:.3f} s; {theirs / own:.1f} x (target 3)")
        met &= theirs / own >= 3
    return met


def benchmark_memory(jobs: int) -> bool:
    """Measured in a process of its own, whose peak includes the interpreter and all imports."""
    command = [sys.executable, __file__, "--jobs", str(jobs), "electricity"]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
    print(f"knn, electricity, 30 %: peak {peak:.0f} MB (target below 500)")
    return peak < 500


def electricity(jobs: int) -> bool:
    fold = Fold("electricity")
    start = time.perf_counter()
    KNNImputer(7, n_jobs=jobs, categorical_features=fold.domains).fit(fold.train).transform(fold.with_holes(0.3))
    print(f"{time.perf_counter() - start:.1f} s,", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return True


def plain_forests(train: np.ndarray, jobs: int) -> list[RandomForestRegressor]:
    return [
        RandomForestRegressor(100, random_state=0, n_jobs=jobs).fit(np.delete(train, j, axis=1), train[:, j])
        for j in range(train.shape[1])
    ]


def plain_rounds(forests: list[RandomForestRegressor], mean: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The published rounds, continuous features only, with scikit-learn's own prediction."""
    missing = np.isnan(X)
    filled = np.where(missing, mean, X)
    last = np.inf
    for _ in range(10):
        before = filled.copy()
        for j in np.argsort(missing.sum(axis=0), kind="stable"):
            if missing[:, j].any():
                filled[missing[:, j], j] = forests[j].predict(np.delete(filled[missing[:, j]], j, axis=1))
        change = np.sum((filled - before) ** 2) / np.sum(filled**2)
        if not change < last:
            break
        last = change
    return before


def benchmark_missforest(jobs: int) -> bool:
    fold = Fold("texture")
    print(f"texture {fold.train.shape} ({fold.source})")
    train, test, y_train, y_test = fold.train, fold.test, fold.y_train, fold.y_test
    rates = [rate / 10 for rate in range(1, 10)]
    tables = [fold.with_holes(rate) for rate in rates]
    MissForestImputer(1, random_state=0).fit(train[:50]).transform(tables[0][:5])  # compiles
    results: dict[str, list[np.ndarray]] = {}
    totals: dict[str, float] = {}

    start = time.process_time()
    forests = plain_forests(train, jobs)
    fitted = time.process_time()
    results["plain"] = [plain_rounds(forests, train.mean(axis=0), X) for X in tables]
    totals["plain"] = time.process_time() - start
    print(
        f"missforest, texture, plain: fit {fitted - start:.1f} s, nine rates {totals['plain'] - fitted + start:.1f} s"
    )
    del forests
    for predictor in ("scikit-learn", "compiled"):
        start = time.process_time()
        imputer = MissForestImputer(random_state=0, n_jobs=jobs, predictor=predictor).fit(train)
        fitted = time.process_time()
        results[predictor] = [imputer.transform(X) for X in tables]
        totals[predictor] = time.process_time() - start
        print(
            f"missforest, texture, {predictor}: fit {fitted - start:.1f} s, "
            f"nine rates {totals[predictor] - fitted + start:.1f} s; "
            f"{totals[predictor] / totals['plain']:.2f} of plain (target 0.12 for compiled)"
        )

    classifier = RandomForestClassifier(100, random_state=0, n_jobs=jobs).fit(train, y_train)
    print("rate  " + "".join(f"{name + ' rmse':>20}{'accuracy':>10}" for name in results))
    for i, rate in enumerate(rates):
        missing = np.isnan(tables[i])
        row = f"{rate:.1f}   "
        for name in results:
            filled = results[name][i]
            rmse = np.sqrt(np.mean((filled - test)[missing] ** 2))
            row += f"{rmse:>20.4f}{classifier.score(filled, y_test):>10.4f}"
        print(row)
    return totals["compiled"] <= 0.12 * totals["plain"]


def benchmark_learning(jobs: int) -> bool:
    """Learning and answers in units of what scikit-learn takes for one forest per feature (a few of them are timed)."""
    met = True
    for name, rates, target in (("gesture", (0.1, 0.5, 0.9), GESTURE), ("mice", (), MICE)):
        fold = Fold(name)
        train = np.where(np.isnan(fold.train), 0.0, fold.train)
        start = time.process_time()
        for j in TIMED:
            RandomForestRegressor(100, random_state=0, n_jobs=jobs).fit(np.delete(train, j, axis=1), train[:, j])
        unit = (time.process_time() - start) * train.shape[1] / len(TIMED)
        start = time.process_time()
        imputer = MissForestImputer(random_state=0, n_jobs=jobs).fit(fold.train)
        fitted = time.process_time()
        for rate in rates:
            imputer.transform(fold.with_holes(rate))
        own = time.process_time() - start
        print(
            f"missforest, {name} {train.shape} ({fold.source}): fit {fitted - start:.1f} s ({imputer.n_iter_} rounds), "
            f"with rates {rates} {own:.1f} s; {own / unit:.3f} of scikit-learn's forests (target {target})"
        )
        met &= own <= target * unit
    return met


BENCHMARKS = {
    "knn": benchmark_knn,
    "memory": benchmark_memory,
    "missforest": benchmark_missforest,
    "learning": benchmark_learning,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="The imputers against their peers.")
    functions = {**BENCHMARKS, "electricity": electricity}
    parser.add_argument("what", nargs="*", default=list(BENCHMARKS), help=f"some of {', '.join(functions)}")
    parser.add_argument("--jobs", type=int, default=-1, help="threads, on both sides")
    arguments = parser.parse_args()
    if unknown := set(arguments.what) - set(functions):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(functions)}")
    met = [functions[name](arguments.jobs) for name in arguments.what]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
