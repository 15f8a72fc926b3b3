"""The paper's own data: the five numbers of Table 1 for every dataset, from each place that has it."""

from collections import Counter

import numpy as np
import pytest
from paper_data import CATALOGUE, IN_THE_WHEEL, PAPER, encoded

from joints.data.encode import numbers
from joints.data.sources import Settings

pytestmark = pytest.mark.xdist_group("paper")  # one process prepares the data for all of these


def rows(dataset, decimals=None):
    """All rows as text, in no particular order: labels of categories and classes, numbers rounded if requested."""
    columns = []
    for j, labels in enumerate(dataset.categories):
        column = dataset.X[:, j]
        if labels:
            columns.append([labels[int(code)] for code in column])
        else:
            columns.append((column if decimals is None else np.round(column, decimals) + 0.0).tolist())
    columns.append([dataset.classes[code] for code in dataset.y])
    return Counter(zip(*columns, strict=True))


def test_ten_of_the_paper_and_eight_more_from_the_wheel(from_wheel):
    assert len(from_wheel) == 18
    for name, dataset in from_wheel.items():
        assert numbers(dataset) == dict(CATALOGUE[name].numbers)


def test_wdbc_from_scikit_learn(tmp_path):
    dataset = encoded("breast", Settings(folder=tmp_path), ["sklearn"])
    assert numbers(dataset) == dict(CATALOGUE["breast"].numbers) and sorted(dataset.classes) == ["benign", "malignant"]


def test_all_21_from_openml(from_openml):
    for name in PAPER:
        assert numbers(from_openml[name]) == dict(CATALOGUE[name].numbers)
    assert {name: data.n_missing for name, data in from_openml.items() if data.n_missing} == {
        "dresses": 835,
        "mice": 1396,
    }


def test_pdays_of_bank_is_yes_or_no(from_openml):
    bank = from_openml["bank"]
    j = bank.features.index("pdays")
    assert bank.categories[j] == ["never contacted", "contacted before"]
    assert np.bincount(bank.X[:, j].astype(int)).tolist() == [39673, 1515]


def test_red_and_white_wine_make_wine(from_openml):
    red, white, wine = (from_openml[name] for name in ("wine_red", "wine_white", "wine"))
    np.testing.assert_array_equal(np.vstack([red.X, white.X]), wine.X)
    assert wine.classes == ["6 or less", "more than 6"]
    at_least_6 = np.concatenate([data.y == data.classes.index("6 or more") for data in (red, white)])
    assert (wine.y <= at_least_6).all()


@pytest.mark.parametrize("name", [name for name in IN_THE_WHEEL if name not in ("segment", "breast")])
def test_the_wheel_has_the_rows_of_openml(from_wheel, from_openml, name):
    wheel, openml = from_wheel[name], from_openml[name]
    assert wheel.features == openml.features and sorted(wheel.classes) == sorted(openml.classes)
    assert [sorted(labels) for labels in wheel.categories] == [sorted(labels) for labels in openml.categories]
    assert rows(wheel) == rows(openml)


def test_the_wheel_has_wdbc_with_fewer_decimals(from_wheel, from_openml):
    wheel, openml = from_wheel["breast"], from_openml["breast"]
    np.testing.assert_array_equal(wheel.y, openml.y)
    assert np.abs(wheel.X - openml.X).max() <= 0.0005 + 1e-9


def test_the_wheel_has_segment_with_more_decimals(from_wheel, from_openml):
    wheel, openml = from_wheel["segment"], from_openml["segment"]
    assert wheel.features == openml.features and sorted(wheel.classes) == sorted(openml.classes)
    assert wheel.n_categories.tolist() == openml.n_categories.tolist()

    def in_order(data):
        """The rows sorted, with codes in the order of labels: both follow the order of rows, which differs."""
        X = data.X.copy()
        for j, labels in enumerate(data.categories):
            if labels:
                X[:, j] = np.argsort(np.argsort(labels))[X[:, j].astype(int)]
        y = np.argsort(np.argsort(data.classes))[data.y]
        return X[np.lexsort([*np.round(X, 2).T[::-1], y])]

    a, b = in_order(wheel), in_order(openml)
    assert np.median(np.abs(a - b)) < 1e-5
    np.testing.assert_allclose(np.sort(a, axis=0), np.sort(b, axis=0), rtol=1e-4, atol=1e-5)
