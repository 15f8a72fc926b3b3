"""Raw tables: a data frame whose columns are numbers (float64) or text, and nothing else.

Sources, file formats and client releases disagree about types: a category 1 may arrive as the number 1.0, the text "1"
or a pandas category.  A table normalised here is the same whichever way it arrived.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from joints.errors import JointsError
from joints.runtime.config import suggestion
from joints.runtime.files import replacing

FORMAT = 1  # increase it when `normalise` or `parse_text` change their result, so that old downloads are fetched again
MISSING = ("?", "")  # what marks a missing cell unless a source says otherwise
MOST_COLUMNS = 100_000  # of a text file: reading more would take longer than anybody waits
OTHERWISE = "*"  # in a mapping of values: every value that is not named

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ALMOST = re.compile(r"[+-]?\d+([ ,.'_\u00a0\u202f]\d{3})*([.,]\d+)?([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)


class OddCell(NamedTuple):
    """What keeps a column from being numbers: its first cell that is not one, and how many others there are."""

    column: str
    row: int
    cell: str
    others: int


def number_label(value: float) -> str:
    """A number as a label: without a decimal point if it is whole.

    >>> number_label(3.0), number_label(0.25)
    ('3', '0.25')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def is_number(text: str) -> bool:
    """Whether a text is a plain decimal number; nan, inf and 1_000 are not."""
    return _NUMBER.fullmatch(text) is not None


def is_continuous(column: pd.Series) -> bool:
    """Whether a normalised column is continuous by the rule of `joints.data.encode`."""
    if column.dtype.kind != "f":
        return False
    values = column.dropna().unique()
    return bool((values < 0).any() or (values % 1 != 0).any() or len(values) > min(30, len(column) / 3))


def normalise(
    frame: pd.DataFrame, missing: Sequence[str] = MISSING, decimal: str = ".", thousands: str = ""
) -> pd.DataFrame:
    """The table with each column as float64, if all its cells are numbers, or as text; missing cells are NaN.

    `decimal` and `thousands` say how numbers are written in text.
    """
    if decimal == thousands:
        raise JointsError(f"'decimal' and 'thousands' are both {decimal!r}")
    names = [_clean(str(name)) for name in frame.columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise JointsError(f"the table has several columns called {twice[0]!r}")
    marks = (decimal, thousands)
    columns = [_normalise_column(frame.iloc[:, j], missing, names[j], marks) for j in range(len(names))]
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def odd_cells(table: pd.DataFrame) -> Iterator[OddCell]:
    """The columns of a normalised table that are text, but seem to be meant as numbers.

    That is where most cells are numbers that would be continuous, or where all look like numbers of some country.
    """
    for name in table.columns:
        if table[name].dtype.kind == "f":
            continue
        texts = table[name].dropna()
        numeric = texts.map(is_number).astype(bool)
        odd = texts[~numeric]
        mostly = len(odd) < numeric.sum() and is_continuous(texts[numeric].astype(np.float64))
        if mostly or texts.map(lambda text: _ALMOST.fullmatch(text) is not None).all():
            yield OddCell(str(name), int(odd.index[0]), str(odd.iloc[0]), len(odd) - 1)


def labels(column: pd.Series) -> pd.Series:
    """The cells of a normalised column as text labels; missing cells stay missing."""
    if column.dtype.kind != "f":
        return column.astype(object)
    codes, values = pd.factorize(column, use_na_sentinel=True)
    return _spread(codes, [number_label(value) for value in values])


def recode(frame: pd.DataFrame, values: Mapping[str, Mapping[Any, Any]]) -> pd.DataFrame:
    """Replace values by column: a mapping from labels to new labels, with ``*`` for all that it does not name."""
    frame = frame.copy()
    for name, mapping in values.items():
        if name not in frame.columns:
            raise JointsError(f"'values' names the column {name!r}, which the table does not have")
        texts = {_key(old): str(new) for old, new in mapping.items()}
        codes, old = pd.factorize(labels(frame[name]), use_na_sentinel=True)
        new = [texts.get(text, texts.get(OTHERWISE, text)) for text in old]
        frame[name] = _normalise_column(_spread(codes, new), (), name)
    return frame


def arrange(frame: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The table in the form that all sources of a dataset share: columns and values renamed or dropped as in `spec`."""
    if "columns" in spec:
        names = expand_names(spec["columns"])
        if len(names) != len(frame.columns):
            raise JointsError(f"it has {len(frame.columns)} columns, but the catalogue names {len(names)}")
        frame = frame.set_axis(names, axis=1)
    drop = list(spec.get("drop", ()))
    for name in drop:
        if name not in frame.columns:
            raise JointsError(f"it has no column {name!r} to drop")
    return recode(frame.drop(columns=drop), spec.get("values", {}))


def require_columns(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise a JointsError for the first of these columns that the table does not have."""
    for name in names:
        if name not in frame.columns:
            shown = ", ".join(map(str, frame.columns[:8])) + (", ..." if len(frame.columns) > 8 else "")
            raise JointsError(f"it has no column {name!r}{suggestion(name, frame.columns)}, only {shown}")


def parse_text(text: str, separator: str = ",", header: bool = True) -> pd.DataFrame:
    """The cells of a delimited text file, as text, with their lines as index.

    Columns are called 1, 2, ... if there is no header.
    """
    lines = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        rows = [(lines.line_num, row) for row in lines if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise JointsError(f"line {lines.line_num} cannot be read ({error})") from error
    if not rows:
        raise JointsError("the file is empty")
    names = [str(name) for name in rows.pop(0)[1]] if header else [str(j + 1) for j in range(len(rows[0][1]))]
    if len(names) > MOST_COLUMNS:
        raise JointsError(f"the file has {len(names)} columns, but at most {MOST_COLUMNS} are read")
    for number, row in rows:
        if len(row) != len(names):
            raise JointsError(
                f"line {number} has {len(row)} cells instead of {len(names)}: is the separator {separator!r}?"
            )
    if not rows:
        raise JointsError("the file has a header but no rows")
    # Built by position, so that duplicate column names survive until `normalise` reports them.
    frame = pd.DataFrame([row for _, row in rows], index=[number for number, _ in rows], dtype=object)
    frame.columns = names
    return frame


def decode_text(content: bytes) -> str:
    """Bytes of a text file as text: UTF-8, with or without a byte order mark."""
    if b"\0" in content:
        raise JointsError(f"the file is not UTF-8 text (a zero at byte {content.index(0)})")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JointsError(f"the file is not UTF-8 text ({error.reason} at byte {error.start})") from error


def expand_names(names: Iterable[str]) -> list[str]:
    """Column names, where ``V1..4`` stands for V1, V2, V3, V4.

    >>> expand_names(["id", "V1..3", "Class"])
    ['id', 'V1', 'V2', 'V3', 'Class']
    """
    expanded: list[str] = []
    for name in names:
        span = re.fullmatch(r"(.*?)(\d+)\.\.(\d+)", str(name))
        if span:
            expanded += [f"{span[1]}{j}" for j in range(int(span[2]), int(span[3]) + 1)]
        else:
            expanded.append(str(name))
    return expanded


def write_raw(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a normalised table."""
    with replacing(path) as temporary:
        frame.to_parquet(temporary, index=False, compression="zstd")


def read_raw(path: str | Path) -> pd.DataFrame:
    """Read a table that `write_raw` wrote."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise JointsError(f"{path} is not a readable table ({error}): delete it and run the workflow again") from error


def _normalise_column(
    column: pd.Series, missing: Sequence[str], name: str, marks: tuple[str, str] = (".", "")
) -> pd.Series:
    if isinstance(column.dtype, pd.SparseDtype):
        column = pd.Series(np.asarray(column))
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        _refuse_infinity(numbers, name)
        return pd.Series(numbers)
    codes, values = pd.factorize(column.astype(object), use_na_sentinel=True)
    texts = [_clean(number_label(value) if isinstance(value, float) else str(value)) for value in values]
    known: list[Any] = [np.nan if text in missing else text for text in texts]
    plain: list[Any] = [text if text is np.nan else _plain_number(text, *marks) for text in known]
    if all(text is np.nan or is_number(text) for text in plain):
        lookup = np.array([float(text) for text in plain] + [np.nan], dtype=np.float64)
        _refuse_infinity(lookup, name)
        return pd.Series(lookup[codes])
    return _spread(codes, known).astype("str")


def _plain_number(text: str, decimal: str, thousands: str) -> str:
    """A number as Python writes it; nothing for a text that cannot be one.

    >>> _plain_number("-1.234,5", ",", "."), _plain_number("1 234", ".", " "), _plain_number("1.5", ",", "")
    ('-1234.5', '1234', '')
    """
    if (decimal, thousands) == (".", ""):
        return text
    if thousands and re.fullmatch(rf"[+-]?\d{{1,3}}({re.escape(thousands)}\d{{3}})+(\D.*)?", text):
        text = text.replace(thousands, "")
    if (thousands and thousands in text) or (decimal != "." and "." in text):
        return ""
    return text.replace(decimal, ".")


def _spread(codes: np.ndarray, values: list[Any]) -> pd.Series:
    lookup = np.empty(len(values) + 1, dtype=object)  # code -1, a missing cell, picks the last
    lookup[:-1] = values
    lookup[-1] = np.nan
    return pd.Series(lookup[codes], dtype=object)


def _refuse_infinity(numbers: np.ndarray, name: str) -> None:
    if np.isinf(numbers).any():
        raise JointsError(f"the column {name!r} holds an infinite number")


def _clean(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1].strip()
    return text


def _key(label: Any) -> str:
    return number_label(label) if isinstance(label, int | float) and not isinstance(label, bool) else str(label)
