"""LightGBM, which has a side for missing values in every split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from joints.study.methods.tuned import TunedClassifier


class LightGBM(TunedClassifier):
    """Settings are those of `lightgbm.LGBMClassifier`.

    Where a feature has no missing values in training, LightGBM takes missing values for 0: the mean of a standardised
    feature, or the first category.
    """

    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        from lightgbm import LGBMClassifier  # here: a plan without this method does not need it

        more = {"deterministic": True, "force_row_wise": True, "n_jobs": 1, "verbose": -1, "random_state": seed}
        return LGBMClassifier(**settings, **more)

    def fit_arguments(self) -> dict[str, Any]:
        return {"categorical_feature": [int(j) for j in np.flatnonzero(self.n_categories_)]}
