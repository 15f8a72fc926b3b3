"""The imputers against their peers: time and memory, each ratio from measurements of one and the same run.

    python benchmarks/impute.py [--data DIR] [--jobs N] [knn] [memory] [missforest]

With ``--data`` the paper's own files are read (winequality_red.csv and winequality_white.csv, electricity.csv,
texture.csv); without, tables of the same shape are drawn.  The exit code tells whether every target was met.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn.impute
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from joints.impute import KNNImputer, MissForestImputer

SHAPES = {"wine": (6497, 11, 2), "electricity": (45312, 8, 2), "texture": (5500, 40, 11)}
FILES = {
    "wine": ["winequality_red.csv", "winequality_white.csv"],
    "electricity": ["electricity.csv"],
    "texture": ["texture.csv"],
}


def load(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """The features and classes of a dataset, from its files or drawn in the same shape."""
    n_rows, n_features, n_classes = SHAPES[name]
    if folder is None:
        informative = n_features // 2
        return make_classification(
            n_rows, n_features, n_informative=informative, n_redundant=n_features - informative,
            n_classes=n_classes, n_clusters_per_class=1, random_state=0,
        )  # fmt: skip
    table = pd.concat([pd.read_csv(folder / file) for file in FILES[name]])
    X = table.iloc[:, :-1].apply(lambda column: pd.to_numeric(column)).to_numpy(np.float64)
    return X, pd.factorize(table.iloc[:, -1])[0]


def fold(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A training fold of four fifths and the rest, standardised by the former."""
    X, y = load(name, folder)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = np.sort(order[len(X) // 5 :]), np.sort(order[: len(X) // 5])
    mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
    X = ((X - mean) / deviation).clip(-6, 6)
    return X[train], X[test], y[train], y[test]


def with_holes(X: np.ndarray, rate: float) -> np.ndarray:
    order = np.random.default_rng(1).permutation(X.size)  # nested: the holes of a rate are those of higher ones
    holes = X.copy()
    holes.ravel()[order[: int(rate * X.size)]] = np.nan
    return holes


def seconds(function, repeats: int = 1) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def benchmark_knn(folder: Path | None, jobs: int) -> bool:
    train, test, *_ = fold("wine", folder)
    holes = with_holes(test, 0.3)
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


def benchmark_memory(folder: Path | None, jobs: int) -> bool:
    """In a process of its own, whose peak counts the interpreter and all imports."""
    where = [] if folder is None else ["--data", str(folder)]
    command = [sys.executable, __file__, "--jobs", str(jobs), *where, "electricity"]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
    print(f"knn, electricity, 30 %: peak {peak:.0f} MB (target below 500)")
    return peak < 500


def electricity(folder: Path | None, jobs: int) -> bool:
    train, test, *_ = fold("electricity", folder)
    start = time.perf_counter()
    KNNImputer(7, n_jobs=jobs).fit(train).transform(with_holes(test, 0.3))
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


def benchmark_missforest(folder: Path | None, jobs: int) -> bool:
    train, test, y_train, y_test = fold("texture", folder)
    rates = [rate / 10 for rate in range(1, 10)]
    tables = [with_holes(test, rate) for rate in rates]
    MissForestImputer(1, random_state=0).fit(train[:50]).transform(tables[0][:5])  # compiles
    results: dict[str, list[np.ndarray]] = {}
    totals: dict[str, float] = {}

    start = time.perf_counter()
    forests = plain_forests(train, jobs)
    fitted = time.perf_counter()
    results["plain"] = [plain_rounds(forests, train.mean(axis=0), X) for X in tables]
    totals["plain"] = time.perf_counter() - start
    print(
        f"missforest, texture, plain: fit {fitted - start:.1f} s, nine rates {totals['plain'] - fitted + start:.1f} s"
    )
    del forests
    for predictor in ("scikit-learn", "compiled"):
        start = time.perf_counter()
        imputer = MissForestImputer(random_state=0, n_jobs=jobs, predictor=predictor).fit(train)
        fitted = time.perf_counter()
        results[predictor] = [imputer.transform(X) for X in tables]
        totals[predictor] = time.perf_counter() - start
        print(
            f"missforest, texture, {predictor}: fit {fitted - start:.1f} s, "
            f"nine rates {totals[predictor] - fitted + start:.1f} s; "
            f"{totals[predictor] / totals['plain']:.2f} of plain (target 0.5 for compiled)"
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
    return totals["compiled"] <= 0.5 * totals["plain"]


BENCHMARKS = {"knn": benchmark_knn, "memory": benchmark_memory, "missforest": benchmark_missforest}


def main() -> int:
    parser = argparse.ArgumentParser(description="The imputers against their peers.")
    parser.add_argument("what", nargs="*", choices=[*BENCHMARKS, "electricity"])
    parser.add_argument("--data", type=Path, help="folder with the paper's files; tables are drawn without it")
    parser.add_argument("--jobs", type=int, default=-1, help="threads, on both sides")
    arguments = parser.parse_args()
    functions = {**BENCHMARKS, "electricity": electricity}
    met = [functions[name](arguments.data, arguments.jobs) for name in arguments.what or BENCHMARKS]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
