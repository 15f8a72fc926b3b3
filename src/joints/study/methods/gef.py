"""Generative Forests: GeF, GeF+ and Friedman's method in one pass over the rows (sections 3 and 4 of the paper)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from joints.circuit.generative import PUBLISHED_DENSITIES, GenerativeForestClassifier
from joints.interface import Method, TrainingFold


class GenerativeForest(Method):
    """The forest read as a circuit; answers ``average`` (GeF), ``mixture`` (GeF+) and ``friedman``.

    Friedman's method adds the class counts of all leaves that a row may reach, whatever their densities.

    Parameters are those of `joints.GenerativeForestClassifier.from_forest`, with the published ones as defaults.
    """

    def __init__(self, **parameters: Any) -> None:
        self.parameters = {**PUBLISHED_DENSITIES, **parameters}
        GenerativeForestClassifier(**self.parameters)._validate_params()

    def fit(self, fold: TrainingFold) -> Self:
        self.circuit_ = GenerativeForestClassifier.from_forest(fold.forest, **self.parameters)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.answers(X)["average"]

    def answers(self, X: np.ndarray) -> dict[str, np.ndarray]:
        answers = self.circuit_.answer(X)
        return {name: answers.probabilities(name) for name in ("average", "mixture")} | {"friedman": answers.friedman}
