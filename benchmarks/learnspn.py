"""LearnSPN leaves and the LearnSPN baseline: time to convert a forest and to predict, and how both scale.

    python benchmarks/learnspn.py [--jobs N]

The targets are for times after compilation; the exit code says whether they were met.  On electricity, converting a
forest is compared with the time to grow it in the same run.  On bank, learning the circuits of five trees is compared
with SciPy's tests of all pairs of the training fold's variables, once: code that does not change with ours.  The
target is a third of that ratio when each test sorted floating-point numbers and each round of 2-means went through the
rows one by one: 1.05 s, against 0.31 s of SciPy measured apart on the same machine.  On another machine it was 1.66 s
against 1.1 s, which would make the target 0.5; SciPy's part differs more than ours does, so the ratio of old to new
code (3.4 here, 4.0 there) says more than this one.  Answers, for which a circuit is evaluated for
many rows at once, are compared with the plain evaluation row by row, in logarithms, for rows with ten missing rates
together.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from scipy import stats
from tables import DENSITIES, Fold
from targets import Targets, best_seconds, cpu_seconds

from joints import ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier
from joints.circuit.infer import answer, sum_logs

LEARN = 1.12  # see above


def grown(
    fold: Fold, jobs: int, rows: int | None = None, features: int | None = None
) -> tuple[ForestClassifier, float]:
    X, y = fold.train[:rows, :features], fold.y_train[:rows]
    domains = {j: k for j, k in fold.domains.items() if j < X.shape[1]}
    forest = ForestClassifier(random_state=0, n_jobs=jobs, categorical_features=domains)
    forest.fit(X, y)
    return forest, cpu_seconds(lambda: forest.fit(X, y))


def convert(forest: ForestClassifier) -> GenerativeForestClassifier:
    return GenerativeForestClassifier.from_forest(forest, leaves="lspn", **DENSITIES)


def plain_tests(fold: Fold) -> None:
    """SciPy's tests of all pairs of variables, the class among them."""
    columns = [*fold.train.T, fold.y_train]
    categorical = [*(fold.n_categories > 0), True]
    for i, j in itertools.combinations(range(len(columns)), 2):
        if categorical[i] and categorical[j]:
            stats.chi2_contingency(stats.contingency.crosstab(columns[i], columns[j]).count)
        elif categorical[i] or categorical[j]:
            codes, values = (columns[i], columns[j]) if categorical[i] else (columns[j], columns[i])
            stats.kruskal(*[values[codes == c] for c in np.unique(codes)])
        else:
            stats.kendalltau(columns[i], columns[j])


def learning_against_scipy(fold: Fold, n_trees: int = 5) -> float:
    forest = ForestClassifier(n_trees, random_state=0, categorical_features=fold.domains).fit(fold.train, fold.y_train)
    ours, theirs = best_seconds([lambda: convert(forest), lambda: plain_tests(fold)], 3)
    print(f"  {fold.name}: {ours:.2f} CPU seconds against {theirs:.2f} of SciPy")
    return ours / theirs


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    small, large, wide, bank = Fold("breast"), Fold("electricity"), Fold("texture"), Fold("bank")
    forest, _ = grown(small, jobs)
    convert(forest).answer(small.with_holes(0.3))  # compiles

    targets = Targets()
    print(f"wdbc {small.train.shape} ({small.source})")
    targets.at_most("seconds to turn the forest into GeF(LSPN)", cpu_seconds(lambda: convert(forest)), 2.0)
    model, holes = convert(forest), small.with_holes(0.3)
    targets.at_most("seconds to answer the test fold at 30 % missing", cpu_seconds(lambda: model.answer(holes)), 1.0)

    print(f"electricity {large.train.shape} ({large.source})")
    forest, grow = grown(large, jobs)
    targets.at_most("conversion, as a multiple of growing the forest", cpu_seconds(lambda: convert(forest)) / grow, 4.0)
    model = convert(forest)
    for rate in (0.3, 0.9):
        seconds = cpu_seconds(lambda rate=rate: model.answer(large.with_holes(rate)))
        print(f"  answers at {rate:.0%} missing: {seconds:.2f} s")

    print("learning: CPU time of five trees' circuits as a multiple of SciPy's tests of all pairs of variables")
    targets.at_most(f"bank ({bank.source})", learning_against_scipy(bank), LEARN)

    print("answers in batches: the plain evaluation's CPU time as a multiple")
    for fold in (bank, large, wide):
        targets.at_least(f"{fold.name} ({fold.source})", batches_against_rows(fold), 5.0)

    print("how it scales, on texture: seconds to convert and to answer 200 rows at 30 % missing")
    for rows, features in ((1100, 40), (2200, 40), (4400, 40), (4400, 20), (4400, 10)):
        forest, grow = grown(wide, jobs, rows, features)
        convert_seconds = cpu_seconds(lambda forest=forest: convert(forest))
        model = convert(forest)
        holes = wide.with_holes(0.3)[:200, :features]
        answer_seconds = cpu_seconds(lambda model=model, holes=holes: model.answer(holes))
        nodes = len(model.leaves_.circuits.parent)
        print(f"  {rows:5d} rows, {features:2d} features: {convert_seconds:7.2f} and {answer_seconds:5.2f}; "
              f"growing {grow:5.2f}, {nodes} circuit nodes")  # fmt: skip

    print("the baseline, class-selective LearnSPN: seconds to fit and to answer at 30 % missing")
    for fold in (small, wide, large):
        baseline = LearnSPNClassifier(random_state=0, n_jobs=jobs, categorical_features=fold.domains)
        fit = cpu_seconds(lambda fold=fold, baseline=baseline: baseline.fit(fold.train, fold.y_train))
        ask = cpu_seconds(lambda fold=fold, baseline=baseline: baseline.predict_proba(fold.with_holes(0.3)))
        print(f"  {fold.name:12s} {fit:7.2f} and {ask:6.2f}")
    targets.finish()


if __name__ == "__main__":
    main()
