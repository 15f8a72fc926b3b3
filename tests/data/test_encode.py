"""Types, codes and the five numbers."""

import numpy as np
import pandas as pd
import pytest

from joints.data.catalogue import DatasetEntry
from joints.data.encode import encode, is_continuous
from joints.data.raw import normalise
from joints.errors import JointsError


def entry(**content):
    return DatasetEntry(name="toy", label="Toy", **{"target": "class", **content})


def table(**columns):
    return normalise(pd.DataFrame(columns))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, 2] * 30, False),
        ([0, 1, -1] * 30, True),  # a negative value
        ([0, 1, 0.5] * 30, True),  # a value that is not whole
        (list(range(30)) * 3, False),  # 30 of 90 rows are not more than 30
        (list(range(31)) * 3, True),  # 31 values
        (list(range(10)) * 3, False),  # n/3 = 10
        ([*range(11), *[0] * 19], True),  # 11 > n/3
        ([0, 1, np.nan] * 30, False),
    ],
)
def test_the_rule(values, expected):
    assert is_continuous(table(x=values)["x"]) is expected


def test_text_is_categorical():
    assert not is_continuous(table(x=[str(i) + "a" for i in range(100)])["x"])


def test_codes_follow_first_appearance():
    frame = table(
        number=[10, 9, np.nan, 10],
        text=["b", "B", "a", "?"],
        decimal=["0.25", "0.5", "0.25", "0"],
        **{"class": [10, 9, 9, 100]},
    )
    data = encode(entry(categorical="rest"), [frame])
    assert data.categories == [["10", "9"], ["b", "B", "a"], ["0.25", "0.5", "0"]]
    assert data.classes == ["10", "9", "100"] and data.y.tolist() == [0, 1, 1, 2]
    np.testing.assert_array_equal(data.X, [[0, 0, 0], [1, 1, 1], [np.nan, 2, 0], [0, np.nan, 2]])
    assert data.n_categories.tolist() == [2, 3, 3] and data.features == ["number", "text", "decimal"]


def test_continuous_values_stay_as_they_are():
    data = encode(entry(continuous=["x"]), [table(x=[3, 1, np.nan], **{"class": ["a", "b", "a"]})])
    np.testing.assert_array_equal(data.X[:, 0], [3, 1, np.nan])
    assert data.n_categories.tolist() == [0] and data.categories == [[]]


def test_lists_overrule_the_rule_and_rest_does_the_rest():
    frame = table(a=[0, 1] * 50, b=np.arange(100) / 7, c=[0, 1] * 50, **{"class": ["u", "v"] * 50})

    def kinds(**lists):
        return (encode(entry(**lists), [frame]).n_categories > 0).tolist()

    assert kinds() == [True, False, True]
    assert kinds(continuous=["a"]) == [False, False, True]
    assert kinds(categorical=["b"]) == [True, True, True]
    assert kinds(continuous="rest") == [False, False, False]
    assert kinds(continuous="rest", categorical=["a"]) == [True, False, False]
    assert kinds(categorical="rest", continuous=["b", "a"]) == [False, False, True]


def test_a_column_whose_name_is_part_of_the_word_rest():
    data = encode(entry(continuous="rest", categorical=["x"]), [table(re=[0, 1], x=[0, 1], **{"class": ["u", "v"]})])
    assert data.n_categories.tolist() == [0, 2]


def test_dropped_columns_and_replaced_values():
    frame = table(id=["a", "b", "c"], x=[999, 1, 2], **{"class": [3, 7, 9]})
    data = encode(
        entry(drop=["id"], values={"x": {999: "never", "*": "before"}, "class": {3: "low", "*": "high"}}), [frame]
    )
    assert data.features == ["x"] and data.categories == [["never", "before"]]
    assert data.classes == ["low", "high"] and data.y.tolist() == [0, 1, 1]


def test_parts_are_stacked():
    one, two = table(x=[0.5, 1], **{"class": ["a", "b"]}), table(x=[2.5], **{"class": ["a"]})
    data = encode(entry(), [one, two])
    assert data.X[:, 0].tolist() == [0.5, 1, 2.5] and data.y.tolist() == [0, 1, 0]


def test_parts_with_other_columns_are_refused():
    with pytest.raises(JointsError, match="different columns"):
        encode(entry(), [table(x=[1], **{"class": ["a"]}), table(y=[1], **{"class": ["a"]})])


def test_parts_with_other_types_are_refused():
    with pytest.raises(JointsError, match="numeric in one of its parts"):
        encode(entry(), [table(x=[1], **{"class": ["a"]}), table(x=["u"], **{"class": ["a"]})])


RIGHT = {"n": 4, "categorical": 1, "continuous": 2, "classes": 2, "majority": 75.0}
FRAME = {"a": ["u", "v", "u", "v"], "b": [0.5, 1, 2, 3], "c": [-1, 0, 1, 2], "class": ["x", "x", "x", "y"]}


def test_the_right_numbers_pass():
    assert encode(entry(numbers=RIGHT), [table(**FRAME)]).majority == 75.0


@pytest.mark.parametrize("number", sorted(RIGHT))
def test_a_wrong_number_is_named_with_what_was_expected_and_what_came(number):
    wrong = {**RIGHT, number: RIGHT[number] + 1}
    with pytest.raises(JointsError, match=rf"'toy': {number} should be {wrong[number]} but is {RIGHT[number]}"):
        encode(entry(numbers=wrong), [table(**FRAME)])


@pytest.mark.parametrize(
    ("content", "columns", "reason"),
    [
        ({"target": "klass"}, {}, r"it has no column 'klass' \(did you mean 'class'\?\), only a, b, c, class$"),
        ({"drop": ["zz"]}, {}, "it has no column 'zz', only a, b, c, class$"),
        ({"values": {"zz": {1: 2}}}, {}, "it has no column 'zz', only a, b, c, class$"),
        ({"continuous": ["a"]}, {}, "'a' is continuous but has the text 'u'"),
        ({}, {"class": ["x", "?", "x", "y"]}, "1 rows have no class"),
        ({}, {"b": ["?"] * 4}, "'b' has no values"),
    ],
)
def test_mistakes_are_one_sentence(content, columns, reason):
    with pytest.raises(JointsError, match=f"^Dataset 'toy': .*{reason}"):
        encode(entry(**content), [table(**{**FRAME, **columns})])


def test_the_name_and_the_label_are_those_of_the_entry():
    data = encode(entry(), [table(**FRAME)])
    assert (data.name, data.label) == ("toy", "Toy")


def test_a_single_class_is_refused():
    with pytest.raises(JointsError, match="'toy': all rows have the class 'a' in 'class'"):
        encode(entry(), [table(x=[1, 2], **{"class": ["a", "a"]})])


def test_a_table_without_features_is_refused():
    with pytest.raises(JointsError, match="'toy' has no features"):
        encode(entry(drop=["x"]), [table(x=[1, 2], **{"class": ["a", "b"]})])


@pytest.mark.parametrize("kind", [{}, {"categorical": ["x"]}, {"continuous": ["x"]}])
def test_a_feature_without_any_value_is_refused(kind):
    with pytest.raises(JointsError, match="the column 'x' has no values; list it under 'drop'"):
        encode(entry(**kind), [table(x=["?", ""], z=[1, 2], **{"class": ["a", "b"]})])


def test_a_column_like_an_identifier_warns(caplog):
    frame = table(patient=["p1", "p2", "p3"], colour=["red", "red", "blue"], **{"class": ["a", "b", "a"]})
    encode(entry(), [frame])
    assert [record.getMessage() for record in caplog.records] == [
        "Dataset 'toy': the column 'patient' has another text in every row; if it is an identifier, "
        "list it under 'drop'."
    ]
    caplog.clear()
    encode(entry(categorical=["patient"]), [frame])
    encode(entry(drop=["patient"]), [frame])
    assert not caplog.records
