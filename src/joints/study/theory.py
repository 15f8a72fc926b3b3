"""Statements of the paper's section 4 and appendix B, simulated where the true distribution is known.

KNN imputation can be arbitrarily bad: two correlated Gaussian features, the second one missing, and a class that says
whether it is far from what the first one predicts.  Generative Trees are consistent whatever is missing (Theorem 2):
leaves with uniform densities on the unit square, whose cells shrink as the number of rows grows.  An answer costs as
much as the forest's where rows are complete, and is linear in the leaves where they are not (appendix B).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from joints.circuit.generative import GenerativeForestClassifier
from joints.forest.arrays import Forest
from joints.forest.classifier import ForestClassifier
from joints.impute.knn import KNNImputer
from joints.study.protocol import generator, seed_of

CORRELATION = 0.5
PATTERNS = {"first": (0,), "second": (1,), "both": (0, 1)}  # which features are observed
LARGEST_FOREST = 100_000  # training rows of the forests whose answers are timed
POINTS = 200  # of the grid over which the square is integrated, per feature


def simulate(
    epsilons: Sequence[float], example_rows: int, rows: Sequence[int], repetitions: int, seed: int, n_jobs: int = 1
) -> pd.DataFrame:
    """All simulations.

    Parameters
    ----------
    epsilons : sequence of float
        Widths of the example with Gaussian features.
    example_rows : int
        Its training rows.
    rows : sequence of int
        Training rows of the trees with uniform leaves, and (up to 100,000) of the forests whose answers are timed.
    repetitions : int
    seed : int
    n_jobs : int, default=1

    Returns
    -------
    DataFrame
        statement, repetition, x (the width, the rows, or the leaves), method, value
    """
    found: list[tuple[str, int, float, str, float]] = []
    for repetition in range(repetitions):
        for epsilon in epsilons:
            errors = imputation_errors(epsilon, example_rows, repetition, seed, n_jobs)
            found += [("imputation", repetition, epsilon, method, error) for method, error in errors.items()]
        for n in rows:
            distances = consistency_at(n, repetition, seed)
            found += [("consistency", repetition, n, name, value) for name, value in distances.items()]
            if n <= LARGEST_FOREST:
                n_leaves, seconds = answer_seconds(n, repetition, seed)
                found += [("complexity", repetition, n_leaves, name, value) for name, value in seconds.items()]
    return pd.DataFrame(found, columns=["statement", "repetition", "x", "method", "value"])


def imputation_errors(epsilon: float, n: int, repetition: int, seed: int, n_jobs: int = 1) -> dict[str, float]:
    """Errors where the class says whether X2 is more than epsilon away from its mean given X1, and X2 is missing.

    Neighbours are as many as make KNN regression consistent: more and more, but fewer and fewer of all rows.
    """
    place = (seed, f"imputation {epsilon} {n}", repetition, 0)
    random = generator(*place, "rows")
    train, test = (_gaussian_rows(size, epsilon, random) for size in (n, 1000))
    forest = ForestClassifier(n_estimators=20, random_state=seed_of(*place, "forest"), n_jobs=n_jobs).fit(*train)
    incomplete = test[0].copy()
    incomplete[:, 1] = np.nan
    imputer = KNNImputer(n_neighbors=round(n ** (2 / 3))).fit(train[0])
    generative = GenerativeForestClassifier.from_forest(forest, min_sd=epsilon, combine="average", smoothing=1e-6)
    far = 2 * stats.norm.sf(epsilon / np.sqrt(1 - CORRELATION**2))
    return {
        "knn": float(np.mean(forest.predict(imputer.transform(incomplete)) != test[1])),
        "gef": float(np.mean(generative.predict(incomplete) != test[1])),
        "best possible": float(min(far, 1 - far)),
    }


def _gaussian_rows(n: int, epsilon: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = random.multivariate_normal([0.0, 0.0], [[1.0, CORRELATION], [CORRELATION, 1.0]], size=n)
    return X, (np.abs(X[:, 1] - CORRELATION * X[:, 0]) > epsilon).astype(int)


@dataclass(frozen=True)
class Square:
    """A known distribution of two classes on the unit square; each is a mixture of two products of beta densities."""

    shapes: tuple[tuple[tuple[float, float], ...], ...] = (
        ((2.0, 6.0), (2.0, 5.0), (6.0, 2.0), (5.0, 2.0)),  # of class 0: the two features of one part, then of the other
        ((2.0, 4.0), (5.0, 2.0), (3.0, 3.0), (2.0, 2.0)),
    )

    def draw(self, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows and their classes."""
        y = random.integers(2, size=n)
        shapes = np.asarray(self.shapes).reshape(2, 2, 2, 2)[y, random.integers(2, size=n)]
        return random.beta(shapes[..., 0], shapes[..., 1]), y

    def density(self, points: np.ndarray, observed: Sequence[int]) -> np.ndarray:
        """p(x_o, y) at points of the observed features; of shape (n_points, 2)."""
        shapes = np.asarray(self.shapes).reshape(2, 2, 2, 2)
        parts = np.full((len(points), 2, 2), 0.25)
        for column, feature in enumerate(observed):
            a, b = shapes[:, :, feature, 0], shapes[:, :, feature, 1]
            parts *= stats.beta.pdf(points[:, column, None, None], a, b)
        return parts.sum(axis=2)


def consistency_at(n: int, repetition: int, seed: int) -> dict[str, float]:
    """How far trees with uniform leaves, learned from n rows, are from the truth.

    Leaves have at least the square root of n rows and splits are on features drawn at random, so there are few cells
    compared with rows, and cells shrink in both directions: the theorem's assumptions.  The values are the distance
    between both densities (`l1`), the error above the best possible one for each pattern of observed features, and the
    average diameter of a cell.
    """
    place = (seed, f"consistency {n}", repetition, 0)
    truth = Square()
    X, y = truth.draw(n, generator(*place, "rows"))
    tree = ForestClassifier(
        n_estimators=1,
        max_features=1,
        min_samples_leaf=round(np.sqrt(n)),
        bootstrap=False,
        random_state=seed_of(*place, "tree"),
    ).fit(X, y)
    low, high = cells_of(tree.forest_)
    counts = tree.forest_.leaf_counts
    found = {"diameter": float(np.average(np.linalg.norm(high - low, axis=1), weights=counts.sum(axis=1)))}
    for name, observed in PATTERNS.items():
        points = _grid(len(observed))
        true = truth.density(points, observed)
        learned = uniform_density(points, low[:, observed], high[:, observed], counts / n)
        missed = true.max(axis=1) - np.take_along_axis(true, learned.argmax(axis=1)[:, None], axis=1)[:, 0]
        found[name] = float(missed.mean())
        if name == "both":
            found["l1"] = float(np.abs(learned - true).sum(axis=1).mean())
    return found


def _grid(n_features: int) -> np.ndarray:
    """Midpoints of a regular grid over the unit interval or square."""
    middle = (np.arange(POINTS) + 0.5) / POINTS
    return np.stack(np.meshgrid(*[middle] * n_features, indexing="ij"), axis=-1).reshape(-1, n_features)


def cells_of(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners, in the unit square, of the cells of a forest of one tree."""
    corners = sorted(_walk(forest, 0, np.zeros(2), np.ones(2)), key=lambda cell: cell[0])
    return np.stack([cell[1] for cell in corners]), np.stack([cell[2] for cell in corners])


def _walk(forest: Forest, node: int, low: np.ndarray, high: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    feature = forest.feature[node]
    if feature < 0:
        yield int(forest.leaf[node]), low, high
        return
    middle_high, middle_low = high.copy(), low.copy()
    middle_high[feature] = middle_low[feature] = forest.threshold[node]
    yield from _walk(forest, node + 1, low, middle_high)
    yield from _walk(forest, int(forest.right[node]), middle_low, high)


def uniform_density(points: np.ndarray, low: np.ndarray, high: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """p(x_o, y) of a Generative Tree with uniform leaves; what is not observed is integrated out of every cell.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_observed)
    low, high : ndarray of shape (n_leaves, n_observed)
    weights : ndarray of shape (n_leaves, n_classes)
        Share of the training rows in each leaf and class.
    """
    heights = weights / np.prod(high - low, axis=1)[:, None]
    found = np.empty((len(points), weights.shape[1]))
    for begin in range(0, len(points), 4096):
        part = points[begin : begin + 4096, None]
        inside = ((part > low) & (part <= high)).all(axis=2)
        found[begin : begin + 4096] = inside @ heights
    return found


def answer_seconds(n: int, repetition: int, seed: int) -> tuple[int, dict[str, float]]:
    """The leaves of a forest grown on n rows, and the CPU seconds of its answers to 10,000 rows.

    Answers are the forest's own and a Generative Forest's, where rows are complete and where one of both is missing.
    """
    place = (seed, f"complexity {n}", repetition, 0)
    random = generator(*place, "rows")
    X, y = Square().draw(n, random)
    forest = ForestClassifier(n_estimators=10, random_state=seed_of(*place, "forest"), n_jobs=1).fit(X, y)
    generative = GenerativeForestClassifier.from_forest(forest, min_sd=0.1, combine="average", smoothing=1e-6)
    rows, _ = Square().draw(10_000, random)
    incomplete = rows.copy()
    incomplete[:, 1] = np.nan
    return forest.forest_.n_leaves, {
        "forest": _seconds(lambda: forest.predict_proba(rows)),
        "complete": _seconds(lambda: generative.predict_proba(rows)),
        "incomplete": _seconds(lambda: generative.predict_proba(incomplete)),
    }


def _seconds(answer: Callable[[], object]) -> float:
    """CPU seconds of an answer, the least of three."""
    found = []
    for _ in range(3):
        begin = time.process_time()
        answer()
        found.append(time.process_time() - begin)
    return min(found)
