"""Mean imputation: the mean, or the most frequent category, of the training fold."""

from __future__ import annotations

from typing import Any

from joints.impute.mean import MeanImputer
from joints.study.methods.imputation import Imputation


class MeanImputation(Imputation):
    """Parameters are those of `joints.impute.MeanImputer`."""

    def imputer(self, **more: Any) -> MeanImputer:
        return MeanImputer(**self.parameters, **more)
