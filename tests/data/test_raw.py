"""Tables are the same however their cells are represented in the source."""

import numpy as np
import pandas as pd
import pytest

from joints.data.raw import (
    expand_names,
    labels,
    normalise,
    number_label,
    odd_cells,
    parse_text,
    read_raw,
    recode,
    require_columns,
    write_raw,
)
from joints.errors import JointsError


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, 2.5, np.nan]),
        pd.Series(["1", "2.5", None], dtype=object),
        pd.Series(["1", " 2.5 ", "?"]),
        pd.Series(["'1'", '"2.5"', ""]),
        pd.Series([1, 2.5, None], dtype="Float64"),
        pd.Series(pd.Categorical(["1", "2.5", None])),
        pd.Series(pd.Categorical([1.0, 2.5, None])),
        pd.Series(pd.arrays.SparseArray([1.0, 2.5, np.nan])),
        pd.Series(["1.0", "+2.5e0", "?"], dtype="string"),
    ],
)
def test_numbers_are_the_same_however_they_came(column):
    result = normalise(pd.DataFrame({"x": column}))["x"]
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, [1.0, 2.5, np.nan])


@pytest.mark.parametrize(
    "cells", [["a", "b", "?"], ["a ", " 'b'", ""], pd.Categorical(["a", "b", None]), ["a", "b", None]]
)
def test_text_is_the_same_however_it_came(cells):
    result = normalise(pd.DataFrame({"x": pd.Series(cells)}))["x"]
    assert result.dtype == "str"
    assert result[:2].tolist() == ["a", "b"] and result.isna().tolist() == [False, False, True]


def test_whole_numbers_of_any_type_have_the_same_labels():
    for dtype in ("int64", "uint8", "float64", "Int16", "str", "category"):
        column = normalise(pd.DataFrame({"x": pd.Series([3, 1, 2]).astype(dtype)}))["x"]
        assert labels(column).tolist() == ["3", "1", "2"]


@pytest.mark.parametrize("word", ["nan", "NA", "inf", "1_000", "0x1", "1,5", "True", "1e", "-"])
def test_words_that_python_or_pandas_take_for_values_stay_text(word):
    result = normalise(pd.DataFrame({"x": [word, "2"]}))["x"]
    assert result.tolist() == [word, "2"]


def test_digits_survive_to_the_last():
    values = [0.1, 1 / 3, 1e-300, 123456789.123456789, 5e-324]
    result = normalise(pd.DataFrame({"x": [repr(value) for value in values]}))["x"]
    assert result.tolist() == values


def test_own_markers_of_missing_cells():
    result = normalise(pd.DataFrame({"x": ["1", "NA", "?"]}), missing=["NA"])["x"]
    assert result.isna().tolist() == [False, True, False] and result[2] == "?"


@pytest.mark.parametrize("column", [[1.0, np.inf], ["1", "1e999"]])
def test_infinite_numbers_are_refused(column):
    with pytest.raises(JointsError, match="'x' holds an infinite number"):
        normalise(pd.DataFrame({"x": column}))


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(JointsError, match="several columns called 'a'"):
        normalise(parse_text("a,b,a\n1,2,3\n"))


def test_recode_maps_labels_and_the_rest():
    frame = normalise(pd.DataFrame({"days": [999, 3, np.nan, 6], "c": ["x", "y", "x", "z"]}))
    result = recode(frame, {"days": {999: "never", "*": "before"}, "c": {"x": 1, "y": 2, "z": 2.5}})
    assert result["days"].tolist()[:2] == ["never", "before"] and result["days"].isna().tolist()[2]
    assert result["c"].dtype == np.float64 and result["c"].tolist() == [1, 2, 1, 2.5]
    assert frame["c"].tolist() == ["x", "y", "x", "z"]  # the table given is as it was


def test_recode_leaves_what_is_not_named():
    assert recode(pd.DataFrame({"c": ["x", "y"]}), {"c": {"x": "z"}})["c"].tolist() == ["z", "y"]


def test_recode_of_a_column_that_is_not_there():
    with pytest.raises(JointsError, match="'d', which the table does not have"):
        recode(pd.DataFrame({"c": ["x"]}), {"d": {"x": "z"}})


def test_columns_that_a_table_must_have():
    frame = pd.DataFrame({"kind": ["u"], "weight": [1.0]})
    require_columns(frame, ["weight", "kind"])
    with pytest.raises(
        JointsError, match=r"^it has no column 'wieght' \(did you mean 'weight'\?\), only kind, weight$"
    ):
        require_columns(frame, ["kind", "wieght", "other"])


def test_a_wide_table_is_described_by_its_first_columns():
    frame = pd.DataFrame(columns=[f"V{j}" for j in range(1, 20)])
    with pytest.raises(JointsError, match=r"^it has no column 'x', only V1, V2, V3, V4, V5, V6, V7, V8, \.\.\.$"):
        require_columns(frame, ["x"])


def test_text_without_header_and_with_blanks():
    frame = normalise(parse_text("1, a b ,x\n2, c,y\n\n", header=False))
    assert list(frame.columns) == ["1", "2", "3"]
    assert frame["2"].tolist() == ["a b", "c"]


@pytest.mark.parametrize("text", ["a,b\n1,2\n3\n", "a,b\n1,2\n3,4,5\n"])
def test_lines_of_other_lengths_are_refused(text):
    with pytest.raises(JointsError, match=r"line 3 has [13] cells instead of 2"):
        parse_text(text)


@pytest.mark.parametrize(("text", "reason"), [("", "empty"), ("\n \n", "empty"), ("a,b\n", "no rows")])
def test_files_without_rows_are_refused(text, reason):
    with pytest.raises(JointsError, match=reason):
        parse_text(text)


def test_names_expand():
    assert expand_names(["a", "x.1..3", "V9..11", "b..c"]) == ["a", "x.1", "x.2", "x.3", "V9", "V10", "V11", "b..c"]


def test_number_labels():
    assert [number_label(v) for v in (0.0, -2.0, 0.111111, 1e20)] == ["0", "-2", "0.111111", "100000000000000000000"]


def test_a_table_survives_its_file(tmp_path):
    frame = normalise(pd.DataFrame({"x": ["1", "?", "2.5"], "c": ["True", "False", ""], "empty": ["?", "?", "?"]}))
    write_raw(frame, tmp_path / "t.parquet")
    again = read_raw(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(frame, again)
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]


def test_half_a_file_is_an_error(tmp_path):
    path = tmp_path / "t.parquet"
    write_raw(pd.DataFrame({"x": [1.0, 2.0]}), path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(JointsError, match="not a readable table"):
        read_raw(path)


@pytest.mark.parametrize(
    "marks, cells, expected",
    [
        ({"decimal": ","}, ["34,9", "-1", "2,5e1", "?"], [34.9, -1, 25, np.nan]),
        ({"thousands": " "}, ["1 234", "12", "1 234 567.5"], [1234, 12, 1234567.5]),
        ({"decimal": ",", "thousands": "."}, ["1.234,5", "0,25", "12"], [1234.5, 0.25, 12]),
        ({"thousands": ","}, ["1,234", "5.5"], [1234, 5.5]),
    ],
)
def test_other_ways_to_write_numbers(marks, cells, expected):
    result = normalise(pd.DataFrame({"x": cells}), **marks)["x"]
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "marks, cell",
    [({"decimal": ","}, "1.5"), ({"thousands": ","}, "34,9"), ({"decimal": ",", "thousands": "."}, "1.5")],
)
def test_numbers_written_otherwise_stay_text(marks, cell):
    assert normalise(pd.DataFrame({"x": [cell, "2"]}), **marks)["x"].tolist() == [cell, "2"]


def test_one_mark_cannot_mean_two_things():
    with pytest.raises(JointsError, match="'decimal' and 'thousands' are both ','"):
        normalise(pd.DataFrame({"x": ["1"]}), decimal=",", thousands=",")


NUMBERS = [f"{i / 7:.3f}" for i in range(40)]


@pytest.mark.parametrize("cell", ["34,9", "inf", "1 234", "NA"])
def test_odd_cells_among_numbers_are_found(cell):
    cells = [*NUMBERS[:5], cell, *NUMBERS[5:], cell]
    assert list(odd_cells(normalise(pd.DataFrame({"x": cells})))) == [("x", 5, cell, 1)]


def test_columns_of_numbers_of_another_country_are_found():
    assert list(odd_cells(normalise(pd.DataFrame({"x": ["0,5", "1,25", "3"]})))) == [("x", 0, "0,5", 1)]


@pytest.mark.parametrize(
    "cells", [["1", "2", "3+"] * 9, ["a", "b"], ["2020-01-01", "2020-01-02"], NUMBERS, ["1a", *"12"] * 9]
)
def test_text_and_numbers_are_not_odd(cells):
    assert not list(odd_cells(normalise(pd.DataFrame({"x": cells}))))
