"""Folds, masks, standardisation and seeds."""

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joints.data import Dataset
from joints.errors import JointsError
from joints.interface import Mechanism
from joints.study.mechanisms.mcar import CompletelyAtRandom
from joints.study.protocol import (
    Protocol,
    folds_of,
    mask_order,
    n_removed,
    scale,
    seed_of,
    standardise,
    stratify,
    without_cells,
)

SOURCE = Path(__file__).resolve().parents[2] / "src" / "joints"


def dataset(n=60, n_classes=3, missing=True):
    rng = np.random.default_rng(5)
    y = np.arange(n) % n_classes
    X = np.column_stack([rng.normal(3, 2, n), rng.integers(0, 9, n).astype(float), rng.normal(0, 1, n) ** 5])
    if missing:
        X[3, 0] = X[4, 1] = np.nan
    classes = [str(k) for k in range(n_classes)]
    return Dataset("toy", "Toy", X, np.array([0, 9, 0]), y, ["a", "b", "c"], [[], list("012345678"), []], classes)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=80), st.integers(2, 7))
def test_folds_are_a_partition_balanced_in_size_and_class(labels, folds):
    y = np.array(labels)
    fold_of = stratify(y, folds, np.random.default_rng(0))
    sizes = np.bincount(fold_of, minlength=folds)
    assert sizes.sum() == len(y) and np.ptp(sizes) <= 1
    for label in set(labels):
        assert np.ptp(np.bincount(fold_of[y == label], minlength=folds)) <= 1


def test_every_row_is_tested_once_in_a_repetition_and_repetitions_differ():
    data = dataset(missing=False)
    data.X[:, 1] = np.arange(60) % 9  # a category code, which stays as it is
    codes = [np.concatenate([f.X_test[:, 1] for f in folds_of(data, Protocol(1, 5), [r])]) for r in (1, 2)]
    assert sorted(codes[0]) == sorted(codes[1]) == sorted(data.X[:, 1])
    assert not np.array_equal(*codes)


@given(st.integers(0, 99), st.integers(0, 5000))
def test_exact_number_of_removed_cells(percent, cells):
    assert n_removed(percent / 100, cells) == percent * cells // 100


def masked(data, protocol, fold):
    """The test rows of a fold as a function of the missing rate."""
    order = mask_order(fold, data, protocol, CompletelyAtRandom())
    return lambda rate: without_cells(fold.X_test, order, rate)


def test_masks_are_exact_nested_and_over_all_cells():
    data, protocol = dataset(missing=False), Protocol(seed=1, folds=3)
    fold = next(folds_of(data, protocol, [1]))
    rows_at = masked(data, protocol, fold)
    rates = [0, 0.1, 0.3, 0.5, 0.9]
    gone = [np.isnan(rows_at(rate)) for rate in rates]
    cells = fold.X_test.size
    assert [int(mask.sum()) for mask in gone] == [n_removed(rate, cells) for rate in rates]
    for smaller, larger in pairwise(gone):
        assert (smaller <= larger).all()
    kept = ~gone[2]
    np.testing.assert_array_equal(rows_at(0.3)[kept], fold.X_test[kept])


def test_cells_that_the_data_lacks_stay_missing():
    data, protocol = dataset(), Protocol(seed=1, folds=3)
    folds = list(folds_of(data, protocol, [1]))
    assert sum(int(np.isnan(masked(data, protocol, fold)(0)).sum()) for fold in folds) == 2
    for fold in folds:
        lacking = np.isnan(fold.X_test)
        assert (np.isnan(masked(data, protocol, fold)(0.5)) >= lacking).all()


class Half(Mechanism):
    """Forgets half of the cells."""

    def order(self, X, n_categories, random):
        return random.permutation(X.size // 2)


def test_a_mechanism_has_to_name_every_cell_once():
    data, protocol = dataset(), Protocol(seed=1, folds=3)
    with pytest.raises(ValueError, match=r"Half does not give every cell of \(20, 3\) exactly once"):
        mask_order(next(folds_of(data, protocol, [1])), data, protocol, Half())


def test_a_fold_depends_on_nothing_but_its_place():
    data, protocol = dataset(), Protocol(seed=1, folds=3, rates=(0.3,))
    alone = list(folds_of(data, protocol, [2]))
    among = [fold for fold in folds_of(data, protocol, [1, 2, 3]) if fold.repetition == 2]
    for one, other in zip(alone, among, strict=True):
        assert one.fold == other.fold
        np.testing.assert_array_equal(masked(data, protocol, one)(0.3), masked(data, protocol, other)(0.3))
        np.testing.assert_array_equal(one.X, other.X)


def test_seeds_differ_in_every_part_of_their_place():
    place = (2020, "wine", 1, 1, "forest")
    others = [(2021, *place[1:]), (2020, "wine_", *place[2:]), (2020, "wine", 2, 1, "forest"),
              (2020, "wine", 1, 2, "forest"), (2020, "wine", 1, 1, "mask"), (2020, "wine", 11, 1, "forest"),
              (2020, "wine", 1, 11, "forest")]  # fmt: skip
    seeds = {seed_of(*place), *(seed_of(*other) for other in others)}
    assert len(seeds) == 1 + len(others) and all(0 <= seed < 2**32 for seed in seeds)


def test_standardised_by_the_training_fold_alone_and_clipped():
    data = dataset(200)
    for fold in folds_of(data, Protocol(seed=1, folds=4), [1]):
        assert abs(np.nanmean(fold.X[:, 0])) < 1e-12 and np.nanstd(fold.X[:, 0]) == pytest.approx(1)
        assert abs(np.nanmean(fold.X_test[:, 0])) > 1e-6  # its own mean is not zero
        for X in (fold.X, fold.X_test):
            assert np.nanmax(np.abs(X[:, [0, 2]])) <= 6
            assert set(X[~np.isnan(X[:, 1]), 1]) <= set(range(9))  # codes above 6 are not values to clip


def test_constant_and_empty_columns_are_harmless():
    X = np.column_stack([np.full(10, 0.1), np.full(10, np.nan), np.zeros(10)])
    n_categories = np.array([0, 0, 0])
    mean, sd = scale(X, n_categories)
    assert sd.tolist() == [1, 1, 1]
    out = standardise(X, mean, sd, n_categories)
    assert np.abs(out[:, [0, 2]]).max() < 1e-12 and np.isnan(out[:, 1]).all()


def test_a_value_far_outside_of_the_training_fold_is_clipped_also_where_mean_is_zero_and_deviation_one():
    out = standardise(np.array([[50.0], [-50.0]]), np.zeros(1), np.ones(1), np.array([0]))
    assert out.ravel().tolist() == [6, -6]


def test_more_folds_than_rows_of_a_class():
    data = dataset(8, 3)
    with pytest.raises(JointsError, match=r"toy: 3 folds need 3 rows of every class, but class '2' has 2; use fewer"):
        next(folds_of(data, Protocol(seed=1, folds=3), [1]))


def test_a_dataset_may_say_otherwise():
    settings = {"seed": 3, "repetitions": 10, "folds": 5, "rates": [0, 0.3],
                "exceptions": {"bank": {"repetitions": 1, "folds": 10}}}  # fmt: skip
    assert Protocol.read(settings, "wine") == Protocol(3, 5, (0, 0.3), 10)
    assert Protocol.read(settings, "bank") == Protocol(3, 10, (0, 0.3), 1)


def test_a_method_may_have_fewer_repetitions():
    settings = {"seed": 3, "repetitions": 10, "folds": 5, "rates": [0, 0.3],
                "fewer": {"missforest": 5, "knn": 9},
                "exceptions": {"bank": {"repetitions": 4, "fewer": {"missforest": 1, "gef": 6}}}}  # fmt: skip
    assert Protocol.read(settings, "bank") == Protocol.read(settings, "bank", "knn") == Protocol(3, 5, (0, 0.3), 4)
    assert Protocol.read(settings, "bank", "missforest") == Protocol(3, 5, (0, 0.3), 1)
    assert Protocol.read(settings, "bank", "gef") == Protocol(3, 5, (0, 0.3), 4)
    assert Protocol.read(settings, "wine") == Protocol.read(settings, "wine", "gef") == Protocol(3, 5, (0, 0.3), 10)
    assert Protocol.read(settings, "wine", "missforest") == Protocol(3, 5, (0, 0.3), 5)
    assert Protocol.read(settings, "wine", "knn") == Protocol(3, 5, (0, 0.3), 9)


def test_generators_are_made_in_few_places():
    """The study's are made from places of the run, others repeat scikit-learn's draws or follow a forest's seeds."""
    makers = {"default_rng", "SeedSequence", "PCG64", "RandomState"}
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in makers:
                found.add(path.relative_to(SOURCE).as_posix())
    assert found == {"study/protocol.py", "impute/predictors.py", "circuit/choosing.py"}
