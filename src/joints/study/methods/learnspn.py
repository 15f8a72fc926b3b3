"""LearnSPN alone: a class-selective circuit learned from the whole training fold (appendix C of the paper)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from joints.circuit.learnspn_classifier import LearnSPNClassifier
from joints.interface import Method, TrainingFold


class LearnSPN(Method):
    """Parameters are those of `joints.LearnSPNClassifier`, with the published ones as defaults."""

    def __init__(self, **parameters: Any) -> None:
        LearnSPNClassifier.published(**parameters)._validate_params()
        self.parameters = parameters

    def fit(self, fold: TrainingFold) -> Self:
        self.circuit_ = LearnSPNClassifier.published(
            **self.parameters,
            categorical_features=fold.categorical_features,
            random_state=fold.seed,
            n_jobs=fold.n_jobs,
        ).fit(fold.X, fold.y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.circuit_.predict_proba(X)
