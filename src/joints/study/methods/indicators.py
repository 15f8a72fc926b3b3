"""Mean imputation with indicators: one more feature for each, which says whether its value was missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from joints.forest.classifier import ForestClassifier
from joints.impute.mean import MeanImputer
from joints.interface import TrainingFold
from joints.study.methods.tuned import TunedClassifier


class MeanWithIndicators(TunedClassifier):
    """The study's forest on imputed rows with indicators; settings are those of `joints.ForestClassifier`."""

    def prepare(self, fold: TrainingFold) -> None:
        self.domains_ = fold.categorical_features
        self.imputer_ = MeanImputer(categorical_features=self.domains_).fit(fold.X)

    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        return ForestClassifier(**settings, categorical_features=self.domains_, random_state=seed, n_jobs=1)

    def encode(self, X: np.ndarray) -> np.ndarray:
        return np.concatenate([self.imputer_.transform(X), np.isnan(X)], axis=1)
