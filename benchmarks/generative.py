"""What the generative imputer and regressor are worth beside their peers: errors, coverage and CPU seconds.

python benchmarks/generative.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split
from targets import Targets, cpu_seconds

from joints import GenerativeForestRegressor
from joints.impute import GenerativeForestImputer, KNNImputer, MeanImputer, MissForestImputer

DRAWS = 100


def hide(table: np.ndarray, rate: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The table with cells removed at random, and which."""
    missing = np.random.default_rng(seed).random(table.shape) < rate
    return np.where(missing, np.nan, table), missing


def judge(imputer: Any, truth: np.ndarray, *found: np.ndarray) -> tuple[float, float, float]:
    """RMSE of filled cells, coverage and score of their intervals; `found` has values, lower and upper bounds.

    The interval score (Gneiting and Raftery 2007) is the width, plus 20 times what the truth is outside by.
    """
    filled, low, high = found
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    error, covered = np.sqrt(((filled - truth) ** 2).mean()), (outside == 0).mean()
    width, score = (high - low).mean(), (high - low + 20 * outside).mean()
    name = type(imputer).__name__
    print(f"  {name:24s} RMSE {error:.3f}, covers {covered:.3f}, width {width:.2f}, score {score:.2f}")
    return error, covered, score


def benchmark_imputation(name: str, X: np.ndarray, targets: Targets) -> None:
    """How far filled cells are off, in standard deviations, and what 90 % intervals are worth.

    Ours are quantiles of draws.  Peers fill in single values; theirs reach as far around these as the quantiles of
    their own errors in each feature, on a part of the training rows with cells removed in the same way.
    """
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    train, test = train_test_split(X, test_size=0.3, random_state=0)
    part, rest = train_test_split(train, test_size=0.3, random_state=0)
    rest = np.repeat(rest, 5, axis=0)  # each row with several masks: some features would have no error else
    peers = [MeanImputer(), KNNImputer(), MissForestImputer(random_state=0)]
    fitted = [(clone(peer).fit(part), peer.fit(train)) for peer in peers]
    ours = GenerativeForestImputer(random_state=0).fit(train)
    for rate in (0.1, 0.3, 0.6):
        print(f"{name}, {rate:.1f} missing")
        rows, missing = hide(test, rate, 0)
        holes, hidden = hide(rest, rate, 1)
        judged = []
        for of_part, peer in fitted:
            off = np.where(hidden, rest - of_part.transform(holes), np.nan)
            low, high = np.nanquantile(off, [0.05, 0.95], axis=0)
            filled = peer.transform(rows)
            judged.append(
                judge(peer, test[missing], *(table[missing] for table in (filled, filled + low, filled + high)))
            )
        draws = np.array(ours.draw(rows, n_draws=DRAWS, random_state=0))
        found = ours.transform(rows), *np.quantile(draws, [0.05, 0.95], axis=0)
        error, covered, score = judge(ours, test[missing], *(table[missing] for table in found))
        targets.at_most("its RMSE, in MissForest's", error / judged[-1][0], 1.4)
        targets.at_least("cells that its 90 % intervals enclose", covered, 0.8)
        targets.at_most("its interval score, in the best other's", score / min(of[2] for of in judged), 1.4)


def benchmark_regression(name: str, X: np.ndarray, y: np.ndarray, targets: Targets) -> None:
    """Explained variance and CPU seconds beside scikit-learn's forest, and the coverage of intervals."""
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    models: list[Any] = [GenerativeForestRegressor(random_state=0)]
    models.append(RandomForestRegressor(min_samples_leaf=5, random_state=0))
    models[0].fit(train[:50], y_train[:50])  # compiles
    seconds = [cpu_seconds(lambda model=model: model.fit(train, y_train)) for model in models]
    score = [model.score(test, y_test) for model in models]
    print(f"{name}: scikit-learn explains {score[1]:.3f} of the variance, after {seconds[1]:.2f} s")
    targets.at_least("GenerativeForestRegressor explains", score[0], score[1] - 0.03)
    targets.at_most("seconds to fit, in scikit-learn's", seconds[0] / seconds[1], 2.5)
    low, high = models[0].distribution(test).quantile([0.05, 0.95]).T
    targets.at_least("rows that 90 % intervals enclose", ((y_test >= low) & (y_test <= high)).mean(), 0.8)


def main() -> None:
    targets, rng = Targets(), np.random.default_rng(0)
    X = rng.uniform(size=(4000, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    benchmark_regression("Friedman's function", X, y + rng.normal(size=4000), targets)
    benchmark_regression("diabetes", *load_diabetes(return_X_y=True), targets)
    for name, load in (("wine", load_wine), ("breast", load_breast_cancer), ("diabetes", load_diabetes)):
        benchmark_imputation(name, load().data, targets)
    targets.finish()


if __name__ == "__main__":
    main()
