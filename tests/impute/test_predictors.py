"""The compiled forests against scikit-learn's: they differ where chance decides, or by bins of many values."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from joints.impute import predictors
from joints.impute.predictors import bootstrap_counts, grow_compiled, grow_with_scikit_learn, scikit_learn_seeds
from joints.impute.trees import rank_column, rank_values


def grow(table, target, categorical, n_trees, seed, n_jobs=None, rows=None, asked=()):
    rows = np.arange(len(table)) if rows is None else rows
    asked = np.array(asked, dtype=np.int64)
    return grow_compiled(table, rank_values(table), rows, asked, target, categorical, n_trees, seed, n_jobs)


def table_of(n_rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4))
    x[:, 1] += x[:, 0]
    x[:, 2] = np.digitize(x[:, 0] + 0.3 * x[:, 2], [-1, 0, 1])
    x[:, 3] = rng.integers(0, 3, n_rows)
    return x


@pytest.mark.parametrize(("target", "categorical"), [(0, False), (1, False), (2, True), (3, True)])
def test_flat_forest_predicts_exactly_what_scikit_learn_predicts(target, categorical):
    train, test = table_of(200, 0), table_of(333, 1)
    flat = grow_with_scikit_learn(train, target, categorical, 20, 5, None)
    kind = RandomForestClassifier if categorical else RandomForestRegressor
    forest = kind(20, random_state=5).fit(np.delete(train, target, axis=1), train[:, target])
    rows = np.arange(len(test))[::3]
    expected = forest.predict(np.delete(test[rows], target, axis=1))
    np.testing.assert_array_equal(flat.predict(test, rows), expected)


@pytest.mark.parametrize("decimals", [9, 1])
@pytest.mark.parametrize("target", [0, 1])
def test_regression_trees_are_scikit_learns_where_no_features_tie(decimals, target):
    """With one predictor there is no choice between features, so nothing is left to chance but the bootstrap."""
    train, test = table_of(300, 0)[:, :2], table_of(500, 1)[:, :2]
    train[:, 1 - target] = train[:, 1 - target].round(decimals)
    ours = grow(train, target, False, 30, 7, None)
    theirs = grow_with_scikit_learn(train, target, False, 30, 7, None)
    assert len(ours.nodes) == len(theirs.nodes)
    rows = np.arange(len(test))
    np.testing.assert_allclose(ours.predict(test, rows), theirs.predict(test, rows), rtol=1e-12, atol=1e-14)


def test_features_of_few_values_count_beside_those_of_many():
    """Ranks are binned where there are many; two values in one bin would never be told apart."""
    rng = np.random.default_rng(0)
    few, many = rng.integers(0, 2, 2000), rng.normal(size=2000)
    train = np.column_stack([few + 0.1 * many, few, many])
    for grown in (grow(train, 0, False, 5, 7), grow_with_scikit_learn(train, 0, False, 5, 7, None)):
        assert (grown.nodes[grown.roots]["feature"] == 1).all()


def test_frequent_values_count_beside_a_long_tail():
    """Zeros and ones that nearly decide the target, and rare other values of the same feature."""
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, 3000).astype(float)
    target = few + 0.1 * rng.normal(size=3000)
    few[:500] = 2 + rng.permutation(500)
    train = np.column_stack([target, few, target + rng.normal(size=3000)])
    for grown in (grow(train, 0, False, 10, 7), grow_with_scikit_learn(train, 0, False, 10, 7, None)):
        assert (grown.nodes[grown.roots]["feature"] == 1).all()


@pytest.mark.parametrize("columns", [[2, 0], [3, 2], [2, 3]])
def test_classification_trees_are_scikit_learns_where_no_features_are_drawn(columns):
    train, test = table_of(300, 0)[:, columns], table_of(500, 1)[:, columns]
    ours = grow(train, 0, True, 30, 7, None)
    theirs = grow_with_scikit_learn(train, 0, True, 30, 7, None)
    assert len(ours.nodes) == len(theirs.nodes)
    np.testing.assert_array_equal(ours.codes, theirs.codes)
    rows = np.arange(len(test))
    np.testing.assert_array_equal(ours.predict(test, rows), theirs.predict(test, rows))


def test_bootstrap_samples_are_scikit_learns():
    X, y = table_of(50, 0)[:, :2], table_of(50, 0)[:, 2]
    forest = RandomForestRegressor(5, random_state=3).fit(X, y)
    for seed, drawn in zip(scikit_learn_seeds(3, 5), forest.estimators_samples_, strict=True):
        np.testing.assert_array_equal(
            bootstrap_counts(np.random.RandomState(), seed, 50), np.bincount(drawn, minlength=50)
        )


def test_errors_are_scikit_learns_up_to_noise():
    """One seed alone makes a difference of about 3 %."""
    X = load_breast_cancer().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    train, test = X[:400], X[400:]
    rows = np.arange(len(test))
    ratios = []
    for target, seed in itertools.product(range(0, 30, 3), range(6)):
        ours, theirs = (
            np.mean((make(train, target, False, 50, seed, 2).predict(test, rows) - test[:, target]) ** 2)
            for make in (grow, grow_with_scikit_learn)
        )
        ratios.append(np.log(ours / theirs))
    assert abs(np.mean(ratios)) < 0.05


def test_constant_target_and_constant_predictors():
    train = np.column_stack([np.full(20, 2.5), np.zeros(20), np.arange(20.0)])
    for target, categorical in [(0, False), (1, True)]:
        forest = grow(train, target, categorical, 3, 0, None)
        assert len(forest.nodes) == 0
        np.testing.assert_array_equal(forest.predict(train, np.array([0, 5])), train[[0, 5], target])
    forest = grow(train[:, [2, 0, 1]], 0, False, 50, 0, None)
    assert forest.predict(train, np.array([0]))[0] == pytest.approx(9.5, abs=1)


def test_values_that_only_differ_beyond_single_precision_are_one_value():
    train = np.column_stack([np.arange(4.0), np.array([1.0, 1.0 + 1e-12, 2.0, 2.0 + 1e-12])])
    np.testing.assert_array_equal(rank_values(train).n_values, [4, 2])


def test_a_forest_that_is_asked_for_some_rows_predicts_them_as_the_whole_forest_does():
    table = table_of(200, 0)
    rows, asked = np.arange(0, 200, 2), np.array([3, 8, 101, 199])
    for target in (0, 1):
        whole = grow(table, target, False, 20, 5, rows=rows)
        part = grow(table, target, False, 20, 5, rows=rows, asked=asked)
        np.testing.assert_array_equal(part.predict(table, asked), whole.predict(table, asked))
        assert len(part.nodes) < len(whole.nodes) / 2
        alone = grow(table[rows], target, False, 20, 5)
        np.testing.assert_array_equal(whole.predict(table, asked), alone.predict(table, asked))


def test_a_column_ranked_again_is_as_if_ranked_at_once():
    table = table_of(50, 0)
    ranked = rank_values(table)
    table[:, 1] = table[::-1, 0].round(1)
    rank_column(ranked, table, 1)
    n = ranked.n_values
    for ours, theirs in zip(ranked, rank_values(table), strict=True):
        if ours is ranked.values:
            ours, theirs = ours[1, : n[1]], theirs[1, : n[1]]
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("limit", "categorical"), [("MOST_ROWS", False), ("MOST_CLASSES", True)])
def test_tables_beyond_the_limits_of_the_compiled_forests_are_refused(monkeypatch, limit, categorical):
    monkeypatch.setattr(predictors, limit, 3)
    with pytest.raises(ValueError, match=r"at most, not \d+: use predictor='scikit-learn'"):
        grow(np.random.default_rng(0).permutation(40).reshape(20, 2) * 1.0, 0, categorical, 2, 0)
