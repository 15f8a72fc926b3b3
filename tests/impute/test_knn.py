"""The nearest neighbours against a definition written out cell by cell, and against scikit-learn's."""

import numpy as np
import pytest
import sklearn.impute

from joints.impute import KNNImputer


def reference_distance(a, b, n_categories, metric, gamma, weights):
    """Both distances as the docstring of `KNNImputer` and the paper's appendix define them, feature by feature."""
    m, shared, continuous, categorical = len(a), 0, 0.0, 0.0
    for x, y, k, w in zip(a, b, n_categories, weights, strict=True):
        both = not (np.isnan(x) or np.isnan(y))
        shared += both
        if k and (both or metric == "published"):
            categorical += w * (not (both and x == y))
        elif both:
            continuous += w * ((x - y) ** 2 if metric == "published" else abs(x - y))
    if shared == 0:
        return np.inf
    if metric == "published":
        return np.sqrt(m / shared * continuous + gamma * categorical)
    return m / shared * (continuous + gamma * categorical)


def reference(train, test, n_categories, k, metric, gamma=1.0, weights=None):
    weights = np.ones(len(n_categories)) if weights is None else weights
    filled = test.copy()
    for r, row in enumerate(test):
        distances = np.array([reference_distance(row, t, n_categories, metric, gamma, weights) for t in train])
        for j in np.flatnonzero(np.isnan(row)):
            has_value = np.flatnonzero(~np.isnan(train[:, j]))
            usable = [i for i in has_value if np.isfinite(distances[i])]
            nearest = sorted(usable, key=lambda i: (round(distances[i], 9), i))[:k] or has_value
            values = train[nearest, j]
            filled[r, j] = np.bincount(values.astype(int)).argmax() if n_categories[j] else values.mean()
    return filled


def mixed(n_rows, seed, missing):
    rng = np.random.default_rng(seed)
    n_categories = np.array([0, 3, 0, 2, 0, 5])
    X = np.where(
        n_categories == 0, rng.normal(size=(n_rows, 6)), rng.integers(0, np.maximum(n_categories, 1), (n_rows, 6))
    )
    X[rng.random(X.shape) < missing] = np.nan
    return X, n_categories


@pytest.mark.parametrize("metric", ["published", "huang"])
@pytest.mark.parametrize("missing_in_training", [0.0, 0.4])
@pytest.mark.parametrize(("gamma", "weights"), [(1.0, None), (0.3, [1.0, 0.5, 2.0, 0.0, 1.5, 3.0])])
def test_equals_brute_force(metric, missing_in_training, gamma, weights):
    train, n_categories = mixed(60, 0, missing_in_training)
    test, _ = mixed(50, 1, 0.5)
    test[0] = np.nan
    domains = {j: int(k) for j, k in enumerate(n_categories) if k}
    imputer = KNNImputer(5, metric=metric, gamma=gamma, weights=weights, categorical_features=domains).fit(train)
    expected = reference(imputer.donors_.T, test, n_categories, 5, metric, gamma, weights)
    np.testing.assert_allclose(imputer.transform(test), expected, rtol=1e-12)


@pytest.mark.parametrize("missing_in_training", [0.0, 0.3])
def test_equals_scikit_learn_on_continuous_features(missing_in_training):
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(200, 6)), rng.normal(size=(100, 6))
    train[rng.random(train.shape) < missing_in_training] = np.nan
    test[rng.random(test.shape) < 0.4] = np.nan
    ours = KNNImputer(7).fit(train).transform(test)
    theirs = sklearn.impute.KNNImputer(n_neighbors=7).fit(train).transform(test)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_fewer_donors_than_neighbours():
    train = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 5.0]])
    np.testing.assert_array_equal(KNNImputer(7).fit(train).transform([[0.0, np.nan]]), [[0.0, 3.0]])


def test_donors_are_the_training_rows_in_some_order():
    train, n_categories = mixed(60, 0, 0.2)
    imputer = KNNImputer(categorical_features={j: int(k) for j, k in enumerate(n_categories) if k}).fit(train)
    in_order = train[np.lexsort(train.T)]
    np.testing.assert_array_equal(imputer.donors_.T[np.lexsort(imputer.donors_)], in_order)
    assert not np.array_equal(imputer.donors_.T, train, equal_nan=True)


@pytest.mark.parametrize("metric", ["published", "huang"])
def test_the_first_of_equally_distant_donors_have_no_more_say_than_others(metric):
    """A table whose first tenth is all that has ones, all rows equally far: about a tenth of any choice are ones."""
    train = np.column_stack([np.zeros(2000), np.arange(2000) < 200])
    ones = [KNNImputer(100, metric=metric).fit(train[k:]).transform([[0.0, np.nan]])[0, 1] for k in range(20)]
    assert 0.05 < np.mean(ones) < 0.15
    again = [KNNImputer(100, metric=metric).fit(train[k:]).transform([[0.0, np.nan]])[0, 1] for k in range(20)]
    assert ones == again


def test_equally_frequent_categories_give_the_first():
    train = np.array([[0.0, 2.0], [0.1, 1.0], [9.0, 0.0]])
    imputer = KNNImputer(2, categorical_features=[1]).fit(train)
    np.testing.assert_array_equal(imputer.transform([[0.0, np.nan]]), [[0.0, 1.0]])


@pytest.mark.parametrize("weights", [[1.0], [1, -1], [1, np.nan]])
def test_says_what_is_wrong_with_the_weights(weights):
    with pytest.raises(ValueError, match="weights has shape"):
        KNNImputer(weights=weights).fit(np.zeros((3, 2)))
