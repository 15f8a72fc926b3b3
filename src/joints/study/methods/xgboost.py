"""XGBoost, which has a side for missing values in every split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from joints.study.methods.tuned import TunedClassifier


class XGBoost(TunedClassifier):
    """Settings are those of `xgboost.XGBClassifier`.

    Where a feature has no missing values in training, its splits send all missing values to the same side.
    """

    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        from xgboost import XGBClassifier  # here: a plan without this method does not need it

        kinds = ["c" if k else "q" for k in self.n_categories_]
        more = {"enable_categorical": True, "feature_types": kinds, "n_jobs": 1, "random_state": seed}
        return XGBClassifier(**settings, tree_method="hist", **more)
