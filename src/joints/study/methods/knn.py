"""KNN imputation: the mean, or the most frequent category, of the nearest rows of the training fold."""

from __future__ import annotations

from typing import Any

from joints.impute.knn import KNNImputer
from joints.interface import TrainingFold
from joints.study.methods.imputation import Imputation


class KNNImputation(Imputation):
    """Parameters are those of `joints.impute.KNNImputer`."""

    def imputer(self, **more: Any) -> KNNImputer:
        return KNNImputer(**self.parameters, **more)

    def new_imputer(self, fold: TrainingFold) -> KNNImputer:
        return self.imputer(categorical_features=fold.categorical_features, n_jobs=fold.n_jobs)
