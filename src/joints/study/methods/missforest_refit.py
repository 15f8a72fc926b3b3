"""The original MissForest, which regrows its forests on the rows that it fills in (and so learns from test rows)."""

from __future__ import annotations

from typing import Any

from joints.impute.refit import MissForestRefitImputer
from joints.study.methods.missforest import MissForestImputation


class MissForestRefitting(MissForestImputation):
    """Parameters are those of `joints.impute.MissForestRefitImputer`."""

    def imputer(self, **more: Any) -> Any:
        return MissForestRefitImputer(**self.parameters, **more)
