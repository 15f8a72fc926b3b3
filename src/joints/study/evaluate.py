"""One dataset and one method: scores of every repetition, fold and missing rate (appendix C of the paper).

Scores are the same bytes on every run of the same configuration.  Seconds are not, so they are a table of their own
with the same keys; they are those of the processor, of all threads together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.interface import Method, TrainingFold
from joints.runtime.progress import Progress
from joints.study.forests import forest_of
from joints.study.protocol import Fold, Protocol, folds_of, seed_of
from joints.study.scores import KEYS, SCORES, SECONDS

# Probabilities that agree to this many decimals are a tie, and the first class wins it: the same sum formed in another
# order must not decide about a class.
DECIMALS = 10
SMALLEST_PROBABILITY = 1e-15  # for the log-loss, where a method rules the true class out


def score(
    data: Dataset,
    protocol: Protocol,
    repetitions: Sequence[int],
    model: Method,
    name: str,
    answers: Mapping[str, str],
    forests: Sequence[str | Path],
    n_jobs: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Fit a model on every training fold and score its answers at every missing rate.

    Parameters
    ----------
    data : Dataset
    protocol : Protocol
    repetitions : sequence of int
        Counted from 1.
    model : Method
    name : str
        The model's name in the catalogue of methods.
    answers : mapping from method to the name of its answer
        Methods that share the model.
    forests : sequence of folders
        Where `grow` has put the forests of these repetitions.
    n_jobs : int, default=1

    Returns
    -------
    scores, seconds : DataFrame
        One row a method, repetition, fold and rate.  Methods that share a model share its seconds.
    """
    scores, seconds = [], []
    progress = Progress(f"{data.name}, {name}", len(repetitions) * protocol.folds)
    with threadpool_limits(n_jobs):
        for fold in folds_of(data, protocol, repetitions):
            place = f"dataset {data.name}, method {name}, repetition {fold.repetition}, fold {fold.fold}"
            training = _training_fold(data, protocol, fold, name, forests, n_jobs)
            start = process_time()
            with _naming(f"{place}, while fitting"):
                model.fit(training)
            fitted = process_time() - start
            classes = np.unique(fold.y)
            for rate in protocol.rates:
                X = fold.with_missing(rate)
                start = process_time()
                with _naming(f"{place}, rate {rate:g}"):
                    found = model.answers(X)
                    probabilities = {
                        method: _checked(found, answer, len(X), classes, data.n_classes)
                        for method, answer in answers.items()
                    }
                predicted = process_time() - start
                for method, proba in probabilities.items():
                    keys = (data.name, method, fold.repetition, fold.fold, rate)
                    scores.append((*keys, *score_probabilities(proba, fold.y_test)))
                    seconds.append((*keys, fitted, predicted))
            progress.step()
    return pd.DataFrame(scores, columns=KEYS + SCORES), pd.DataFrame(seconds, columns=KEYS + SECONDS)


def score_probabilities(proba: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Accuracy, mean log-loss and mean Brier score (the sum over classes of squared errors).

    >>> score_probabilities(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([0, 0]))
    (0.5, 1.1512925464970227, 0.8900000000000001)
    """
    accuracy = float((proba.round(DECIMALS).argmax(axis=1) == y).mean())
    true = proba[np.arange(len(y)), y]
    log_loss = float(-np.log(np.maximum(true, SMALLEST_PROBABILITY)).mean())
    brier = float(((proba**2).sum(axis=1) - 2 * true + 1).mean())
    return accuracy, log_loss, brier


def _training_fold(
    data: Dataset, protocol: Protocol, fold: Fold, name: str, forests: Sequence[str | Path], n_jobs: int
) -> TrainingFold:
    forest = forest_of(fold, forests).set_params(n_jobs=n_jobs)
    seed = seed_of(protocol.seed, data.name, fold.repetition, fold.fold, name)
    return TrainingFold(fold.X, fold.y, data.n_categories, forest, seed, n_jobs)


def _checked(
    found: Mapping[str, np.ndarray], answer: str, n_rows: int, classes: np.ndarray, n_classes: int
) -> np.ndarray:
    """An answer's probabilities with one column for every class of the dataset."""
    if answer not in found:
        raise ValueError(f"it has no answer {answer!r}, only {', '.join(map(repr, found))}")
    proba = np.asarray(found[answer], dtype=np.float64)
    if proba.shape != (n_rows, len(classes)):
        raise ValueError(f"its probabilities have shape {proba.shape} instead of {(n_rows, len(classes))}")
    if not (np.isfinite(proba).all() and (proba >= 0).all() and np.allclose(proba.sum(axis=1), 1, atol=1e-6)):
        raise ValueError("its answer is not a probability distribution in every row")
    out = np.zeros((n_rows, n_classes))
    out[:, classes] = proba
    return out


class _naming:
    """Any failure inside becomes one sentence that names the place; the log keeps the traceback."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception):
            raise JointsError(f"{self.place}: {type(error).__name__}: {error}") from error
