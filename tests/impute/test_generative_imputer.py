"""Imputation by a Generative Forest: against the classifier's own answers, other imputers, and nominal coverage."""

import numpy as np
import pytest
from mixed import hide

from joints.impute import GenerativeForestImputer, MeanImputer


def dependent(rng, n=400):
    """Three continuous features that follow each other, and a category that follows the first."""
    x = rng.normal(size=n)
    X = np.column_stack([x, 2 * x + 0.3 * rng.normal(size=n), x**2 + 0.3 * rng.normal(size=n), x > 0])
    return X


@pytest.fixture(scope="module")
def fitted():
    X = dependent(np.random.default_rng(0))
    return GenerativeForestImputer(30, categorical_features={3: 2}, random_state=0).fit(X), X


def test_it_fills_means_and_modes_of_the_model(fitted):
    imputer, X = fitted
    rows = hide(np.random.default_rng(1), X[:30], 0.4)
    filled, ones = imputer.transform(rows), np.ones(30, dtype=int)
    missing = np.isnan(rows)
    np.testing.assert_array_equal(filled[~missing], rows[~missing])
    for f in range(3):
        expected = imputer.model_.predict(rows, target=f, y=ones)
        np.testing.assert_allclose(filled[missing[:, f], f], expected[missing[:, f]], rtol=1e-9)
    expected = imputer.model_.predict(rows, target=3, y=ones)
    np.testing.assert_array_equal(filled[missing[:, 3], 3], expected[missing[:, 3]])


def test_it_is_far_better_than_means(fitted):
    imputer, _ = fitted
    X = dependent(np.random.default_rng(5))
    rows = hide(np.random.default_rng(6), X, 0.25)
    where = np.isnan(rows)[:, :3]
    error = {
        type(model).__name__: np.sqrt(((model.transform(rows) - X)[:, :3][where] ** 2).mean())
        for model in (imputer, MeanImputer(categorical_features={3: 2}).fit(X))
    }
    assert error["GenerativeForestImputer"] < 0.6 * error["MeanImputer"]
    lacks = np.isnan(rows[:, 3])
    assert (imputer.transform(rows)[lacks, 3] == X[lacks, 3]).mean() > 0.85


def test_draws_vary_as_the_truth_does(fitted):
    """The truth lies between the quantiles of draws about as often as it should, which means alone cannot say."""
    imputer, _ = fitted
    X = dependent(np.random.default_rng(7), n=150)
    rows = hide(np.random.default_rng(8), X, 0.25)
    draws = np.array(imputer.draw(rows, n_draws=60, random_state=0))
    assert not np.isnan(draws).any() and draws.shape == (60, 150, 4)
    where = np.isnan(rows)[:, :3]
    low, high = np.quantile(draws[:, :, :3], [0.05, 0.95], axis=0)
    covered = ((X[:, :3] >= low) & (X[:, :3] <= high))[where]
    assert 0.8 < covered.mean() < 0.99
    observed = ~np.isnan(rows)
    assert (draws[:, observed] == rows[observed]).all()
    again = imputer.draw(rows, n_draws=2, random_state=0)
    np.testing.assert_array_equal(again[0], imputer.draw(rows, n_draws=2, random_state=0)[0])
    with pytest.raises(ValueError, match="n_draws is 0"):
        imputer.draw(rows, n_draws=0)


def test_tables_without_holes_and_columns_without_values():
    X = dependent(np.random.default_rng(0), n=80)
    X[:, 2] = np.nan
    imputer = GenerativeForestImputer(5, random_state=0).fit(X)
    np.testing.assert_array_equal(imputer.transform(np.nan_to_num(X)), np.nan_to_num(X))
    assert np.isfinite(imputer.transform(X)).all()
