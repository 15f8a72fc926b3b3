"""Classifiers that are trained on their own, with settings chosen on the training fold and, if wanted, with masks.

All of them have the same budget: the candidates that the catalogue lists under `search`, each trained on four fifths of
the training fold and compared by the log-loss on the rest; the best one is trained again on the whole fold.

With `masks`, the training rows are repeated once for every rate given, with that share of their values hidden
completely at random; so are the rows that candidates are compared on.  This is how a classifier that handles missing
values by itself learns what to do about them when the training data is complete.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from joints.interface import Method, TrainingFold
from joints.study.metrics import log_loss
from joints.study.protocol import seeded, stratify

PARTS = 5  # one of them is for comparing the candidates


class TunedClassifier(Method):
    """Train on rows with missing values, and answer for such rows.

    Parameters
    ----------
    search : sequence of mappings, default=({},)
        Candidates: settings of the classifier.
    masks : sequence of float, default=()
        Shares of values to hide in the repeated training rows; none: the rows are used once, as they are.
    **settings
        Settings that all candidates share.
    """

    needs_forest = False

    def __init__(self, search: Sequence[Mapping[str, Any]] = ({},), masks: Sequence[float] = (), **settings: Any):
        if not search:
            raise ValueError("search is empty: list at least one candidate, such as {}")
        if not all(0 <= rate < 1 for rate in masks):
            raise ValueError(f"masks are {masks!r}: choose shares of at least 0 and below 1")
        self.search, self.masks, self.settings = search, masks, settings

    @abstractmethod
    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        """A new classifier with `fit` and `predict_proba`, in the manner of scikit-learn, for encoded rows."""

    def fit_arguments(self) -> dict[str, Any]:
        """What the classifier's `fit` takes besides rows and classes."""
        return {}

    def prepare(self, fold: TrainingFold) -> None:
        """Learn what `encode` needs from the training rows, without masks."""

    def encode(self, X: np.ndarray) -> np.ndarray:
        """Rows as the classifier takes them."""
        return X

    def fit(self, fold: TrainingFold) -> Self:
        random = seeded(fold.seed)
        self.classes_, y = np.unique(fold.y, return_inverse=True)
        self.n_categories_ = fold.n_categories
        self.prepare(fold)
        chosen = self.search[0]
        with threadpool_limits(1):
            if len(self.search) > 1 and len(self.classes_) > 1:
                chosen = self._choose(fold.X, y, fold.seed, random)
            self.model_ = self._train(*self._masked(fold.X, y, random), chosen, fold.seed)
        self.chosen_ = chosen
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        with threadpool_limits(1):
            return self._answer(self.model_, X)

    def _choose(self, X: np.ndarray, y: np.ndarray, seed: int, random: np.random.Generator) -> Mapping[str, Any]:
        held = stratify(y, PARTS, random) == 0
        training, (rows, truth) = self._masked(X[~held], y[~held], random), self._masked(X[held], y[held], random)
        losses = [log_loss(truth, self._answer(self._train(*training, c, seed), rows)) for c in self.search]
        return self.search[int(np.argmin(losses))]

    def _masked(self, X: np.ndarray, y: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return masked_copies(X, self.masks, random), np.tile(y, max(1, len(self.masks)))

    def _train(self, X: np.ndarray, y: np.ndarray, candidate: Mapping[str, Any], seed: int) -> tuple[np.ndarray, Any]:
        """The classes of these rows, and a classifier for them if there are several."""
        found, codes = np.unique(y, return_inverse=True)
        if len(found) < 2:
            return found, None
        model = self.new_classifier({**self.settings, **candidate}, seed)
        return found, model.fit(self.encode(X), codes, **self.fit_arguments())

    def _answer(self, model: tuple[np.ndarray, Any], X: np.ndarray) -> np.ndarray:
        found, classifier = model
        out = np.zeros((len(X), len(self.classes_)))
        if classifier is None:
            out[:, found] = 1.0
        elif len(X):
            proba = np.asarray(classifier.predict_proba(self.encode(X)), dtype=np.float64)
            out[:, found] = proba / proba.sum(axis=1, keepdims=True)
        return out


def masked_copies(X: np.ndarray, rates: Sequence[float], random: np.random.Generator) -> np.ndarray:
    """The rows once for every rate, with that share of their values hidden; as they are if there is no rate."""
    copies = [np.where(random.random(X.shape) < rate, np.nan, X) for rate in rates]
    return np.concatenate(copies) if copies else X


def one_hot(X: np.ndarray, n_categories: np.ndarray, first: int = 0) -> np.ndarray:
    """Categories as columns of 0 and 1, from category `first` on; NaN in all columns of a feature if it is missing."""
    columns = []
    for j, k in enumerate(n_categories):
        x = X[:, j : j + 1]
        columns.append(np.where(np.isnan(x), np.nan, x == np.arange(first, k)) if k else x)
    return np.concatenate(columns, axis=1)
