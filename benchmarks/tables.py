"""The data of the benchmarks: the paper's datasets if a run of the workflow has fetched them, else synthetic ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from joints.data.dataset import Dataset

GAPS = {"mice": {70: 250, 71: 200, 72: 3, 73: 3, 74: 3, 75: 3}}  # features of a synthetic table, and missing values
ROOT = Path(__file__).resolve().parent.parent
DENSITIES = {"min_sd": 1.0, "smoothing": 1e-6, "combine": "average", "truncate": False}  # leaves with nothing to choose
SHAPES = {  # rows, continuous features, categories of the others, classes
    "authent": (1372, 4, (), 2),
    "diabetes": (768, 8, (), 2),
    "breast": (569, 30, (), 2),
    "vehicle": (846, 18, (), 4),
    "vowel": (990, 10, (15, 2), 11),
    "texture": (5500, 40, (), 11),
    "gesture": (9873, 32, (), 5),
    "mice": (1080, 77, (), 8),
    "wine": (6497, 11, (), 2),
    "electricity": (45312, 7, (7,), 2),
    "bank": (45211, 7, (12, 3, 4, 2, 2, 2, 3, 12, 4), 2),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Features, number of categories of each, classes, and where they come from."""
    files = sorted(ROOT.glob(f"results/*/data/{name}.npz"))
    if files:
        data = Dataset.load(files[0])
        return data.X, data.n_categories, data.y, str(files[0].relative_to(ROOT))
    n_rows, continuous, categories, n_classes = SHAPES[name]
    X, y = make_classification(
        n_rows, continuous, n_informative=continuous // 2 + 1, n_redundant=continuous // 3, n_classes=n_classes,
        n_clusters_per_class=3, random_state=0,
    )  # fmt: skip
    for j, n_missing in GAPS.get(name, {}).items():
        X[:n_missing, j] = np.nan
    codes = np.random.default_rng(0).integers(0, categories or (1,), (n_rows, len(categories)))
    n_categories = np.array([0] * continuous + list(categories), dtype=np.int64)
    return np.column_stack([X, codes]), n_categories, y, "synthetic: no run of the workflow has it"


class Fold:
    """A training fold of four fifths of the rows and a test fold, standardised and clipped as in the paper."""

    def __init__(self, name: str):
        X, self.n_categories, y, self.source = load(name)
        self.name = name
        order = np.random.default_rng(0).permutation(len(X))
        test, train = np.sort(order[: len(X) // 5]), np.sort(order[len(X) // 5 :])
        mean, sd = np.nanmean(X[train], axis=0), np.nanstd(X[train], axis=0)
        X = np.where(self.n_categories > 0, X, np.clip((X - mean) / np.where(sd > 0, sd, 1.0), -6, 6))
        self.train, self.test, self.y_train, self.y_test = X[train], X[test], y[train], y[test]

    @property
    def domains(self) -> dict[int, int]:
        """The value for `categorical_features`."""
        return {j: int(k) for j, k in enumerate(self.n_categories) if k}

    def with_holes(self, rate: float) -> np.ndarray:
        """The test rows with this fraction of cells missing; the holes at one rate are also holes at higher rates."""
        holes = self.test.copy()
        order = np.random.default_rng(1).permutation(holes.size)
        holes.ravel()[order[: int(rate * holes.size)]] = np.nan
        return holes
