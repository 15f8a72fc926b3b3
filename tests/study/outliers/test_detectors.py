"""The kernel density of classes, and the certainty of a forest."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from joints.study.outliers.detectors import ClassKernelDensity, certainty


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat(["a", "b"], [30, 10])
    return X, y, rng.normal(size=(5, 3))


def by_hand(X, y, x, bandwidth):
    """Density of one row, each class by itself: mean over the training rows of a product of Gaussians."""
    known = ~np.isnan(x)
    kernels = stats.norm.pdf(x[known], X[:, known], bandwidth).prod(axis=1)
    return np.array([kernels[y == label].mean() for label in ("a", "b")])


@pytest.mark.parametrize("bandwidth", [0.3, 1.0])
def test_densities_by_hand(data, bandwidth):
    X, y, test = data
    test[1, 2], test[2, :2], test[3] = np.nan, np.nan, np.nan
    kde = ClassKernelDensity(bandwidth).fit(X, y)
    expected = np.array([by_hand(X, y, x, bandwidth) for x in test])
    np.testing.assert_allclose(np.exp(kde.class_log_densities(test)), expected)
    np.testing.assert_allclose(np.exp(kde.score_samples(test)), expected @ [0.75, 0.25])
    published = clone(kde).set_params(mixture="published").fit(X, y)
    np.testing.assert_allclose(published.score_samples(test), np.log(expected) @ [0.75, 0.25])


def test_densities_integrate_to_one(data):
    X, y, _ = data
    grid = np.linspace(-8, 8, 2001)
    rows = np.column_stack([grid, np.full((len(grid), 2), np.nan)])
    kde = ClassKernelDensity(0.5).fit(X, y)
    assert np.trapezoid(np.exp(kde.score_samples(rows)), grid) == pytest.approx(1, abs=1e-6)


def test_far_values_have_low_but_ordered_densities(data):
    X, y, _ = data
    far = ClassKernelDensity(0.1).fit(X, y).score_samples([[1e3, 0, 0], [1e4, 0, 0]])
    assert np.isfinite(far).all() and far[1] < far[0] < -1e7


def test_training_rows_that_lack_a_feature(data):
    X, y, test = data
    X[:5, 0] = np.nan
    expected = ClassKernelDensity().fit(X[5:], y[5:]).class_log_densities(test)
    np.testing.assert_allclose(ClassKernelDensity().fit(X, y).class_log_densities(test), expected)
    X[y == "b", 1] = np.nan  # nothing of this class has the feature
    assert (ClassKernelDensity().fit(X, y).class_log_densities(test)[:, 1] == -np.inf).all()


def test_constant_features(data):
    X, y, test = data
    with_constant = [np.column_stack([part, np.zeros(len(part))]) for part in (X, test)]
    loss = ClassKernelDensity().fit(X, y).score_samples(test) - ClassKernelDensity().fit(
        with_constant[0], y
    ).score_samples(with_constant[1])
    np.testing.assert_allclose(loss, 0.5 * np.log(2 * np.pi))


@pytest.mark.parametrize("parameters, reason", [({"bandwidth": 0}, "bandwidth"), ({"mixture": "log"}, "mixture is")])
def test_parameters_are_checked(data, parameters, reason):
    with pytest.raises(ValueError, match=reason):
        ClassKernelDensity(**parameters).fit(*data[:2])


def test_certainty():
    proba = np.array([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(certainty(proba), [-stats.entropy(p) for p in proba], atol=1e-15)
