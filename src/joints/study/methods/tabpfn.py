"""TabPFN, a network that was trained on millions of made-up tables and needs no training of its own.

It runs where the package `tabpfn` is installed and the environment variable TABPFN_WEIGHTS names a file with weights:
they are large, have licences of their own, and are not downloaded by a run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from joints.study.methods.tuned import TunedClassifier


class TabPFN(TunedClassifier):
    """Settings are those of `tabpfn.TabPFNClassifier`."""

    def new_classifier(self, settings: Mapping[str, Any], seed: int) -> Any:
        from tabpfn import TabPFNClassifier  # here: a plan without this method does not need it

        more = {"categorical_features_indices": [int(j) for j in np.flatnonzero(self.n_categories_)]}
        path = os.environ["TABPFN_WEIGHTS"]
        return TabPFNClassifier(**settings, **more, model_path=path, device="cpu", random_state=seed)
