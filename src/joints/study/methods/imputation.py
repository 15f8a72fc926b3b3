"""Imputation before the forest: missing values are filled in from the training fold, then the rows are classified."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from joints.interface import Method, TrainingFold


class Imputation(Method):
    """A forest behind an imputer; `parameters` are those of the imputer."""

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters
        # report a wrong parameter before anything is computed
        self.imputer(categorical_features={})._validate_params()

    @abstractmethod
    def imputer(self, **more: Any) -> Any:
        """A new imputer with the method's parameters and `more`."""

    def new_imputer(self, fold: TrainingFold) -> Any:
        return self.imputer(categorical_features=fold.categorical_features)

    def fit(self, fold: TrainingFold) -> Self:
        self.forest_ = fold.forest
        self.imputer_ = self.new_imputer(fold).fit(fold.X)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.forest_.predict_proba(self.imputer_.transform(X))
