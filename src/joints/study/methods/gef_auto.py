"""Generative Forests that choose their own settings, from the training fold alone."""

from __future__ import annotations

import logging
from typing import Any, Self

import numpy as np

from joints.circuit.generative import GenerativeForestClassifier
from joints.interface import Method, TrainingFold

logger = logging.getLogger(__name__)


class SelfSettingForest(Method):
    """The forest read as a circuit; parameters are those of `joints.GenerativeForestClassifier.from_forest`.

    What is ``"auto"``, as everything is by default, is chosen by the answers of trees to rows that they did not see.
    """

    def __init__(self, **parameters: Any) -> None:
        GenerativeForestClassifier(**parameters)._validate_params()
        self.parameters = parameters

    def fit(self, fold: TrainingFold) -> Self:
        self.circuit_ = GenerativeForestClassifier.from_forest(fold.forest, **self.parameters)
        found = self.circuit_
        logger.info("min_sd %.3g, smoothing %g, combine %s", found.min_sd_, found.smoothing_, found.combine_)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.circuit_.predict_proba(X)
