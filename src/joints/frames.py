"""Tables of pandas and polars, neither of which needs to be installed.

A value that only pandas has, or a table of one of these libraries, exists only in a process that has imported it: so it
is enough to look among the imported modules.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def pandas() -> Any:
    """The module if it is imported, else None."""
    return sys.modules.get("pandas")


def is_pandas(X: Any) -> bool:
    """Whether this is a DataFrame of pandas."""
    return pandas() is not None and isinstance(X, pandas().DataFrame)


def is_polars(X: Any) -> bool:
    """Whether this is a table of polars."""
    return type(X).__module__.partition(".")[0] == "polars"


def is_missing(values: np.ndarray) -> np.ndarray:
    """Which cells are missing: None, NaN, dates that are none, and pandas' own marks; bool of the array's shape.

    >>> is_missing(np.array(["a", None, float("nan"), 1], dtype=object))
    array([False,  True,  True, False])
    """
    if values.dtype != object:
        return np.isnat(values) if values.dtype.kind in "mM" else values != values
    if pandas() is not None:
        return pandas().isna(values)
    missing = np.fromiter((value is None or _is_nan(value) for value in values.flat), dtype=bool, count=values.size)
    return missing.reshape(values.shape)


def _is_nan(value: Any) -> bool:
    """NaN, of whatever type, is the value that does not equal itself."""
    different = value != value
    return isinstance(different, (bool, np.bool_)) and bool(different)


def plain_values(values: np.ndarray) -> list[Any]:
    """Python's own objects, which are equal where they mean the same; dates with pandas to the nanosecond."""
    if values.dtype.kind not in "mM":
        return values.tolist()
    if pandas() is not None:
        return pandas().Series(values).tolist()
    return values.astype(f"{values.dtype.kind}8[us]").tolist()
