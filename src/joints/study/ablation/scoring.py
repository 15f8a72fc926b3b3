"""The scores of one variant on one dataset: the study's folds, masks and seeds, with forests of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from joints.data.dataset import Dataset
from joints.study.evaluate import score
from joints.study.forests import grow
from joints.study.methods import make
from joints.study.protocol import Protocol


def score_variant(
    data: Dataset,
    protocol: Protocol,
    repetitions: Sequence[int],
    forest: Mapping[str, Any],
    models: Mapping[str, Mapping[str, Any]],
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Grow the forests of some repetitions and score every model of the variant on them.

    Parameters
    ----------
    data : Dataset
    protocol : Protocol
    repetitions : sequence of int
        Counted from 1.
    forest : mapping
        Parameters of the forests.
    models : mapping from the name of a model to its class, parameters and answers
        What `joints.study.ablation.variants.models_of` gives.  The name is part of the seed, so that a model draws the
        same numbers as in the study.
    n_jobs : int, default=1

    Returns
    -------
    DataFrame
        Rows of scores, as `joints.study.evaluate.score` gives them.
    """
    made = {name: make(model["cls"], model["parameters"]) for name, model in models.items()}
    with TemporaryDirectory() as folder:
        grow(data, protocol, repetitions, forest, folder, n_jobs)
        tables = [
            score(data, protocol, repetitions, model, name, models[name]["answers"], [folder], n_jobs)[0]
            for name, model in made.items()
        ]
    return pd.concat(tables, ignore_index=True)
