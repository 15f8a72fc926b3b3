"""Multiple imputation by GeF+: the forest's average answer over completions drawn from the forest's own circuit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from joints.circuit.generative import GenerativeForestClassifier
from joints.interface import Method, TrainingFold


class MultipleImputation(Method):
    """The forest on several completions of each row.

    Parameters
    ----------
    draws : int, default=10
        Completions per row.
    **parameters
        Those of `joints.GenerativeForestClassifier.from_forest`.
    """

    def __init__(self, draws: int = 10, **parameters: Any) -> None:
        if draws < 1:
            raise ValueError(f"draws is {draws!r}: choose at least 1")
        GenerativeForestClassifier(**parameters)._validate_params()
        self.draws, self.parameters = draws, parameters

    def fit(self, fold: TrainingFold) -> Self:
        self.forest_, self.seed_ = fold.forest, fold.seed
        self.circuit_ = GenerativeForestClassifier.from_forest(fold.forest, **self.parameters)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        proba = self.forest_.predict_proba(X)
        incomplete = np.flatnonzero(np.isnan(X).any(axis=1))
        if len(incomplete):
            rows, _ = self.circuit_.sample(self.draws, given=X[incomplete], random_state=self.seed_)
            proba[incomplete] = self.forest_.predict_proba(rows).reshape(len(incomplete), self.draws, -1).mean(axis=1)
        return proba
