"""The protocol of the missing-value study: folds, standardisation, masks, and every seed (appendix C of the paper).

Every seed of a run comes from here: the SHA-256 digest of

    joints/<run seed>/<dataset>/<repetition>/<fold>/<purpose>

with repetitions and folds counted from 1, fold 0 for whatever concerns a repetition as a whole, and the purposes
``folds``, ``mask``, ``forest``, ``outliers`` and the name of a method.  So a result never depends on which jobs ran, in
which order, or on how many cores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.interface import Mechanism
from joints.numerics.moments import varies

LARGEST_VALUE = 6.0  # standardised values are clipped to ±6, as in the authors' code


class Protocol(NamedTuple):
    """How one dataset is tested; a tuple, because Snakemake notices changes in tuples.

    Attributes
    ----------
    seed : int
        The run's seed.
    folds : int
        Folds of a cross-validation.
    rates : tuple of float
        Fractions of the test fold's cells that are missing, ascending.
    repetitions : int
        Each repetition is a cross-validation with a new shuffle.
    """

    seed: int
    folds: int
    rates: tuple[float, ...] = ()
    repetitions: int = 1

    @classmethod
    def read(cls, settings: Mapping[str, Any], dataset: str, method: str | None = None) -> Protocol:
        """The protocol of a dataset from the configuration's `protocol`, including its `exceptions`.

        A method named under `fewer`, for all datasets or for this one, has only the first repetitions.
        """
        exception = dict(settings.get("exceptions", {}).get(dataset, {}))
        fewer = {**settings.get("fewer", {}), **exception.pop("fewer", {})}
        chosen = {name: settings[name] for name in ("seed", "repetitions", "folds", "rates")} | exception
        repetitions = min(chosen["repetitions"], fewer.get(method, chosen["repetitions"]))
        return cls(**{**chosen, "rates": tuple(chosen["rates"]), "repetitions": repetitions})


@dataclass(frozen=True, eq=False)
class Fold:
    """One training fold and its test fold, standardised.

    Attributes
    ----------
    repetition, fold : int
        Counted from 1.
    X, y : ndarray of shape (n_train, n_features) and (n_train,)
        Training rows.
    X_test, y_test : ndarray of shape (n_test, n_features) and (n_test,)
        Test rows with all their values.
    """

    repetition: int
    fold: int
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def mask_order(fold: Fold, data: Dataset, protocol: Protocol, mechanism: Mechanism) -> np.ndarray:
    """The cells of a fold's test rows in the order in which they go missing; all methods see the same."""
    return _cell_order(fold.X_test, fold, data, protocol, mechanism)


def with_training_mask(fold: Fold, data: Dataset, protocol: Protocol, mechanism: Mechanism, rate: float) -> Fold:
    """The fold with values missing in its training rows, standardised again by what is left of them.

    The mechanism gets the generator of the test rows, so what it draws about the features is the same for both.
    """
    order = _cell_order(fold.X, fold, data, protocol, mechanism)
    X = without_cells(fold.X, order, rate)
    mean, sd = scale(X, data.n_categories)
    X, X_test = (standardise(rows, mean, sd, data.n_categories) for rows in (X, fold.X_test))
    return replace(fold, X=X, X_test=X_test)


def _cell_order(X: np.ndarray, fold: Fold, data: Dataset, protocol: Protocol, mechanism: Mechanism) -> np.ndarray:
    random = generator(protocol.seed, data.name, fold.repetition, fold.fold, "mask")
    order = mechanism.order(X, data.n_categories, random)
    if not np.array_equal(np.sort(order), np.arange(X.size)):
        raise ValueError(f"{type(mechanism).__name__} does not give every cell of {X.shape} exactly once")
    return order


def without_cells(X: np.ndarray, order: np.ndarray, rate: float) -> np.ndarray:
    """A table with exactly floor(rate * cells) cells removed, those of smaller rates among them.

    Cells that are already missing in the data count like any other: they stay missing whether or not they are removed.
    """
    out = X.copy()
    out.flat[order[: n_removed(rate, X.size)]] = np.nan
    return out


def n_removed(rate: float, cells: int) -> int:
    """floor(rate * cells) for the rate as written, without the rounding error of binary fractions.

    >>> int(0.29 * 100), n_removed(0.29, 100)
    (28, 29)
    """
    return int(Fraction(str(rate)) * cells)


def seed_of(seed: int, dataset: str, repetition: int, fold: int, purpose: str) -> int:
    """The seed, a 32-bit number, for one purpose at one place of a run.

    >>> seed_of(2020, "wine", 1, 1, "forest")
    2561947594
    """
    return int.from_bytes(_digest(seed, dataset, repetition, fold, purpose)[:4], "big")


def generator(seed: int, dataset: str, repetition: int, fold: int, purpose: str) -> np.random.Generator:
    """A random generator for one purpose at one place of a run."""
    return np.random.default_rng(int.from_bytes(_digest(seed, dataset, repetition, fold, purpose), "big"))


def seeded(seed: int) -> np.random.Generator:
    """A random generator from a seed of `seed_of`, for methods."""
    return np.random.default_rng(seed)


def _digest(seed: int, dataset: str, repetition: int, fold: int, purpose: str) -> bytes:
    return hashlib.sha256(f"joints/{seed}/{dataset}/{repetition}/{fold}/{purpose}".encode()).digest()


def stratify(y: np.ndarray, folds: int, random: np.random.Generator) -> np.ndarray:
    """The number of the test fold, 0, ..., folds - 1, of each row; stratified by class.

    Each class is shuffled and dealt to the folds in turn, starting where the previous class ended, so that folds differ
    by at most one row, in size and in each class.
    """
    fold_of = np.empty(len(y), dtype=np.int64)
    dealt = 0
    for label in np.unique(y):
        rows = random.permutation(np.flatnonzero(y == label))
        fold_of[rows] = (dealt + np.arange(len(rows))) % folds
        dealt += len(rows)
    return fold_of


def folds_of(data: Dataset, protocol: Protocol, repetitions: Sequence[int]) -> Iterator[Fold]:
    """The folds of some repetitions, in order."""
    check_folds(data, protocol.folds)
    for repetition in repetitions:
        place = (protocol.seed, data.name, repetition)
        fold_of = stratify(data.y, protocol.folds, generator(*place, 0, "folds"))
        for fold in range(1, protocol.folds + 1):
            test = fold_of == fold - 1
            mean, sd = scale(data.X[~test], data.n_categories)
            yield Fold(
                repetition,
                fold,
                X=standardise(data.X[~test], mean, sd, data.n_categories),
                y=data.y[~test],
                X_test=standardise(data.X[test], mean, sd, data.n_categories),
                y_test=data.y[test],
            )


def check_folds(data: Dataset, folds: int) -> None:
    """Raise a JointsError unless every fold can have a row of every class."""
    counts = np.bincount(data.y, minlength=data.n_classes)
    rarest = int(counts.argmin())
    if counts[rarest] < folds:
        raise JointsError(
            f"{data.name}: {folds} folds need {folds} rows of every class, but class {data.classes[rarest]!r} has "
            f"{counts[rarest]}; use fewer folds (protocol.folds, or protocol.exceptions for this dataset)"
        )


def scale(X: np.ndarray, n_categories: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each continuous feature over its observed values; 0 and 1 for all others.

    A constant feature, or one without any value, has standard deviation 1.
    """
    mean, sd = np.zeros(X.shape[1]), np.ones(X.shape[1])
    for j in np.flatnonzero(n_categories == 0):
        values = X[~np.isnan(X[:, j]), j]
        if len(values):
            mean[j] = values.mean()
            sd[j] = values.std() if varies(values[:, None])[0] else 1.0
    return mean, sd


def standardise(X: np.ndarray, mean: np.ndarray, sd: np.ndarray, n_categories: np.ndarray) -> np.ndarray:
    """Continuous values in standard deviations from the mean, clipped; category codes as they are."""
    return np.where(n_categories > 0, X, np.clip((X - mean) / sd, -LARGEST_VALUE, LARGEST_VALUE))
