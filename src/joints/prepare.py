"""Compile all numerical code now instead of when it is first used: ``python -m joints.prepare``.

Every estimator is used once on a small table of mixed features with holes, in two processes.  Compiled code is kept on
disk (see `joints.numerics.compiled`), so this takes about a minute after an installation and a few seconds at any other
time.  ``python -m joints.prepare paper`` compiles only what the paper's own methods need.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from joints.circuit.evidence import Evidence
from joints.circuit.generative import GenerativeForestClassifier
from joints.circuit.generative_regressor import GenerativeForestRegressor
from joints.circuit.learnspn_classifier import LearnSPNClassifier
from joints.forest.classifier import ForestClassifier
from joints.impute.knn import KNNImputer
from joints.impute.mean import MeanImputer
from joints.impute.missforest import MissForestImputer
from joints.inspect import robustness
from joints.numerics.compiled import MARKER

CATEGORIES = {3: 3, 4: 2}
SETTINGS: dict[str, Any] = {"random_state": 0, "categorical_features": CATEGORIES}
PROCESSES = 2


def table(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table of three continuous and two categorical features, the same with holes, and classes."""
    random = check_random_state(0)
    X = np.column_stack([random.normal(size=(n_rows, 3)), *(random.randint(0, k, n_rows) for k in CATEGORIES.values())])
    X[:, 1] += X[:, 0]
    holes = np.where(random.uniform(size=X.shape) < 0.4, np.nan, X)
    return X, holes, (X[:, 0] + X[:, 3] > random.normal(size=n_rows)).astype(np.int64)


def steps() -> dict[str, Callable[[], object]]:
    """What is compiled, by the name that a user sees; the paper's own methods come first."""
    return {**paper_steps(), **further_steps()}


def paper_steps() -> dict[str, Callable[[], object]]:
    X, holes, y = table()
    forest = ForestClassifier(2, **SETTINGS)
    factorised = GenerativeForestClassifier.published(n_estimators=2, **SETTINGS)
    learned = GenerativeForestClassifier.published(n_estimators=2, leaves="lspn", min_rows=10, max_depth=3, **SETTINGS)
    learnspn = LearnSPNClassifier(**SETTINGS)

    def ask(model: GenerativeForestClassifier | LearnSPNClassifier) -> None:
        model.fit(holes, y)
        model.fit(X, y).predict_proba(X)
        model.predict_proba(holes)
        model.log_joint(holes)

    def impute(*imputers: MeanImputer | KNNImputer | MissForestImputer) -> None:
        for imputer in imputers:
            imputer.set_params(categorical_features=CATEGORIES).fit(X).transform(holes)
            imputer.fit(holes).transform(holes)

    # those that share little come first, so that the processes compile different things
    return {
        "growing forests": lambda: forest.fit(holes, y).fit(X, y).predict_proba(X),
        "LearnSPN": lambda: ask(learnspn),
        "Generative Forests": lambda: ask(factorised),
        "MissForest": lambda: impute(MissForestImputer(2, random_state=0)),
        "mean imputation": lambda: impute(MeanImputer()),
        "KNN imputation": lambda: impute(KNNImputer(metric="published"), KNNImputer(metric="huang")),
        "surrogate splits": lambda: forest.fit(X, y).predict_proba(holes, missing="surrogate"),
        "Friedman's method": lambda: forest.fit(X, y).predict_proba(holes),
        "LearnSPN leaves": lambda: ask(learned),
    }


def further_steps() -> dict[str, Callable[[], object]]:
    X, holes, y = table()

    def ask(leaves: str) -> None:
        model = GenerativeForestClassifier(2, leaves=leaves, min_rows=10, max_depth=3, **SETTINGS).fit(X, y)
        model.predict_proba(holes, target=3, y=y)
        model.predict(holes, target=0)
        model.predict_proba(Evidence(holes, between={1: (holes[:, 1] - 1, holes[:, 1] + 1)}))
        robustness(model, holes[:2])
        model.sample(2, given=Evidence(np.full((1, 5), np.nan), between={0: (0, 1)}, among={3: [0, 1]}))

    def regress() -> None:
        regressor = GenerativeForestRegressor(2, **SETTINGS).fit(holes, X[:, 0])
        regressor.predict(X)
        regressor.predict(holes)

    return {
        "choices and evidence": lambda: ask("factorised"),
        "regression": regress,
        "choices and evidence in LearnSPN leaves": lambda: ask("lspn"),
    }


def compile_step(name: str) -> str:
    """Compile what one step needs; in a process of the pool."""
    os.environ[MARKER] = os.devnull  # the steps say it all
    steps()[name]()
    return name


def main(arguments: Sequence[str] = ()) -> None:
    start, names = time.monotonic(), list(paper_steps() if "paper" in arguments else steps())

    def say(done: int, name: str) -> None:
        end = "\r" if sys.stderr.isatty() else "\n"
        print(f"Compiling numerical code, {done} of {len(names)} done{name:42s}", end=end, file=sys.stderr, flush=True)

    say(0, "")
    with ProcessPoolExecutor(PROCESSES) as pool:
        for i, step in enumerate(as_completed([pool.submit(compile_step, name) for name in names])):
            say(i + 1, f": {step.result()}")
    print(f"Numerical code is ready ({time.monotonic() - start:.0f} seconds).{' ' * 50}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
