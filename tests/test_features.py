"""Mixed tables become codes, and codes the users' own values again."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joints.features import describe_features


def test_array_without_categories():
    X = np.array([[1.5, np.nan], [2.0, -1.0]])
    features = describe_features(X)
    assert features.names == ["x0", "x1"]
    assert features.n_categories.tolist() == [0, 0]
    np.testing.assert_array_equal(features.encode(X), X)


@pytest.mark.parametrize("spec", [[1], [-1], [False, True], np.array([False, True]), ["colour"]])
def test_ways_to_name_a_column(spec):
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", None, "blue"]})
    features = describe_features(frame, spec)
    assert features.categories[0] is None
    assert features.categories[1].tolist() == ["blue", "red"]
    np.testing.assert_array_equal(features.encode(frame)[:, 1], [1, np.nan, 0])


def test_numbers_as_categories_are_sorted_as_numbers():
    X = np.array([[10.0], [9.0], [np.nan], [100.0]])
    features = describe_features(X, [0])
    assert features.categories[0].tolist() == [9, 10, 100]
    np.testing.assert_array_equal(features.encode(X)[:, 0], [1, 0, np.nan, 2])


def test_pandas_categories_keep_their_own_order_and_unused_ones():
    frame = pd.DataFrame({"size": pd.Categorical(["L", "S"], categories=["S", "M", "L"])})
    features = describe_features(frame)
    assert features.categories[0].tolist() == ["S", "M", "L"]
    np.testing.assert_array_equal(features.encode(frame)[:, 0], [2, 0])
    back = features.table(features.encode(frame), like=frame)
    pd.testing.assert_frame_equal(back, frame)


def test_declared_domains():
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    features = describe_features(X, {0: 5, 1: [1.0, 0.0]})
    assert features.n_categories.tolist() == [5, 2]
    np.testing.assert_array_equal(features.encode(X), [[0, 0], [2, 1]])
    np.testing.assert_array_equal(features.table(features.encode(X), like=X), X)


def test_what_is_no_category_is_missing():
    features = describe_features(np.array([["a"], ["b"]], dtype=object), [0])
    coded = features.encode(np.array([["b"], ["zebra"], [None], [np.nan], [3]], dtype=object))
    np.testing.assert_array_equal(coded[:, 0], [1, np.nan, np.nan, np.nan, np.nan])


def test_values_of_several_types_can_be_categories():
    X = np.array([[1], ["one"], [2], ["two"]], dtype=object)
    features = describe_features(X, [0])
    assert sorted(features.encode(X)[:, 0].tolist()) == [0, 1, 2, 3]


@given(st.lists(st.one_of(st.none(), st.sampled_from(["x", "y", "z"])), min_size=1))
def test_there_and_back(values):
    X = np.array(values, dtype=object)[:, None]
    features = describe_features(X, [0])
    back = features.decode(features.encode(X))[0]
    for before, after in zip(values, back, strict=True):
        assert before == after or (before is None and pd.isna(after))


@pytest.mark.parametrize(
    "spec, message",
    [
        ("all", "'from_dtype'"),
        ([2], "index 2"),
        ([0.5], "index 0.5"),
        (["colour"], "'colour'"),
        ([True], "mask of 1 entries for 2 features"),
        ([[0]], "2 dimensions"),
        ({0: ["a", "a"]}, "twice"),
    ],
)
def test_wrong_descriptions(spec, message):
    with pytest.raises(ValueError, match=message):
        describe_features(np.zeros((2, 2)), spec)


def test_text_in_a_continuous_column():
    for cells, spec in ((["large", "small"], None), (["large", 3.5], "from_dtype")):
        frame = pd.DataFrame({"size": cells})
        with pytest.raises(ValueError, match="'size' is continuous but holds values that are not numbers"):
            describe_features(frame, spec).encode(frame)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"size": ["large", "small", None], "ripe": [True, False, None], "code": ["1", "2.5", None]}),
        pd.DataFrame({"size": ["large", "small", None], "ripe": [True, False, None]})
        .astype({"size": "string"})
        .assign(code=[1.0, 2.5, None]),
        np.array([["large", True, 1.0], ["small", False, 2.5], [None, None, None]], dtype=object),
    ],
    ids=["objects", "string", "array"],
)
def test_text_and_truth_values_are_categories(table):
    """Text that is all numbers stays a continuous feature."""
    features = describe_features(table)
    assert [None if c is None else c.tolist() for c in features.categories] == [["large", "small"], [False, True], None]
    np.testing.assert_array_equal(features.encode(table), [[0, 0 + 1, 1.0], [1, 0, 2.5], [np.nan] * 3])


def test_an_array_of_text_has_numbers_where_all_of_a_column_are():
    table = np.array([["1.5", "red"], ["2", "blue"]])
    assert describe_features(table).n_categories.tolist() == [0, 2]


def instants(unit):
    return pd.Series(pd.to_datetime(["2020-01-01", None, "2021-06-01"])).dt.as_unit(unit)


@pytest.mark.parametrize(
    "dates",
    [
        *(instants(unit) for unit in ("s", "ms", "us", "ns")),
        instants("ns").dt.tz_localize("Europe/Zurich"),
        instants("ns").dt.to_period("D"),
        instants("ns") - pd.Timestamp("2020"),
        instants("ns").astype(object),
        pd.Series([datetime.date(2020, 1, 1), None, datetime.date(2021, 6, 1)], dtype=object),
        pd.Series([np.timedelta64(1, "D"), 2.5, np.nan], dtype=object),
    ],
    ids=lambda dates: str(dates.dtype),
)
def test_dates_are_no_numbers_but_may_be_categories(dates):
    frame = pd.DataFrame({"when": dates})
    for X, name in ((frame, "when"), (dates.to_numpy()[:, None], "x0")):
        with pytest.raises(ValueError, match=f"'{name}' holds dates or times: turn them into numbers"):
            describe_features(X).encode(X)
    if dates.nunique() == 2 and "object" not in str(dates.dtype):
        features = describe_features(frame, ["when"])
        np.testing.assert_array_equal(features.encode(frame)[:, 0], [0, np.nan, 1])
        other = pd.DataFrame({"when": dates.dt.as_unit("ms") if hasattr(dates.dt, "as_unit") else dates})
        np.testing.assert_array_equal(features.encode(other)[:, 0], [0, np.nan, 1])


def column(values, dtype):
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype)})


@pytest.mark.parametrize(
    "fitted, asked",
    [
        (column([0, 1, 1], "int64"), column([1, None, 0], "Int64")),
        (column([0, 1, 1], "Int64"), column([1, None, 0], "float64")),
        (column([0, 1, 1], "float64"), column([1, None, 0], "boolean")),
        (column([False, True, True], "bool"), column([1, None, 0], "float64")),
        (column([False, True, True], "boolean"), column([True, None, False], object)),
        (column([0.1, 0.7, 0.7], "float64"), column([0.7, None, 0.1], "float32")),
        (column([0.1, 0.7, 0.7], "float32"), column([0.7, None, 0.1], "float64")),
        (column(["a", "b", "b"], "category"), column(["b", None, "a"], "string")),
        (column(["a", "b", "b"], "string"), column(["b", None, "a"], object)),
        (column(["a", "b", "b"], object), column(["b", None, "a"], "category")),
        (column([1, 2, 2], "category"), column([2, None, 1], "Int64")),
    ],
)
def test_the_same_values_in_another_dtype(fitted, asked):
    features = describe_features(fitted, ["a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(features.encode(asked)[:, 0], [1, np.nan, 0])


@pytest.mark.parametrize(
    "fitted, asked",
    [([0, 1, 0], ["0", "1", None]), (["0", "1", "0"], [0, 1, None]), (["a", "b", "b"], ["c", "d", None])],
)
def test_a_column_without_any_known_value_warns_once(fitted, asked):
    frame = pd.DataFrame({"a": fitted, "b": fitted, "x": [1.0, 2.0, 3.0]})
    features = describe_features(frame, ["a", "b"])
    asked = pd.DataFrame({"a": asked, "b": asked, "x": [1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match=r"feature 'a', such as .*1 more feature") as caught:
        assert np.isnan(features.encode(asked)[:, :2]).all()
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features.encode(asked.assign(a=fitted[0], b=None))


@pytest.mark.parametrize("dtype", ["bool", "boolean", object, "bool[pyarrow]"])
def test_truth_values_are_two_categories(dtype):
    holes = dtype != "bool"
    frame = column([True, None if holes else True, True], dtype)
    features = describe_features(frame)
    assert features.categories[0].tolist() == [False, True]
    np.testing.assert_array_equal(features.encode(frame)[:, 0], [1, np.nan if holes else 1, 1])
    assert describe_features(frame, None).categories == [None]
    assert describe_features(np.array([[True], [False]])).n_categories.tolist() == [2]


@pytest.mark.parametrize("domain", [0, -1, 2.5, True, np.nan, [], "ab", {"a", "b"}])
def test_domains_that_are_none(domain):
    with pytest.raises(ValueError, match=r"feature 'x0' the categories .*: give their number, at least 1, or a list"):
        describe_features(np.zeros((2, 2)), {0: domain})


@pytest.mark.parametrize(
    "spec, message",
    [({0: ["a", None]}, "missing value as a category"), ({0: 2, -2: 3}, "twice"), ([None], "index None")],
)
def test_more_wrong_descriptions(spec, message):
    with pytest.raises(ValueError, match=message):
        describe_features(np.zeros((2, 2)), spec)


def test_numbers_among_words_stay_numbers():
    X = np.array([[1], ["one"]], dtype=object)
    np.testing.assert_array_equal(describe_features(X, {0: [1, "one"]}).encode(X)[:, 0], [0, 1])


def test_frames_come_back_with_their_own_columns():
    frame = pd.DataFrame({10: [1.0, 2.0], 20: pd.Categorical(["a", "b"], ordered=True)})
    features = describe_features(frame)
    pd.testing.assert_frame_equal(features.table(features.encode(frame), like=features.template), frame)
    double = frame.set_axis(["a", "a"], axis=1)
    features = describe_features(double)
    pd.testing.assert_frame_equal(features.table(features.encode(double), like=double), double)


@pytest.mark.parametrize("frame", [column([None, None], "category"), column([None, None], object)])
def test_a_categorical_column_without_a_category(frame):
    features = describe_features(frame, ["a"])
    assert features.n_categories.tolist() == [0]
    back = features.table(features.encode(frame), like=frame)
    assert back["a"].isna().all() and back["a"].dtype == (frame["a"].dtype if frame["a"].dtype != object else float)
    with pytest.warns(UserWarning, match="categories \\(none\\)"):
        assert np.isnan(features.encode(column(["a", "b"], object))).all()


def test_unhashable_values_cannot_be_categories():
    frame = pd.DataFrame({"a": ["x", "y"]})
    with pytest.raises(TypeError, match="'a' holds values that cannot be categories"):
        describe_features(frame, ["a"]).encode(pd.DataFrame({"a": [["x"], ["y"]]}))
