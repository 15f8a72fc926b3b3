"""Iterative imputation before the forest: Bayesian ridge regressions of each feature on the others, in turn."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from threadpoolctl import threadpool_limits

from joints.interface import Method, TrainingFold
from joints.study.methods.tuned import masked_copies, one_hot
from joints.study.protocol import seeded


class IterativeImputation(Method):
    """Parameters are those of `sklearn.impute.IterativeImputer`; its regressions are Bayesian ridge regressions.

    It learns from the training rows and a copy of them in which half of the values are hidden, since it has no
    regression for a feature without missing values.  Categories are columns of 0 and 1, without the first one, whose
    column would follow from the others; the category with the largest number wins.
    """

    def __init__(self, **parameters: Any) -> None:
        IterativeImputer(**parameters)._validate_params()
        self.parameters = parameters

    def fit(self, fold: TrainingFold) -> Self:
        self.forest_, self.n_categories_ = fold.forest, fold.n_categories
        rows = masked_copies(fold.X, (0.0, 0.5), seeded(fold.seed))
        self.imputer_ = IterativeImputer(**self.parameters, keep_empty_features=True, random_state=fold.seed % 2**31)
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of rounds is a setting
            self.imputer_.fit(one_hot(rows, fold.n_categories, first=1))
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        with threadpool_limits(1):
            filled = self.imputer_.transform(one_hot(X, self.n_categories_, first=1))
        return self.forest_.predict_proba(self._decoded(X, filled))

    def _decoded(self, X: np.ndarray, filled: np.ndarray) -> np.ndarray:
        """Imputed rows in the study's coding; observed values stay as they are."""
        out, start = X.copy(), 0
        for j, k in enumerate(self.n_categories_):
            width = k - 1 if k else 1
            block, missing = filled[:, start : start + width], np.isnan(X[:, j])
            values = np.column_stack([1 - block.sum(axis=1), block]).argmax(axis=1) if k else block[:, 0]
            out[missing, j] = values[missing]
            start += width
        return out
