"""From a raw table to a `Dataset`: which features are categorical, their codes, and the paper's five numbers.

A numeric feature is continuous if it has a negative value, a value that is not whole, or more than min(30, n/3)
distinct values; otherwise it is categorical, as text always is.  A catalogue entry overrides this rule where the
counts in the paper's Table 1 require it.  Codes of categories and classes follow their first appearance in the data, as
in the published experiments: the published reading of surrogate splits compares codes.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from joints.data.catalogue import REST, DatasetEntry, listed
from joints.data.dataset import Dataset
from joints.data.raw import is_continuous, is_number, number_label, recode, require_columns
from joints.errors import JointsError

logger = logging.getLogger(__name__)


def encode(entry: DatasetEntry, tables: Sequence[pd.DataFrame]) -> Dataset:
    """Encode the concatenated rows of all `tables`, and check the entry's five numbers."""
    frame = _prepare(entry, tables)
    target = frame.pop(entry.target)
    if target.isna().any():
        raise JointsError(f"Dataset {entry.name!r}: {int(target.isna().sum())} rows have no class in {entry.target!r}")
    if frame.empty:
        raise JointsError(f"Dataset {entry.name!r} has no features: every column is the class or listed under 'drop'")
    continuous = _continuous(entry, frame)
    X = np.empty(frame.shape, dtype=np.float64)
    categories: list[list[str]] = []
    for j, name in enumerate(frame.columns):
        if frame[name].isna().all():
            raise JointsError(f"Dataset {entry.name!r}: the column {name!r} has no values; list it under 'drop'")
        if name in continuous:
            X[:, j] = _numbers(entry, frame, name)
            categories.append([])
        else:
            X[:, j], found = _codes(frame[name])
            categories.append(found)
            _warn_identifier(entry, frame[name])
    y, classes = _codes(target)
    if len(classes) < 2:
        raise JointsError(f"Dataset {entry.name!r}: all rows have the class {classes[0]!r} in {entry.target!r}")
    dataset = Dataset(
        name=entry.name,
        label=entry.label,
        X=X,
        n_categories=np.array([len(found) for found in categories], dtype=np.int64),
        y=y.astype(np.int64),
        features=list(frame.columns),
        categories=categories,
        classes=classes,
    )
    check_numbers(entry, dataset)
    return dataset


def check_numbers(entry: DatasetEntry, dataset: Dataset) -> None:
    """Raise a JointsError that names the first of the five numbers that differs from the entry."""
    found = numbers(dataset)
    for number, expected in entry.numbers.items():
        if found[number] != expected:
            raise JointsError(
                f"Dataset {entry.name!r}: {number} should be {expected} but is {found[number]}; "
                "either the source has other data than the catalogue expects, or column types are declared wrongly"
            )


def numbers(dataset: Dataset) -> dict[str, Any]:
    """The five numbers of the paper's Table 1."""
    return {
        "n": dataset.n_samples,
        "categorical": dataset.n_categorical,
        "continuous": dataset.n_continuous,
        "classes": dataset.n_classes,
        "majority": dataset.majority,
    }


def _prepare(entry: DatasetEntry, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One table without the dropped columns, its values replaced as the entry says."""
    first = tables[0]
    for table in tables[1:]:
        if list(table.columns) != list(first.columns):
            raise JointsError(f"Dataset {entry.name!r}: its parts have different columns")
        if [column.kind for column in table.dtypes] != [column.kind for column in first.dtypes]:
            raise JointsError(f"Dataset {entry.name!r}: a column is numeric in one of its parts and text in another")
    frame = pd.concat(tables, ignore_index=True) if len(tables) > 1 else first
    if frame.empty:
        raise JointsError(f"Dataset {entry.name!r} has no rows")
    try:
        require_columns(frame, entry.named_columns())
    except JointsError as error:
        raise JointsError(f"Dataset {entry.name!r}: {error}") from error
    return recode(frame.drop(columns=list(entry.drop)), entry.values)


def _continuous(entry: DatasetEntry, features: pd.DataFrame) -> set[str]:
    continuous: set[str] = set()
    for name in map(str, features.columns):
        if name in listed(entry.continuous):
            kind = True
        elif name in listed(entry.categorical):
            kind = False
        elif REST in (entry.continuous, entry.categorical):
            kind = entry.continuous == REST
        else:
            kind = is_continuous(features[name])
        if kind:
            continuous.add(name)
    return continuous


def _numbers(entry: DatasetEntry, frame: pd.DataFrame, name: str) -> np.ndarray:
    if frame[name].dtype.kind != "f":
        example = next(text for text in frame[name].dropna().unique() if not is_number(text))
        raise JointsError(f"Dataset {entry.name!r}: the column {name!r} is continuous but has the text {example!r}")
    return frame[name].to_numpy(dtype=np.float64)


def _warn_identifier(entry: DatasetEntry, column: pd.Series) -> None:
    if (
        column.dtype.kind != "f"
        and len(column) > 2
        and column.is_unique
        and column.name not in listed(entry.categorical)
    ):
        logger.warning(
            "Dataset %r: the column %r has another text in every row; if it is an identifier, list it under 'drop'.",
            entry.name,
            column.name,
        )


def _codes(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    codes, values = pd.factorize(column, sort=False, use_na_sentinel=True)
    found = [number_label(value) if column.dtype.kind == "f" else str(value) for value in values]
    return np.where(codes < 0, np.nan, codes), found
