"""One dataset and one model: scores of every answer, repetition, fold and missing rate (appendix C of the paper).

Scores are identical to the byte in every run of the same configuration.  Times are not, so they have a table of their
own; they are CPU seconds, summed over all threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.interface import Mechanism, Method, TrainingFold
from joints.runtime.progress import FoldProgress
from joints.study.forests import ForestOf
from joints.study.metrics import confidence_bins
from joints.study.protocol import (
    Fold,
    Protocol,
    folds_of,
    mask_order,
    seed_of,
    with_training_mask,
    without_cells,
)
from joints.study.scores import CONFIDENCE, OF_MODEL, SECONDS

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
    training: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
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
    training : bool, default=False
        Whether values are missing in training too: by the same mechanism and at the same rate as in testing, so that
        the model is fitted for each of them.  Then `fit_seconds` includes growing the forest.

    Returns
    -------
    scores : DataFrame
        One row per answer, mechanism, rate, repetition and fold, with one column per metric.
    seconds : DataFrame
        One row per mechanism, rate, repetition and fold.
    confidence : DataFrame
        For reliability diagrams: rows, the sum of their confidences and how many are correct, for every answer,
        mechanism, rate, repetition and bin of confidence, over the folds.
    """
    scores, seconds, bins = [], [], []
    progress = FoldProgress(f"{data.name}, {name}", len(repetitions) * protocol.folds)
    with threadpool_limits(n_jobs):
        for fold in folds_of(data, protocol, repetitions):
            place = f"dataset {data.name}, method {name}, repetition {fold.repetition}, fold {fold.fold}"
            classes, fitted_on, fitted = np.unique(fold.y), None, 0.0
            for case in _cases(data, protocol, fold, mechanisms, training, place):
                if case.fold is not fitted_on:
                    fitted_on = case.fold
                    fitted = _fit(model, data, protocol, case.fold, name, forest_of, n_jobs, training, place)
                X = case.rows()
                start = process_time()
                with _naming(f"{place}, {case.mechanism}, rate {case.rate:g}"):
                    found = {
                        answer: _checked(proba, len(X), classes, data.n_classes)
                        for answer, proba in model.answers(X).items()
                    }
                predicted = process_time() - start
                keys = (data.name, name, case.mechanism, case.rate, fold.repetition, fold.fold)
                seconds.append((*keys, fitted, predicted))
                for answer, proba in found.items():
                    values = (metric(fold.y_test, proba) for metric in metrics.values())
                    scores.append((*keys, answer, *values))
                    bins += [(*keys[:-1], answer, *found) for found in _bins(fold.y_test, proba)]
            progress.step()
    return (
        pd.DataFrame(scores, columns=[*OF_MODEL, "answer", *metrics]),
        pd.DataFrame(seconds, columns=[*OF_MODEL, *SECONDS]),
        pd.DataFrame(bins, columns=CONFIDENCE).groupby(CONFIDENCE[:-3], sort=False).sum().reset_index(),
    )


def _bins(truth: np.ndarray, proba: np.ndarray) -> Iterator[tuple[int, float, float, float]]:
    """The bins of confidence that have rows."""
    rows, confidence, correct = confidence_bins(truth, proba)
    for b in np.flatnonzero(rows):
        yield int(b), rows[b], confidence[b], correct[b]


class _Case(NamedTuple):
    """A missing rate of a mechanism: the fold to learn from, and the order in which test cells go missing."""

    mechanism: str
    rate: float
    fold: Fold
    order: np.ndarray

    def rows(self) -> np.ndarray:
        return without_cells(self.fold.X_test, self.order, self.rate)


def _cases(
    data: Dataset, protocol: Protocol, fold: Fold, mechanisms: Mapping[str, Mechanism], training: bool, place: str
) -> Iterator[_Case]:
    for name, mechanism in mechanisms.items():
        with _naming(f"{place}, mechanism {name}"):
            order = mask_order(fold, data, protocol, mechanism)
        for rate in protocol.rates:
            learned = with_training_mask(fold, data, protocol, mechanism, rate) if training else fold
            yield _Case(name, rate, learned, order)


def _fit(
    model: Method,
    data: Dataset,
    protocol: Protocol,
    fold: Fold,
    name: str,
    forest_of: ForestOf,
    n_jobs: int,
    with_forest: bool,
    place: str,
) -> float:
    """Fit a model; returns the CPU seconds, with those of the forest if wanted."""
    seed = seed_of(protocol.seed, data.name, fold.repetition, fold.fold, name)
    start = process_time()
    forest = forest_of(fold).set_params(n_jobs=n_jobs) if model.needs_forest else None
    if not with_forest:
        start = process_time()
    with _naming(f"{place}, while fitting"):
        model.fit(TrainingFold(fold.X, fold.y, data.n_categories, forest, seed, n_jobs))
    return process_time() - start


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
