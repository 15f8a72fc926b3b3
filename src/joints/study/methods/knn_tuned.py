"""KNN imputation with its number of neighbours chosen on the training fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from joints.interface import TrainingFold
from joints.study.methods.knn import KNNImputation
from joints.study.methods.tuned import PARTS, masked_copies
from joints.study.metrics import log_loss
from joints.study.protocol import seeded, stratify


class TunedKNNImputation(KNNImputation):
    """The number of neighbours with the smallest log-loss of a forest on held-out rows with masks.

    Parameters
    ----------
    neighbours : sequence of int
        The candidates.
    masks : sequence of float
        Shares of values that are hidden in the held-out rows, which are repeated for each of them.
    **parameters
        Those of `joints.impute.KNNImputer`.
    """

    def __init__(self, neighbours: Sequence[int], masks: Sequence[float], **parameters: Any) -> None:
        super().__init__(**parameters)
        self.neighbours, self.masks = neighbours, masks

    def new_imputer(self, fold: TrainingFold) -> Any:
        return super().new_imputer(fold).set_params(n_neighbors=self.chosen_)

    def fit(self, fold: TrainingFold) -> Self:
        self.chosen_ = self.neighbours[0]
        classes, y = np.unique(fold.y, return_inverse=True)
        if len(classes) > 1:
            self.chosen_ = self._choose(fold, y, len(classes))
        return super().fit(fold)

    def _choose(self, fold: TrainingFold, y: np.ndarray, n_classes: int) -> int:
        random = seeded(fold.seed)
        held = stratify(y, PARTS, random) == 0
        forest = clone(fold.forest).set_params(n_jobs=fold.n_jobs).fit(fold.X[~held], y[~held])
        rows, truth = masked_copies(fold.X[held], self.masks, random), np.tile(y[held], len(self.masks))
        losses = []
        for k in self.neighbours:
            imputer = super().new_imputer(fold).set_params(n_neighbors=k).fit(fold.X[~held])
            proba = np.zeros((len(rows), n_classes))
            proba[:, forest.classes_] = forest.predict_proba(imputer.transform(rows))
            losses.append(log_loss(truth, proba))
        return self.neighbours[int(np.argmin(losses))]
