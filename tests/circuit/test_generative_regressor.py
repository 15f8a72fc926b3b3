"""GenerativeForestRegressor: scikit-learn's conventions, the forest's mean, exact marginals, quantiles."""

from itertools import pairwise

import numpy as np
import pytest
from mixed import hide, weights_in_bootstrap_samples
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from joints import Evidence, GenerativeForestRegressor
from joints.forest.route import training_leaves


@parametrize_with_checks(
    [GenerativeForestRegressor(5, min_samples_leaf=1), GenerativeForestRegressor(5, bootstrap=False)],
    expected_failed_checks=weights_in_bootstrap_samples,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 5, 300)])
    y = 2 * X[:, 0] + np.array([0.0, 3.0, -1.0, 3.0, 1.0])[X[:, 2].astype(int)] + 0.3 * rng.normal(size=300)
    return X, y


@pytest.fixture(scope="module")
def gef(table):
    return GenerativeForestRegressor(4, categorical_features={2: 5}, random_state=0).fit(*table)


def test_complete_rows_get_the_mean_of_the_leaves(gef, table):
    X, _ = table
    leaves = np.array([training_leaves(X, gef.forest_, tree) for tree in range(4)])
    means = gef.leaves_.parameters[:, gef.leaves_.offset[-1]]
    np.testing.assert_allclose(gef.predict(X), means[leaves].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(gef.distribution(X[:9]).mean(), gef.predict(X[:9]), rtol=1e-9)
    np.testing.assert_allclose(gef.predict(Evidence(X[:9])), gef.predict(X[:9]), rtol=1e-12)


def test_a_full_tree_is_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    options = {"min_samples_leaf": 7, "max_depth": 5}
    ours = GenerativeForestRegressor(1, bootstrap=False, random_state=0, **options).fit(X[:300], y[:300])
    theirs = DecisionTreeRegressor(random_state=0, **options).fit(X[:300], y[:300])
    np.testing.assert_allclose(ours.predict(X[:300]), theirs.predict(X[:300]))


def test_categories_are_cut_by_their_means():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (200, 1)).astype(float)
    y = np.array([5.0, 0.0, 5.0, 0.0, 5.0, 0.0])[X[:, 0].astype(int)] + rng.normal(size=200)
    gef = GenerativeForestRegressor(1, bootstrap=False, max_depth=1, categorical_features={0: 6}).fit(X, y)
    assert gef.forest_.goes_left.tolist() == [False, True] * 3
    split = [y[X[:, 0] % 2 == side].mean() for side in (0, 1)]
    np.testing.assert_allclose(gef.predict([[0.0], [1.0]]), split)


def test_missing_features_are_marginalised(gef, table):
    """p(y | x_1) by the joint over a fine grid of the missing feature, tree by tree through Evidence's partition."""
    row = np.array([[np.nan, 0.4, 1.0]])
    cuts = np.r_[-np.inf, np.linspace(-6, 6, 401), np.inf]
    parts = [Evidence(row, between={0: (a, b)}) for a, b in pairwise(cuts)]
    one = GenerativeForestRegressor(1, categorical_features={2: 5}, random_state=0).fit(*table)
    p = np.exp([one.score_samples(part)[0] for part in parts])
    assert p.sum() == pytest.approx(np.exp(one.score_samples(row)[0]), rel=1e-6)
    means = np.array([one.predict(part)[0] for part in parts])
    assert one.predict(row)[0] == pytest.approx((p * means).sum() / p.sum(), rel=1e-6)


def test_draws_and_quantiles_agree(table):
    one = GenerativeForestRegressor(1, categorical_features={2: 5}, random_state=0).fit(*table)
    row = np.array([[np.nan, 0.4, 1.0]])
    X, y = one.sample(3000, given=row, random_state=0)
    assert (X[:, 1] == 0.4).all() and set(X[:, 2]) == {1.0}
    many = one.distribution(np.repeat(row, 3000, axis=0))
    assert stats.kstest(many.cdf(y), "uniform").pvalue > 1e-3
    X, y = one.sample(2000, random_state=0)
    assert abs(y.mean() - table[1].mean()) < 0.3


def test_accuracy_is_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    train, test = slice(0, 300), slice(300, None)
    ours = GenerativeForestRegressor(60, random_state=0).fit(X[train], y[train])
    theirs = RandomForestRegressor(60, min_samples_leaf=5, random_state=0).fit(X[train], y[train])
    assert ours.score(X[test], y[test]) > theirs.score(X[test], y[test]) - 0.03
    low, high = ours.distribution(X[test]).quantile([0.05, 0.95]).T
    assert 0.8 < ((y[test] >= low) & (y[test] <= high)).mean() < 0.98
    holes = hide(np.random.default_rng(0), X[test], 0.3)
    filled = np.where(np.isnan(holes), X[train].mean(axis=0), holes)
    error = [((predicted - y[test]) ** 2).mean() for predicted in (ours.predict(holes), theirs.predict(filled))]
    assert error[0] < 1.05 * error[1]


def test_training_rows_may_lack_values(table):
    X, y = table
    gef = GenerativeForestRegressor(10, categorical_features={2: 5}, random_state=0).fit(
        hide(np.random.default_rng(0), X, 0.2), y
    )
    assert gef.score(X, y) > 0.6


def test_whole_weights_are_repeated_rows(table):
    X, y = table
    times = np.random.default_rng(1).integers(0, 4, len(y))
    model = GenerativeForestRegressor(2, bootstrap=False, max_features=1, categorical_features={2: 5}, random_state=0)
    weighted = model.fit(X, y, sample_weight=times).predict(X)
    np.testing.assert_allclose(weighted, model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict(X))
