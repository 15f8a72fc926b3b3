"""MIA: missing values are a side of every split, and splits may ask whether a value is missing (Twala et al., 2008)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from joints.forest.classifier import ForestClassifier
from joints.study.methods.tuned import TunedClassifier

FAR = 1000.0  # beyond all standardised values


class MissingIncorporated(TunedClassifier):
    """The study's forest with missing values incorporated in its attributes.

    A continuous feature becomes two, in which missing values are smaller and larger than all others, so that a split
    may send them to either side or away from all observed values; for a categorical feature, missing is one more
    category (Josse et al., 2019).  Settings are those of `joints.ForestClassifier`.
    """

    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        continuous = self.n_categories_ == 0
        categories = (self.n_categories_[~continuous] + 1).tolist()
        domains = {2 * int(continuous.sum()) + j: k for j, k in enumerate(categories)}
        return ForestClassifier(**settings, categorical_features=domains, random_state=seed, n_jobs=1)

    def encode(self, X: np.ndarray) -> np.ndarray:
        continuous = self.n_categories_ == 0
        values, codes = X[:, continuous], X[:, ~continuous]
        absent = self.n_categories_[~continuous].astype(np.float64)
        low, high = (np.where(np.isnan(values), end, values) for end in (-FAR, FAR))
        return np.concatenate([low, high, np.where(np.isnan(codes), absent, codes)], axis=1)
