"""Scores: what one stage of the study writes and the next one reads.

A score has keys (dataset, method, mechanism, rate, repetition, fold) and a value for each metric.  Files hold all
answers of a fitted model, whether or not a method uses them: a new method that uses another answer of a model that has
already been scored costs nothing.  Times have files of their own, because they differ from run to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from joints.errors import JointsError
from joints.study.entries import MethodEntry

KEYS = ["dataset", "method", "mechanism", "rate", "repetition", "fold"]
OF_MODEL = ["dataset", "model", "mechanism", "rate", "repetition", "fold"]
SECONDS = ["fit_seconds", "predict_seconds"]
CONFIDENCE = [*OF_MODEL[:-1], "answer", "bin", "rows", "confidence", "correct"]


def read_scores(paths: Iterable[str | Path], methods: Mapping[str, MethodEntry]) -> pd.DataFrame:
    """The scores of some methods, from files with the answers of models, sorted by their keys."""
    found = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    by_answer = dict(iter(found.groupby(["model", "answer"], sort=False)))
    tables = []
    for name, entry in methods.items():
        rows = by_answer.get((entry.model, entry.answer))
        if rows is None:
            answers = ", ".join(repr(answer) for model, answer in by_answer if model == entry.model) or "no scores"
            raise JointsError(
                f"the method {name!r} takes the answer {entry.answer!r} of {entry.model!r}, which has {answers}"
            )
        tables.append(rows.drop(columns=["model", "answer"]).assign(method=name))
    table = pd.concat(tables, ignore_index=True).sort_values(KEYS, kind="stable", ignore_index=True)
    return table[[*KEYS, *(name for name in table if name not in KEYS)]]


def read_seconds(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Several files of times as one table, sorted by its keys."""
    tables = [pd.read_csv(path) for path in paths]
    return pd.concat(tables, ignore_index=True).sort_values(OF_MODEL, kind="stable", ignore_index=True)
