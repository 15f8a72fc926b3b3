"""Held-out log-likelihood of LearnSPN beside that of deeprob-kit, on the same rows and with comparable settings.

    python learnspn_peer.py peer [dataset ...]    in the peer's environment: deeprob-kit, and the fully factorised model
    python learnspn_peer.py ours [dataset ...]    in this project's environment

Both read the test rows in `learnspn_split.json` and write their part of `learnspn_peer.json`.  A number is the mean
over the test rows of log p(x), or of log p(x, y) for a root that is a sum over the classes; where a seed matters, its
mean and standard deviation over `SEEDS`.  README.md says what the settings mean.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import deque
from importlib.metadata import version
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn.datasets import load_digits, load_wine

HERE = Path(__file__).resolve().parent
SPLIT, RECORD = HERE / "learnspn_split.json", HERE / "learnspn_peer.json"
LOADERS = {"wine": load_wine, "digits": load_digits}
DATASETS = tuple(LOADERS)
BINARY = ("digits",)  # pixels brighter than half
FLOORS = (0.1, 1.0)  # smallest standard deviation of a Gaussian, in units of the feature's
THRESHOLD = 0.001  # dependent below this p-value
SMOOTHING = 0.1  # added to the count of each category
SEEDS = range(5)


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X_train, y_train, X_test, y_test; continuous features are standardised by the training rows."""
    X, y = LOADERS[name](return_X_y=True)
    test = np.zeros(len(X), dtype=bool)
    test[json.loads(SPLIT.read_text())[name]] = True
    X = (X > 8).astype(float) if name in BINARY else (X - X[~test].mean(axis=0)) / X[~test].std(axis=0)
    return X[~test], y[~test], X[test], y[test]


def floors(name: str) -> tuple[float | None, ...]:
    """The floors of the standard deviation to try; binary data has none."""
    return (None,) if name in BINARY else FLOORS


def over_classes(fit, X, y, X_test, y_test) -> float:
    """Mean log p(x, y) where ``fit(X)`` gives a log-density, class by class."""
    total = 0.0
    for k in np.unique(y):
        density = fit(X[y == k])
        rows = y_test == k
        total += (density(X_test[rows]) + np.log(np.mean(y == k))).sum()
    return total / len(X_test)


def fit_factorised(X, binary: bool, min_sd: float | None):
    """A Gaussian or Bernoulli for each feature."""
    if binary:
        p = (X.sum(axis=0) + SMOOTHING) / (len(X) + 2 * SMOOTHING)
        return lambda x: (x * np.log(p) + (1 - x) * np.log(1 - p)).sum(axis=1)
    mean, sd = X.mean(axis=0), np.maximum(X.std(axis=0), min_sd)
    return lambda x: stats.norm.logpdf(x, mean, sd).sum(axis=1)


def by_p_value(data, distributions, domains, random_state) -> np.ndarray:
    """Groups of features that our tests hold together: a function deeprob-kit takes in place of its own."""
    n, m = data.shape
    group = np.arange(m)
    for i in range(m):
        for j in range(i):
            if group[i] == group[j]:
                continue
            if domains[i] == [0, 1]:
                table = np.histogram2d(data[:, i], data[:, j], bins=2, range=[[0, 1], [0, 1]])[0]
                p = stats.chi2_contingency(table)[1] if n > 8 else 1.0
            else:
                p = stats.kendalltau(data[:, i], data[:, j])[1]
            if p < THRESHOLD:
                group[np.isin(group, group[[i, j]])] = min(group[i], group[j])
    return group


class InOrder(deque):
    """A queue that serves the latest batch first, in the order in which its items were put in.

    deeprob-kit 1.1.0 puts a cluster whose features it cannot cut back at the end of its queue, and the children of a
    sum node then come in another order than its weights.  With this queue they come in the same.
    """

    def __init__(self):
        super().__init__()
        self.fresh = []

    def __len__(self):
        return super().__len__() + len(self.fresh)

    def append(self, task):
        self.fresh.append(task)

    def popleft(self):
        self.extendleft(reversed(self.fresh))
        self.fresh.clear()
        return super().popleft()


def fit_peer(X, binary: bool, min_sd: float | None, seed: int, split_cols, min_rows: int, queue: type):
    """A circuit of deeprob-kit, whose leaves keep to the floor of the standard deviation, as a log-density."""
    from deeprob.spn.algorithms.inference import log_likelihood
    from deeprob.spn.learning import learnspn
    from deeprob.spn.learning.leaf import learn_mle
    from deeprob.spn.learning.wrappers import learn_estimator
    from deeprob.spn.structure.leaf import Bernoulli, Gaussian

    def learn_leaf(data, distributions, domains, scope, **kwargs):
        node = learn_mle(data, distributions, domains, scope, alpha=SMOOTHING, **kwargs)
        for leaf in node.children or [node]:
            if isinstance(leaf, Gaussian) and min_sd is not None:
                leaf.stddev = max(leaf.stddev, min_sd)
        return node

    learnspn.deque = queue
    m = X.shape[1]
    root = learn_estimator(
        X.astype(np.float32), [Bernoulli if binary else Gaussian] * m,
        [[0, 1]] * m if binary else list(zip(X.min(axis=0), X.max(axis=0), strict=True)),
        learn_leaf=learn_leaf, split_rows="kmeans", split_rows_kwargs={"n": 2}, split_cols=split_cols,
        min_rows_slice=min_rows, random_state=seed, verbose=False,
    )  # fmt: skip
    return lambda x: log_likelihood(root, x.astype(np.float32)).ravel().astype(float)


def fit_ours(name: str, min_sd: float | None, seed: int, X, y):
    from joints import LearnSPNClassifier

    binary = {j: 2 for j in range(X.shape[1])} if name in BINARY else None
    model = LearnSPNClassifier(
        threshold=THRESHOLD, min_sd=min_sd or 1.0, smoothing=SMOOTHING, categorical_features=binary, random_state=seed
    )
    return model.fit(X, y)


def ours(name: str, min_sd: float | None, seed: int) -> dict[str, float]:
    """Our two numbers: of a circuit over the features alone (one class for all rows), and of features and class."""
    X, y, X_test, y_test = load(name)
    alone = fit_ours(name, min_sd, seed, X, np.zeros(len(X), dtype=int)).score_samples(X_test)
    joint = fit_ours(name, min_sd, seed, X, y).log_joint(X_test)
    return {"x": alone.mean(), "x, y": joint[np.arange(len(y_test)), y_test].mean()}


def peer(name: str, min_sd: float | None, seed: int, split_cols, min_rows: int, queue: type) -> dict[str, float]:
    """The same two numbers of deeprob-kit, a circuit for each class in the second."""
    X, y, X_test, y_test = load(name)

    def fit(rows):
        return fit_peer(rows, name in BINARY, min_sd, seed, split_cols, min_rows, queue)

    return {"x": fit(X)(X_test).mean(), "x, y": over_classes(fit, X, y, X_test, y_test)}


def factorised(name: str, min_sd: float | None) -> dict[str, float]:
    """The same two numbers without any structure."""
    X, y, X_test, y_test = load(name)

    def fit(rows):
        return fit_factorised(rows, name in BINARY, min_sd)

    return {"x": fit(X)(X_test).mean(), "x, y": over_classes(fit, X, y, X_test, y_test)}


def summary(model: str, name: str, min_sd: float | None, numbers: list[dict[str, float]]) -> list[dict]:
    return [
        {"model": model, "dataset": name, "min_sd": min_sd, "of": of,
         "mean": round(float(np.mean([n[of] for n in numbers])), 4),
         "sd": round(float(np.std([n[of] for n in numbers])), 4)}
        for of in numbers[0]
    ]  # fmt: skip


def peers(name: str) -> dict:
    """The peer's settings: how it cuts the features, the fewest rows that it still cuts, and its queue."""
    return {
        "deeprob-kit, our tests": (by_p_value, 5, InOrder),
        "deeprob-kit, its own test": ("gvs" if name in BINARY else "rdc", 20, InOrder),
        "deeprob-kit as released, our tests": (by_p_value, 5, deque),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["peer", "ours"])
    parser.add_argument("datasets", nargs="*", help="only these, and keep the record of the others")
    asked = parser.parse_args()
    part, datasets = asked.part, asked.datasets or DATASETS
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    rows = [row for row in record.get(part, {"rows": []})["rows"] if row["dataset"] not in datasets]
    for name in datasets:
        for min_sd in floors(name):
            if part == "ours":
                found = {"joints": [ours(name, min_sd, seed) for seed in SEEDS]}
            else:
                found = {"factorised": [factorised(name, min_sd)]}
                for model, how in peers(name).items():
                    found[model] = Parallel(n_jobs=-1)(delayed(peer)(name, min_sd, seed, *how) for seed in SEEDS)
            new = [row for model, numbers in found.items() for row in summary(model, name, min_sd, numbers)]
            for row in new:
                print(*row.values(), sep="\t", flush=True)
            rows += new
    packages = ["numpy", "scipy", "scikit-learn", *(["deeprob-kit"] if part == "peer" else [])]
    versions = {"python": platform.python_version()} | {p: version(p) for p in packages}
    rows.sort(key=lambda row: DATASETS.index(row["dataset"]))
    record[part] = {"versions": versions, "rows": rows}
    parts = [
        f'"{key}": {{"versions": {json.dumps(value["versions"])}, "rows": [\n'
        + ",\n".join(json.dumps(row) for row in value["rows"])
        + "\n]}"
        for key, value in sorted(record.items())
    ]
    RECORD.write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
