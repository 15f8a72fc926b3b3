"""The imputers against their peers: time and memory; every ratio compares measurements of the same run.

    python benchmarks/impute.py [--jobs N] [knn] [memory] [missforest] [learning] [accuracy]

The exit code says whether every target was met.  Seconds are CPU seconds.  The targets of learning are half (gesture)
and a third (mice) of what the first version of MissForest took, as a part of the time of scikit-learn's forests on the
same machine: 72 of 832 s on gesture, with three rates, and 93 of 204 s on mice, both scaled up from forests of 10 or 20
trees.  Accuracy is that of a forest on rows that either kind of MissForest has completed, in pairs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import numpy as np
import sklearn.impute
from scipy import stats
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import StratifiedKFold
from tables import Fold, load
from targets import Targets, best_seconds, cpu_seconds, gibibytes

from joints.impute import KNNImputer, MissForestImputer

TIMED = (0, 10, 20)  # features whose forests scikit-learn grows
GESTURE, MICE = 0.043, 0.15  # see above
ACCURACY = ("diabetes", "vowel", "vehicle", "breast", "authent")
REPETITIONS, RATES = 5, (0.3, 0.6, 0.9)


def benchmark_knn(jobs: int, targets: Targets) -> None:
    fold = Fold("wine")
    print(f"KNN, wine {fold.train.shape} ({fold.source}): scikit-learn's CPU time as a multiple of ours")
    train, holes = fold.train, fold.with_holes(0.3)
    peer = sklearn.impute.KNNImputer(n_neighbors=7).fit(train)
    for metric in ("published", "huang"):
        ours = KNNImputer(7, metric=metric, n_jobs=jobs).fit(train)
        ours.transform(holes[:5])  # compiles
        own, theirs = best_seconds([lambda imputer=ours: imputer.transform(holes), lambda: peer.transform(holes)], 3)
        targets.at_least(f"30 % missing, {metric} metric ({own:.3f} s)", theirs / own, 3)


def benchmark_memory(jobs: int, targets: Targets) -> None:
    """Measured in a process of its own, whose peak includes the interpreter and all imports."""
    print("KNN, electricity")
    command = [sys.executable, __file__, "--jobs", str(jobs), "electricity"]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
    targets.at_most("peak memory in GiB, 30 % missing", peak, 500 / 1024)


def electricity(jobs: int, targets: Targets) -> None:
    fold = Fold("electricity")
    KNNImputer(7, n_jobs=jobs, categorical_features=fold.domains).fit(fold.train).transform(fold.with_holes(0.3))
    print(gibibytes())


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


def benchmark_missforest(jobs: int, targets: Targets) -> None:
    fold = Fold("texture")
    print(f"MissForest, texture {fold.train.shape} ({fold.source}): CPU seconds")
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
    print(f"  plain: fit {fitted - start:.1f}, with nine rates {totals['plain']:.1f}")
    del forests
    for predictor in ("scikit-learn", "compiled"):
        start = time.process_time()
        imputer = MissForestImputer(random_state=0, n_jobs=jobs, predictor=predictor).fit(train)
        fitted = time.process_time()
        results[predictor] = [imputer.transform(X) for X in tables]
        totals[predictor] = time.process_time() - start
        print(f"  {predictor}: fit {fitted - start:.1f}, with nine rates {totals[predictor]:.1f}")
    targets.at_most("compiled, fit and nine rates, as a part of plain", totals["compiled"] / totals["plain"], 0.12)

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


def benchmark_learning(jobs: int, targets: Targets) -> None:
    """Learning and answers in units of what scikit-learn takes for one forest per feature (a few of them are timed)."""
    print("MissForest, as a part of the CPU time of scikit-learn's forests, one per feature")
    for name, rates, target in (("gesture", (0.1, 0.5, 0.9), GESTURE), ("mice", (), MICE)):
        fold = Fold(name)
        MissForestImputer(1, random_state=0).fit(fold.train[:50]).transform(fold.with_holes(0.5)[:5])  # compiles
        imputer = MissForestImputer(random_state=0, n_jobs=jobs)
        fit = cpu_seconds(lambda imputer=imputer, fold=fold: imputer.fit(fold.train))
        tables = [fold.with_holes(rate) for rate in rates]
        ask = cpu_seconds(lambda imputer=imputer, tables=tables: [imputer.transform(X) for X in tables])
        unit = seconds_of_forests(np.where(np.isnan(fold.train), 0.0, fold.train), jobs)
        what = f"{name} {fold.train.shape} ({fold.source}): fit {fit:.1f} s" + (f", rates {ask:.1f} s" if rates else "")
        targets.at_most(what, (fit + ask) / unit, target)


def seconds_of_forests(train: np.ndarray, jobs: int) -> float:
    """CPU seconds of scikit-learn's forests of all features, by a few features and a tenth of the trees."""
    forest = RandomForestRegressor(10, random_state=0, n_jobs=jobs)
    times = [cpu_seconds(lambda j=j: forest.fit(np.delete(train, j, axis=1), train[:, j])) for j in TIMED]
    return 10 * float(np.mean(times)) * train.shape[1]


def benchmark_accuracy(jobs: int, targets: Targets) -> None:
    """Differences in accuracy between our trees and scikit-learn's, on the same rows and holes."""
    print(f"MissForest, our trees less scikit-learn's: points of accuracy, {REPETITIONS} repetitions of five folds")
    found = np.array([differences(name, jobs) for name in ACCURACY])  # dataset, repetition, rate
    for name, points in zip(ACCURACY, found, strict=True):
        cells = [f"{100 * rate:.0f} %: {mean_text(points[:, r])}" for r, rate in enumerate(RATES)]
        print(f"  {name}: {', '.join(cells)}")
    average = found.mean(axis=(0, 2))
    print(f"  average over datasets and rates: {mean_text(average)}")
    targets.at_most("average difference, in half-widths of its interval", abs(average.mean()) / half_width(average), 1)


def differences(name: str, jobs: int) -> list[np.ndarray]:
    """Points of accuracy by repetition and rate."""
    X, n_categories, y, _ = load(name)
    kinds = {j: int(k) for j, k in enumerate(n_categories) if k}
    return [
        np.mean(
            [
                fold_differences(X, y, kinds, train, test, jobs)
                for train, test in StratifiedKFold(5, shuffle=True, random_state=repetition).split(X, y)
            ],
            axis=0,
        )
        for repetition in range(REPETITIONS)
    ]


def fold_differences(
    X: np.ndarray, y: np.ndarray, kinds: dict[int, int], train: np.ndarray, test: np.ndarray, jobs: int
) -> list[float]:
    """Points of accuracy by rate."""
    seed = int(test[:5].sum())
    holes = np.random.default_rng(seed).permutation(X[test].size)
    classifier = RandomForestClassifier(100, random_state=seed, n_jobs=jobs).fit(X[train], y[train])
    imputers = [
        MissForestImputer(predictor=kind, categorical_features=kinds, random_state=seed, n_jobs=jobs).fit(X[train])
        for kind in ("compiled", "scikit-learn")
    ]
    found = []
    for rate in RATES:
        rows = X[test]
        rows.ravel()[holes[: int(rate * rows.size)]] = np.nan
        ours, theirs = (classifier.score(imputer.transform(rows), y[test]) for imputer in imputers)
        found.append(100 * (ours - theirs))
    return found


def half_width(values: np.ndarray) -> float:
    """Of Student's interval of 95 %."""
    return float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))


def mean_text(values: np.ndarray) -> str:
    return f"{values.mean():+.2f} ± {half_width(values):.2f}"


BENCHMARKS = {
    "knn": benchmark_knn,
    "memory": benchmark_memory,
    "missforest": benchmark_missforest,
    "learning": benchmark_learning,
    "accuracy": benchmark_accuracy,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="The imputers against their peers.")
    functions = {**BENCHMARKS, "electricity": electricity}
    parser.add_argument("what", nargs="*", default=list(BENCHMARKS), help=f"some of {', '.join(functions)}")
    parser.add_argument("--jobs", type=int, default=-1, help="threads, on both sides")
    arguments = parser.parse_args()
    if unknown := set(arguments.what) - set(functions):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(functions)}")
    targets = Targets()
    for name in arguments.what:
        functions[name](arguments.jobs, targets)
    targets.finish()


if __name__ == "__main__":
    main()
