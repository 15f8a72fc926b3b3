"""Tables of pandas and polars, and cells that are missing, with these libraries and without them."""

import datetime
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from joints.frames import is_missing, is_pandas, is_polars, plain_values

NOTHING = [None, np.nan, Decimal("nan"), np.datetime64("NaT"), np.float32("nan")]
SOMETHING = ["", "nan", 0, False, (1, 2), [np.nan], datetime.date(2020, 1, 1), np.array([np.nan, 1])]


@pytest.fixture(params=[True, False], ids=["pandas is imported", "pandas is not there"])
def with_pandas(request, monkeypatch):
    if not request.param:
        monkeypatch.setitem(sys.modules, "pandas", None)
    return request.param


def objects(values):
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def test_missing_cells_do_not_depend_on_pandas(with_pandas):
    assert is_missing(objects(NOTHING)).all()
    assert not is_missing(objects(SOMETHING)).any()
    assert is_missing(objects([])).shape == (0,)


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, np.nan]),
        np.array([1, 2]),
        np.array(["a", "nan"]),
        np.array([True, False]),
        np.array(["2020-01-01", "NaT"], dtype="M8[s]"),
        np.array([1, "NaT"], dtype="m8[ns]"),
        np.array([[None, "a"], [np.nan, 1]], dtype=object),
    ],
    ids=lambda values: str(values.dtype),
)
def test_missing_cells_are_those_of_pandas(values, monkeypatch):
    expected = pd.isna(values)
    monkeypatch.setitem(sys.modules, "pandas", None)
    np.testing.assert_array_equal(is_missing(values), expected)


def test_the_marks_of_pandas():
    assert is_missing(objects([pd.NA, pd.NaT])).all()


def test_dates_of_any_unit_are_equal(with_pandas):
    days, nanoseconds = np.array(["2020-01-01"], dtype="M8[D]"), np.array(["2020-01-01"], dtype="M8[ns]")
    assert plain_values(days) == plain_values(nanoseconds) == [datetime.datetime(2020, 1, 1)]
    assert plain_values(np.array([60], dtype="m8[s]")) == [datetime.timedelta(minutes=1)]


def test_which_table_it_is():
    table = {"a": [1]}
    assert is_pandas(pd.DataFrame(table)) and not is_polars(pd.DataFrame(table))
    assert is_polars(pl.DataFrame(table)) and not is_pandas(pl.DataFrame(table))
    assert not is_pandas(np.ones((1, 1))) and not is_polars([[1]])
