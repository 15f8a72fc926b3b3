"""How CPU time and memory grow with rows and with features, beside scikit-learn's random forest on the same rows.

    python benchmarks/scaling.py [--trees N] [--most-rows N] [--most-features N]

One synthetic table of mixed features, whose class depends on some of them, is taken at 1,000 to a million rows of 20
features and at 10 to 1,000 features of 2,000 rows.  Every size is measured in a process of its own, on one thread.
Answers are for 1,000 further rows, complete or with half of the values missing, and for one complete row; those of
scikit-learn are for complete rows.  "learn" finds the densities of the leaves with given settings, "choose" with
settings chosen out of bag, as is the default.  A size fails if it needs more than 16 GiB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
from tables import DENSITIES
from targets import Targets, best_seconds, cpu_seconds, gibibytes

ROWS, FEATURES = (1_000, 10_000, 100_000, 1_000_000), (10, 30, 100, 300, 1_000)
FEATURES_OF_ROWS, ROWS_OF_FEATURES = 20, 2_000
ANSWERED = 1_000
MOST_GIBIBYTES = 16
GEF = "grow", "learn", "choose", "one row", "complete", "half"
STEPS = {"GeF": GEF, "scikit-learn": ("grow", "one row", "complete"), "GeF(LSPN)": GEF}


def table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray, dict[int, int]]:
    """Features, classes and the categories of every third feature; the class depends on the first ten."""
    random = np.random.default_rng(0)
    domains = {j: 2 + j % 9 for j in range(2, n_features, 3)}
    X = random.normal(size=(n_rows, n_features))
    for j, k in domains.items():
        X[:, j] = random.integers(0, k, n_rows)
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 1) + np.sin(2.0 * X[:, 3]) + (X[:, 5] % 3) + X[:, 6] * X[:, 9]
    X[:, 4] += 0.5 * X[:, 0]
    X[:, 7] = np.round(X[:, 7] + score, 1)
    cuts = np.quantile(score, [0.4, 0.8])
    return X, np.searchsorted(cuts, score + random.normal(size=n_rows)), domains


def measure(who: str, n_rows: int, n_features: int, n_trees: int) -> dict[str, float]:
    """CPU seconds of each step, and the peak memory of this process in GiB."""
    X, y, domains = table(n_rows + ANSWERED, n_features)
    train, y_train, test = X[:n_rows], y[:n_rows], X[n_rows:]
    if who == "scikit-learn":
        from sklearn.ensemble import RandomForestClassifier

        peer = RandomForestClassifier(n_trees, random_state=0)
        found = {"grow": cpu_seconds(lambda: peer.fit(train, y_train))}
        found["one row"] = best_seconds([lambda: peer.predict_proba(test[:1])], 5)[0]
        found["complete"] = cpu_seconds(lambda: peer.predict_proba(test))
    else:
        found = measure_gef("lspn" if "LSPN" in who else "factorised", train, y_train, test, domains, n_trees)
    return found | {"gibibytes": gibibytes()}


def measure_gef(leaves: str, train, y, test, domains: dict[int, int], n_trees: int) -> dict[str, float]:
    from joints import ForestClassifier, GenerativeForestClassifier

    def convert(**settings) -> GenerativeForestClassifier:
        return GenerativeForestClassifier.from_forest(forest, leaves=leaves, **settings)

    half = np.where(np.random.default_rng(1).random(test.shape) < 0.5, np.nan, test)
    forest = ForestClassifier(n_trees, random_state=0, categorical_features=domains).fit(train[:500], y[:500])
    for settings in (DENSITIES, {}):
        convert(**settings).answer(half[:20])  # loads what is compiled
    found = {"grow": cpu_seconds(lambda: forest.fit(train, y))}
    found["learn"] = cpu_seconds(lambda: convert(**DENSITIES))
    found["choose"] = cpu_seconds(convert)
    model = convert(**DENSITIES)
    found["one row"] = best_seconds([lambda: model.answer(test[:1])], 5)[0]
    found["complete"] = cpu_seconds(lambda: model.answer(test))
    return found | {"half": cpu_seconds(lambda: model.answer(half))}


def measured_apart(who: str, n_rows: int, n_features: int, n_trees: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--trees", str(n_trees), "--part", who, str(n_rows), str(n_features)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of log seconds over log size, by least squares over the sizes that take at least 10 ms."""
    points = [(np.log(n), np.log(s)) for n, s in zip(sizes, seconds, strict=True) if s >= 0.01]
    return float(np.polyfit(*zip(*points, strict=True), 1)[0]) if len(points) > 1 else np.nan


def grow_in(what: str, sizes: list[int], shape: Callable[[int], tuple[int, int]], n_trees: int, targets: Targets):
    for who, steps in STEPS.items():
        print(f"{who}: CPU seconds by {what}")
        print(f"  {what:>10s}" + "".join(f"{step:>12s}" for step in steps) + f"{'GiB':>12s}")
        found = []
        for n in sizes:
            found.append(measured_apart(who, *shape(n), n_trees))
            cells = [found[-1].get(step, np.nan) for step in (*steps, "gibibytes")]
            print(f"  {n:10,d}" + "".join(f"{cell:12.4f}" for cell in cells), flush=True)
        exponents = [exponent(sizes, [part.get(step, np.nan) for part in found]) for step in steps]
        print(f"  {'exponent':>10s}" + "".join(f"{cell:12.2f}" for cell in exponents))
        if who != "scikit-learn":
            peak = max(part.get("gibibytes", np.inf) for part in found)
            targets.at_most(f"{who}, {sizes[-1]:,} {what}: peak GiB", peak, MOST_GIBIBYTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=3)
    parser.add_argument("--most-rows", type=int, default=ROWS[-1])
    parser.add_argument("--most-features", type=int, default=FEATURES[-1])
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        who, n_rows, n_features = arguments.part
        return print(json.dumps(measure(who, int(n_rows), int(n_features), arguments.trees)))
    targets = Targets()
    rows = [n for n in ROWS if n <= arguments.most_rows]
    grow_in("rows", rows, lambda n: (n, FEATURES_OF_ROWS), arguments.trees, targets)
    features = [m for m in FEATURES if m <= arguments.most_features]
    grow_in("features", features, lambda m: (ROWS_OF_FEATURES, m), arguments.trees, targets)
    targets.finish()


if __name__ == "__main__":
    main()
