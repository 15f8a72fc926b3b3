"""Generative Forests: GeF, GeF+ and Friedman's method by one pass over the rows (sections 3 and 4 of the paper)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import softmax

from joints.circuit.generative import GenerativeForestClassifier
from joints.interface import Method, TrainingFold


class GenerativeForest(Method):
    """The forest read as a circuit; answers ``average`` (GeF), ``mixture`` (GeF+) and ``friedman``.

    Friedman's method adds the class counts of all leaves that a row may reach, whatever their densities.

    Parameters are those of `joints.GenerativeForestClassifier.from_forest`.
    """

    def __init__(self, **parameters: Any) -> None:
        GenerativeForestClassifier(**parameters)._check_parameters()
        self.parameters = parameters

    def fit(self, fold: TrainingFold) -> Self:
        self.circuit_ = GenerativeForestClassifier.from_forest(fold.forest, **self.parameters)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.answers(X)["average"]

    def answers(self, X: np.ndarray) -> dict[str, np.ndarray]:
        answers = self.circuit_.answer(X)
        possible = np.isfinite(answers.log_joint).any(axis=1, keepdims=True)
        # a row that no leaf could have produced (only without smoothing) gets Friedman's answer
        mixture = np.where(possible, softmax(np.where(possible, answers.log_joint, 0.0), axis=1), answers.friedman)
        average = np.where(possible, answers.average, answers.friedman)
        return {"average": average, "mixture": mixture, "friedman": answers.friedman}
