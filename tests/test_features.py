"""Mixed tables become codes, and codes the users' own values again."""

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
    back = features.table(features.encode(frame), frame=True)
    pd.testing.assert_frame_equal(back, frame)


def test_declared_domains():
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    features = describe_features(X, {0: 5, 1: [1.0, 0.0]})
    assert features.n_categories.tolist() == [5, 2]
    np.testing.assert_array_equal(features.encode(X), [[0, 0], [2, 1]])
    np.testing.assert_array_equal(features.table(features.encode(X), frame=False), X)


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
    frame = pd.DataFrame({"size": ["large", "small"]})
    with pytest.raises(ValueError, match="'size' is continuous but holds values that are not numbers"):
        describe_features(frame).encode(frame)
