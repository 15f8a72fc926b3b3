"""The scores of one variant on one dataset: the study's folds, masks and seeds, with the variant's own forests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from joints.data.dataset import Dataset
from joints.interface import Mechanism
from joints.study.entries import MethodEntry, make
from joints.study.evaluate import Metric, score
from joints.study.forests import grown_once
from joints.study.protocol import Protocol


def score_variant(
    data: Dataset,
    protocol: Protocol,
    repetitions: Sequence[int],
    forest: Mapping[str, Any],
    models: Mapping[str, MethodEntry],
    mechanisms: Mapping[str, Mechanism],
    metrics: Mapping[str, Metric],
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Grow the forests of some repetitions and score every model of the variant on them.

    `forest` has the parameters of the forests and `models` the variant's models, as `joints.study.ablation.variants`
    gives them: under their names in the study, because seeds depend on the name.  Returns rows of scores,
    as `joints.study.evaluate.score` does.
    """
    made = {name: make(entry.cls, entry.parameters) for name, entry in models.items()}
    forest_of = grown_once(data, protocol, forest, n_jobs)
    return pd.concat(
        [
            score(data, protocol, repetitions, model, name, forest_of, mechanisms, metrics, n_jobs)[0]
            for name, model in made.items()
        ],
        ignore_index=True,
    )
