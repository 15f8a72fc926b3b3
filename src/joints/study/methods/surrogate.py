"""Surrogate splits: where a split's feature is missing, the best available stand-in decides (appendix C)."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import clone

from joints.forest.classifier import ForestClassifier
from joints.interface import Method, TrainingFold


class SurrogateSplits(Method):
    """The forest with surrogate splits.

    Parameters
    ----------
    surrogates : {"published", "text"}, default="published"
        As the authors' code finds them, or as the paper describes them; see `joints.ForestClassifier`.
    """

    def __init__(self, surrogates: str = "published") -> None:
        if surrogates not in ("published", "text"):
            raise ValueError(f"surrogates is {surrogates!r}: choose 'published' or 'text'")
        self.surrogates = surrogates

    def fit(self, fold: TrainingFold) -> Self:
        self.forest_ = _with_surrogates(fold.forest, self.surrogates, fold.n_jobs)
        self.forest_.find_surrogates()
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.forest_.predict_proba(X, missing="surrogate")


def _with_surrogates(forest: ForestClassifier, surrogates: str, n_jobs: int) -> ForestClassifier:
    """A copy of a fitted forest with its own rule for surrogates, so that the shared one stays as it is."""
    copy = clone(forest).set_params(surrogates=surrogates, n_jobs=n_jobs)
    copy.__dict__.update({name: value for name, value in vars(forest).items() if name.endswith("_")})
    copy._surrogates = None
    return copy
