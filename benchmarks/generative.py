"""What the generative imputer and regressor are worth beside their peers: errors, coverage and CPU seconds.

python benchmarks/generative.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split
from targets import Targets, cpu_seconds

from joints import GenerativeForestRegressor
from joints.impute import GenerativeForestImputer, KNNImputer, MeanImputer, MissForestImputer

DRAWS = 40


def benchmark_imputation(name: str, X: np.ndarray, rate: float, targets: Targets) -> None:
    """RMSE of filled cells in standard deviations, and how often 90 % of the draws enclose the truth."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    train, test = train_test_split(X, test_size=0.3, random_state=0)
    missing = np.random.default_rng(0).random(test.shape) < rate
    rows, errors = np.where(missing, np.nan, test), {}
    for imputer in (MeanImputer(), KNNImputer(), MissForestImputer(random_state=0)):
        filled = imputer.fit(train).transform(rows)
        errors[type(imputer).__name__] = float(np.sqrt(((filled - test)[missing] ** 2).mean()))
    ours = GenerativeForestImputer(random_state=0).fit(train)
    error = float(np.sqrt(((ours.transform(rows) - test)[missing] ** 2).mean()))
    print(f"{name}, {rate:.1f} missing, RMSE: " + ", ".join(f"{key} {value:.3f}" for key, value in errors.items()))
    targets.at_most("GenerativeForestImputer, RMSE", error, 1.25 * errors["MissForestImputer"])
    draws = np.array(ours.draw(rows, n_draws=DRAWS, random_state=0))
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    targets.at_least("cells that 90 % of its draws enclose", ((test >= low) & (test <= high))[missing].mean(), 0.8)


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
        for rate in (0.1, 0.3, 0.6):
            benchmark_imputation(name, load().data, rate, targets)
    targets.finish()


if __name__ == "__main__":
    main()
