"""The scores of one variant on one dataset: the study's folds, masks and seeds, with the variant's own settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from joints.data.dataset import Dataset
from joints.interface import Mechanism
from joints.study.entries import MethodEntry, make
from joints.study.evaluate import Metric, score
from joints.study.forests import ForestOf, grown_once
from joints.study.protocol import Protocol


def forests_of_variants(data: Dataset, protocol: Protocol, n_jobs: int = 1) -> Callable[[Mapping[str, Any]], ForestOf]:
    """Forests by their parameters; consecutive variants with the same parameters share them."""
    kept: dict[str, ForestOf] = {}

    def of(parameters: Mapping[str, Any]) -> ForestOf:
        key = repr(sorted(parameters.items()))
        if key not in kept:
            kept.clear()
            kept[key] = grown_once(data, protocol, parameters, n_jobs)
        return kept[key]

    return of


def score_variant(
    data: Dataset,
    protocol: Protocol,
    repetitions: Sequence[int],
    forest_of: ForestOf,
    models: Mapping[str, MethodEntry],
    mechanisms: Mapping[str, Mechanism],
    metrics: Mapping[str, Metric],
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Score every model of the variant on the forests of some repetitions.

    `forest_of` gives the variant's forests and `models` its models, as `joints.study.ablation.variants` gives them:
    under their names in the study, because seeds depend on the name.  Returns rows of scores, as
    `joints.study.evaluate.score` does.
    """
    made = {name: make(entry.cls, entry.parameters) for name, entry in models.items()}
    return pd.concat(
        [
            score(data, protocol, repetitions, model, name, forest_of, mechanisms, metrics, n_jobs)[0]
            for name, model in made.items()
        ],
        ignore_index=True,
    )
