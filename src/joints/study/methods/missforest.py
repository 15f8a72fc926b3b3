"""MissForest: forests, grown on the training fold only, predict missing values from the other features."""

from __future__ import annotations

from typing import Any

from joints.impute.missforest import MissForestImputer
from joints.interface import TrainingFold
from joints.study.methods.imputation import Imputation


class MissForestImputation(Imputation):
    """Parameters are those of `joints.impute.MissForestImputer`."""

    def imputer(self, **more: Any) -> Any:
        return MissForestImputer(**self.parameters, **more)

    def new_imputer(self, fold: TrainingFold) -> Any:
        return self.imputer(categorical_features=fold.categorical_features, n_jobs=fold.n_jobs, random_state=fold.seed)
