"""One dataset and one model: scores of every answer, repetition, fold and missing rate (appendix C of the paper).

Scores are identical to the byte in every run of the same configuration.  Times are not, so they have a table of their
own; they are CPU seconds, summed over all threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import process_time

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.interface import Mechanism, Method, TrainingFold
from joints.runtime.progress import FoldProgress
from joints.study.forests import ForestOf
from joints.study.protocol import Fold, Protocol, folds_of, mask_order, seed_of, without_cells
from joints.study.scores import OF_MODEL, SECONDS

Metric = Callable[[np.ndarray, np.ndarray], float]


def score(
    data: Dataset,
    protocol: Protocol,
    repetitions: Sequence[int],
    model: Method,
    name: str,
    forest_of: ForestOf,
    mechanisms: Mapping[str, Mechanism],
    metrics: Mapping[str, Metric],
    n_jobs: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Fit a model on every training fold and score its answers for every mechanism and missing rate.

    Parameters
    ----------
    data : Dataset
    protocol : Protocol
    repetitions : sequence of int
        Counted from 1.
    model : Method
    name : str
        The model's name in the catalogue of methods; its seeds depend on it.
    forest_of : function from a fold to its forest
    mechanisms, metrics : mapping
        By their names in the catalogues.
    n_jobs : int, default=1

    Returns
    -------
    scores : DataFrame
        One row per answer, mechanism, rate, repetition and fold, with one column per metric.
    seconds : DataFrame
        One row per mechanism, rate, repetition and fold.
    """
    scores, seconds = [], []
    progress = FoldProgress(f"{data.name}, {name}", len(repetitions) * protocol.folds)
    with threadpool_limits(n_jobs):
        for fold in folds_of(data, protocol, repetitions):
            place = f"dataset {data.name}, method {name}, repetition {fold.repetition}, fold {fold.fold}"
            training = _training_fold(data, protocol, fold, name, forest_of, n_jobs)
            start = process_time()
            with _naming(f"{place}, while fitting"):
                model.fit(training)
            fitted = process_time() - start
            classes = np.unique(fold.y)
            for mechanism, rows_at in _masked(data, protocol, fold, mechanisms, place):
                for rate in protocol.rates:
                    X = rows_at(rate)
                    start = process_time()
                    with _naming(f"{place}, {mechanism}, rate {rate:g}"):
                        found = {
                            answer: _checked(proba, len(X), classes, data.n_classes)
                            for answer, proba in model.answers(X).items()
                        }
                    predicted = process_time() - start
                    keys = (data.name, name, mechanism, rate, fold.repetition, fold.fold)
                    seconds.append((*keys, fitted, predicted))
                    for answer, proba in found.items():
                        values = (metric(fold.y_test, proba) for metric in metrics.values())
                        scores.append((*keys, answer, *values))
            progress.step()
    return (
        pd.DataFrame(scores, columns=[*OF_MODEL, "answer", *metrics]),
        pd.DataFrame(seconds, columns=[*OF_MODEL, *SECONDS]),
    )


def _training_fold(
    data: Dataset, protocol: Protocol, fold: Fold, name: str, forest_of: ForestOf, n_jobs: int
) -> TrainingFold:
    forest = forest_of(fold).set_params(n_jobs=n_jobs)
    seed = seed_of(protocol.seed, data.name, fold.repetition, fold.fold, name)
    return TrainingFold(fold.X, fold.y, data.n_categories, forest, seed, n_jobs)


def _masked(
    data: Dataset, protocol: Protocol, fold: Fold, mechanisms: Mapping[str, Mechanism], place: str
) -> Iterator[tuple[str, Callable[[float], np.ndarray]]]:
    """For each mechanism, its name and the test rows as a function of the missing rate."""
    for name, mechanism in mechanisms.items():
        with _naming(f"{place}, mechanism {name}"):
            order = mask_order(fold, data, protocol, mechanism)

        def rows_at(rate: float, order: np.ndarray = order) -> np.ndarray:
            return without_cells(fold.X_test, order, rate)

        yield name, rows_at


def _checked(proba: np.ndarray, n_rows: int, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """An answer's probabilities with one column for every class of the dataset."""
    proba = np.asarray(proba, dtype=np.float64)
    if proba.shape != (n_rows, len(classes)):
        raise ValueError(f"its probabilities have shape {proba.shape} instead of {(n_rows, len(classes))}")
    if not (np.isfinite(proba).all() and (proba >= 0).all() and np.allclose(proba.sum(axis=1), 1, atol=1e-6)):
        raise ValueError("its answer is not a probability distribution in every row")
    out = np.zeros((n_rows, n_classes))
    out[:, classes] = proba
    return out


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Turn any failure inside into one sentence that names the place; the log keeps the traceback."""
    try:
        yield
    except Exception as error:
        raise JointsError(f"{place}: {type(error).__name__}: {error}") from error
