"""LearnSPN leaves and the LearnSPN baseline: time to convert a forest and to predict, and how both scale.

    python benchmarks/learnspn.py [--jobs N]

The targets are for times after compilation; the exit code says whether they were met.  On electricity, converting a
forest is compared with the time to grow it in the same run.  Answers, for which a circuit is evaluated for many rows at
once, are compared with the plain evaluation row by row, in logarithms, for rows with ten missing rates together.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from tables import Fold

from joints import ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier
from joints.circuit.infer import answer, sum_logs


def seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def grown(
    fold: Fold, jobs: int, rows: int | None = None, features: int | None = None
) -> tuple[ForestClassifier, float]:
    X, y = fold.train[:rows, :features], fold.y_train[:rows]
    domains = {j: k for j, k in fold.domains.items() if j < X.shape[1]}
    forest = ForestClassifier(random_state=0, n_jobs=jobs, categorical_features=domains)
    forest.fit(X, y)
    return forest, seconds(lambda: forest.fit(X, y))


def convert(forest: ForestClassifier) -> GenerativeForestClassifier:
    return GenerativeForestClassifier.from_forest(forest, leaves="lspn", min_sd=1.0, smoothing=1e-6, combine="average")


def batches_against_rows(fold: Fold, n_trees: int = 5, n_rows: int = 2000) -> float:
    """CPU time of the plain evaluation as a multiple of that in batches, over the missing rates 0, 10, ..., 90 %."""
    forest = ForestClassifier(n_trees, random_state=0, categorical_features=fold.domains).fit(fold.train, fold.y_train)
    model = convert(forest)
    trees, leaves, n_categories = model.forest_, model.leaves_, model.features_.n_categories
    with_class = np.append(n_categories, len(model.classes_))
    plain, batches = 0.0, 0.0
    for rate in np.arange(10) / 10:
        rows = fold.with_holes(rate)[:n_rows]
        out = np.empty((len(rows), len(model.classes_)))
        start = time.process_time()
        answers = answer(rows, trees, leaves, n_categories, n_jobs=1)
        middle = time.process_time()
        sum_logs(rows, trees, leaves, with_class, out)
        plain, batches = plain + time.process_time() - middle, batches + middle - start
        likely = out > out.max(axis=1, keepdims=True) - 50
        assert np.allclose(answers.log_joint[likely], out[likely], rtol=0, atol=1e-9)
    return plain / batches


def line(what: str, value: float, target: float = np.inf, at_least: bool = False) -> bool:
    met = value >= target if at_least else value <= target
    print(
        f"  {what:52s} {value:8.3f}" + (f", target {target}" if target < np.inf else "") + ("" if met else "   MISSED")
    )
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    small, large, wide = Fold("breast"), Fold("electricity"), Fold("texture")
    forest, _ = grown(small, jobs)
    convert(forest).answer(small.with_holes(0.3))  # compiles

    print(f"wdbc {small.train.shape} ({small.source})")
    met = line("seconds to turn the forest into GeF(LSPN)", seconds(lambda: convert(forest)), 2.0)
    model = convert(forest)
    met &= line(
        "seconds to answer the test fold at 30 % missing", seconds(lambda: model.answer(small.with_holes(0.3))), 1.0
    )

    print(f"electricity {large.train.shape} ({large.source})")
    forest, grow = grown(large, jobs)
    met &= line("conversion, as a multiple of growing the forest", seconds(lambda: convert(forest)) / grow, 10.0)
    model = convert(forest)
    for rate in (0.3, 0.9):
        line(
            f"seconds to answer at {rate:.0%} missing", seconds(lambda rate=rate: model.answer(large.with_holes(rate)))
        )

    print("answers in batches: the plain evaluation's CPU time as a multiple")
    for fold in (Fold("bank"), large, wide):
        met &= line(f"{fold.name} ({fold.source})", batches_against_rows(fold), 5.0, at_least=True)

    print("how it scales, on texture: seconds to convert and to answer 200 rows at 30 % missing")
    for rows, features in ((1100, 40), (2200, 40), (4400, 40), (4400, 20), (4400, 10)):
        forest, grow = grown(wide, jobs, rows, features)
        convert_seconds = seconds(lambda forest=forest: convert(forest))
        model = convert(forest)
        holes = wide.with_holes(0.3)[:200, :features]
        answer_seconds = seconds(lambda model=model, holes=holes: model.answer(holes))
        nodes = len(model.leaves_.circuits.parent)
        print(f"  {rows:5d} rows, {features:2d} features: {convert_seconds:7.2f} and {answer_seconds:5.2f}; "
              f"growing {grow:5.2f}, {nodes} circuit nodes")  # fmt: skip

    print("the baseline, class-selective LearnSPN: seconds to fit and to answer at 30 % missing")
    for fold in (small, wide, large):
        baseline = LearnSPNClassifier(random_state=0, n_jobs=jobs, categorical_features=fold.domains)
        fit = seconds(lambda fold=fold, baseline=baseline: baseline.fit(fold.train, fold.y_train))
        ask = seconds(lambda fold=fold, baseline=baseline: baseline.predict_proba(fold.with_holes(0.3)))
        print(f"  {fold.name:12s} {fit:7.2f} and {ask:6.2f}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
