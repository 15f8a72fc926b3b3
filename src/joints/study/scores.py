"""Scores: what one stage of the study writes and the next one reads.

A score has keys (dataset, method, mechanism, rate, repetition, fold) and a value for each metric.  Files hold all
answers of a fitted model, whether or not a method uses them: a new method that uses another answer of a model that has
already been scored costs nothing.  Times have files of their own, because they differ from run to run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from joints.errors import JointsError
from joints.runtime.checksums import damaged
from joints.runtime.files import read_csv, replacing
from joints.study.entries import MechanismEntry, MethodEntry
from joints.study.layout import members
from joints.study.protocol import Protocol

KEYS = ["dataset", "method", "mechanism", "rate", "repetition", "fold"]
OF_MODEL = ["dataset", "model", "mechanism", "rate", "repetition", "fold"]
SECONDS = ["fit_seconds", "predict_seconds"]
CONFIDENCE = [*OF_MODEL[:-1], "answer", "bin", "rows", "confidence", "correct"]


def read_scores(
    paths: Iterable[str | Path], methods: Mapping[str, MethodEntry], protocols: Mapping[str, Protocol]
) -> pd.DataFrame:
    """The scores of some methods, from files with the answers of models, sorted by their keys.

    A file is called ``<dataset>/<model>/<mechanism>/<repetitions>.csv``, where + joins mechanisms that share the fitted
    model, and must have every fold and rate of its repetitions in the dataset's protocol.
    """
    tables = []
    for path in map(Path, paths):
        dataset, model, mechanisms = path.parts[-4:-1]
        used = {name: entry for name, entry in methods.items() if entry.model == model}
        tables.append(
            read_answers(path, used, dataset, protocols[dataset], members(path.stem), mechanisms.count("+") + 1)
        )
    table = pd.concat(tables, ignore_index=True).sort_values(KEYS, kind="stable", ignore_index=True)
    return table[[*KEYS, *(name for name in table if name not in KEYS)]]


def read_answers(
    path: Path,
    methods: Mapping[str, MethodEntry],
    dataset: str,
    protocol: Protocol,
    repetitions: Sequence[int],
    mechanisms: int = 1,
) -> pd.DataFrame:
    """The scores of some methods in one file; a JointsError names the file if they are not what a job writes."""
    found = read_csv(path)
    if not {*OF_MODEL, "answer"} <= set(found):
        raise damaged(path, "it is not a table of scores")
    by_answer = dict(iter(found.groupby(["model", "answer"], sort=False)))
    folds = range(1, protocol.folds + 1)
    rates = [f"{rate:g}" for rate in protocol.rates]  # as text, because a parsed number may be off in its last bit
    expected = sorted([(dataset, *place) for place in itertools.product(rates, repetitions, folds)] * mechanisms)
    tables = [found.iloc[:0].drop(columns=["model", "answer"])]
    for name, entry in methods.items():
        rows = by_answer.get((entry.model, entry.answer), found.iloc[:0])
        if rows.empty and not found.empty:
            answers = ", ".join(repr(answer) for model, answer in by_answer if model == entry.model) or "no scores"
            raise JointsError(
                f"the method {name!r} takes the answer {entry.answer!r} of {entry.model!r}, "
                f"which has {answers} in {path}"
            )
        keys = rows["dataset"], rows["rate"].map("{:g}".format), rows["repetition"], rows["fold"]
        if sorted(zip(*keys, strict=True)) != expected:
            raise damaged(path, f"it has {len(rows)} rows for {name!r} instead of {len(expected)}, or other ones")
        tables.append(rows.drop(columns=["model", "answer"]).assign(method=name))
    return pd.concat(tables, ignore_index=True)


def write_scores(path: str | Path, scores: pd.DataFrame, mechanisms: Mapping[str, MechanismEntry]) -> None:
    """All scores as one compact file; whether values are missing in training too becomes a column of its own.

    Files of single precision are half as large; `read_published` gives the tables of `read_scores` back.
    """
    keys = scores.assign(
        mechanism=scores["mechanism"].str.removesuffix("_training"),
        training=scores["mechanism"].map({name: entry.training for name, entry in mechanisms.items()}),
    )
    kinds = {
        "dataset": "category",
        "method": "category",
        "mechanism": "category",
        "rate": "float64",
        "repetition": "int16",
        "fold": "int16",
    }
    kinds |= dict.fromkeys([name for name in scores.columns if name not in kinds], "float32")
    with replacing(path) as temporary:
        keys.astype(kinds).to_parquet(temporary, index=False, compression="zstd")


def read_published(source: Any) -> pd.DataFrame:
    """The scores in a file of `write_scores`, or in its bytes as a buffer."""
    table = pd.read_parquet(source)
    suffix = table.pop("training").map({True: "_training", False: ""})
    names = {name: table[name].astype(str) for name in ("dataset", "method", "mechanism")}
    names["mechanism"] += suffix
    kinds = dict.fromkeys([name for name in table.columns if name not in KEYS], "float64")
    return table.assign(**names).astype({**kinds, "repetition": "int64", "fold": "int64"})


def read_seconds(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Several files of times as one table, sorted by its keys."""
    tables = [read_csv(path) for path in paths]
    return pd.concat(tables, ignore_index=True).sort_values(OF_MODEL, kind="stable", ignore_index=True)
