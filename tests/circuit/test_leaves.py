"""Leaf densities."""

import numpy as np
import pytest
from mixed import mixed_table, published, published_from
from scipy import stats
from sklearn.datasets import load_iris

from joints import ForestClassifier, LearnSPNClassifier
from joints.circuit.leaves import cells_of_tree, log_normal_mass
from joints.forest.arrays import leaves_of_training_rows


@pytest.mark.parametrize("low, high", [(-1, 2), (-np.inf, 0.3), (0.5, np.inf), (-np.inf, np.inf), (5, 9), (-9, -5)])
def test_normal_mass(low, high):
    expected = stats.norm.logcdf(-low) if high == np.inf else np.log(np.diff(stats.norm.cdf([low, high]))[0])
    if low >= 5:
        expected = np.log(stats.norm.sf(low) - stats.norm.sf(high))
    assert log_normal_mass(float(low), float(high)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("low", [-3.0, 0.0, 1.2, 20.0])
@pytest.mark.parametrize("width", [1e-12, 1e-8, 1e-6, 1e-4, 1e-3])
def test_mass_of_narrow_intervals(low, width):
    high = low + width
    middle = 0.5 * (low + high)
    # expand the density around the middle: the next term is below 1e-6 of the second
    second = 1 + (middle**2 - 1) * (high - low) ** 2 / 24
    expected = np.log(high - low) + stats.norm.logpdf(middle) + np.log(second)
    # a difference of two distribution functions has at best their rounding error over the mass
    assert log_normal_mass(low, high) == pytest.approx(expected, abs=1e-8)


def test_leaves_follow_their_rows():
    rng = np.random.default_rng(0)
    X, y, n_categories = mixed_table(rng, n=300, missing=0.15)
    model = ForestClassifier(n_estimators=3, categorical_features={2: 3, 3: 2}, random_state=0, min_samples_leaf=8).fit(
        X, y
    )
    gef = published_from(model, min_sd=0.1, smoothing=0.5)
    forest, parameters, offset = model.forest_, gef.leaves_.parameters, gef.leaves_.offset
    for tree in range(3):
        leaf_of, weights = leaves_of_training_rows(forest, model.training_data_, tree)
        first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        low, high, allowed = cells_of_tree(forest, tree, n_categories)
        for leaf in range(first, last):
            rows = np.repeat(np.flatnonzero(leaf_of == leaf), weights[leaf_of == leaf])
            values = X[rows, 0][~np.isnan(X[rows, 0])]
            sd = max(values.std(), 0.1 * np.nanstd(X[:, 0]))
            mean, h, c = parameters[leaf, offset[0] : offset[0] + 3]
            assert (mean, h) == (pytest.approx(values.mean()), pytest.approx(-0.5 / sd**2))
            a, b = (low[leaf - first, 0] - mean) / sd, (high[leaf - first, 0] - mean) / sd
            assert c == pytest.approx(stats.truncnorm.logpdf(mean, a, b, loc=mean, scale=sd))
            colours = X[rows, 2][~np.isnan(X[rows, 2])]
            counts = (np.bincount(colours.astype(int), minlength=3) + 0.5) * allowed[leaf - first, :3]
            with np.errstate(divide="ignore"):
                np.testing.assert_allclose(parameters[leaf, offset[2] : offset[2] + 3], np.log(counts / counts.sum()))


def test_leaf_without_a_value_takes_the_feature_s_own():
    """A feature of which a leaf has seen nothing: mean and spread of all training rows, inside the cell."""
    X = np.array([[0.0, 1.0], [0.1, 3.0], [1.0, np.nan], [1.1, np.nan]])
    gef = published(1, bootstrap=False, max_features=None).fit(X, [0, 0, 1, 1])
    leaf = gef.forest_.leaf[gef.forest_.right[0]]
    mean, h, c = gef.leaves_.parameters[leaf, 3:]
    assert (mean, h) == (2.0, -0.5)  # values 1 and 3: mean 2, standard deviation 1
    assert c == pytest.approx(stats.norm.logpdf(0))


def test_rows_without_a_value_may_count():
    """One leaf of 8 rows: colour 0 three times, colour 1 once, four without.  If no row lacks it, all is the same."""
    X = np.array([[0, 0, 0, 1, np.nan, np.nan, np.nan, np.nan], [0, 1, 0, 1, 0, 1, 0, 1]], dtype=float).T
    y = [0, 1] * 4
    options = {"bootstrap": False, "min_samples_leaf": 8, "categorical_features": [0, 1], "smoothing": 0.0}
    plain, counted = (published(1, count_missing=c, **options).fit(X, y) for c in (False, True))
    np.testing.assert_allclose(np.exp(plain.leaves_.parameters[0]), [3 / 4, 1 / 4, 1 / 2, 1 / 2])
    np.testing.assert_allclose(np.exp(counted.leaves_.parameters[0]), [3 / 8, 1 / 8, 1 / 2, 1 / 2])
    same = [
        published(3, count_missing=c, random_state=0, categorical_features=[0]).fit(X[:, 1:], y) for c in (False, True)
    ]
    np.testing.assert_array_equal(same[0].leaves_.parameters, same[1].leaves_.parameters)


def test_minimum_spread_is_in_units_of_the_feature():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    scale, shift = np.array([1e-6, 1.0, 1e5]), np.array([3.0, 0.0, -1e6])
    plain = published(10, random_state=0).fit(X, y)
    scaled = published(10, random_state=0).fit(X * scale + shift, y)
    X[::2, 1] = np.nan
    X[1::3, 0] = np.nan
    np.testing.assert_allclose(scaled.predict_proba(X * scale + shift), plain.predict_proba(X), atol=1e-7)
    jacobian = np.where(np.isnan(X), 0.0, np.log(scale)).sum(axis=1)
    np.testing.assert_allclose(scaled.score_samples(X * scale + shift) + jacobian, plain.score_samples(X), atol=1e-6)


@pytest.mark.parametrize("leaves", ["factorised", "lspn"])
def test_the_smallest_sd_in_units_of_the_feature_or_in_its_own(leaves):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [1.0, 0.01]
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    options = {"n_estimators": 2, "leaves": leaves, "max_depth": 1, "min_sd": 2.0, "random_state": 0}
    far = np.array([[0.0, 0.2]])
    near = np.array([[0.0, 0.0]])
    relative = published(**options).fit(X, y)
    own = published(**options, relative_sd=False).fit(X, y)
    loss = [(model.score_samples(near) - model.score_samples(far))[0] for model in (relative, own)]
    # a step of 0.2 is about ten of the smallest deviations in units of the feature, a tenth of one in its own
    assert loss[0] > 30 and loss[1] == pytest.approx(0.5 * 0.1**2, abs=2e-3)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-140, 1e140])
@pytest.mark.parametrize("leaves", ["factorised", "lspn"])
def test_extreme_units(scale, leaves):
    """Very small and very large numbers, up to 1e150: all is finite, and complete rows get the forest's answer."""
    X, y, _ = mixed_table(np.random.default_rng(0), n=200, continuous=3, categories=())
    forest = ForestClassifier(5, random_state=0, max_depth=3).fit(X * scale, y)
    gef = published_from(forest, leaves=leaves)
    if leaves == "factorised":
        np.testing.assert_allclose(gef.predict_proba(X * scale), forest.predict_proba(X * scale), atol=1e-12)
    Z = X * scale
    Z[::2, 1] = np.nan
    circuit = LearnSPNClassifier(random_state=0).fit(Z, y)
    for model in (gef, circuit):
        assert np.isfinite(model.score_samples(Z)).all()
        np.testing.assert_allclose(model.predict_proba(Z).sum(axis=1), 1.0)
        drawn, _ = model.sample(20, given=Z[:3], random_state=0)
        assert np.isfinite(drawn).all()


def test_numbers_too_large_for_gaussians():
    """The forest takes them; circuits refuse them in training, and count where they are asked about them."""
    X, y, _ = mixed_table(np.random.default_rng(0), n=100, continuous=2, categories=())
    forest = ForestClassifier(5, random_state=0).fit(X * [1.0, 1e300], y)
    plain = ForestClassifier(5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.predict_proba(X * [1.0, 1e300]), plain.predict_proba(X))
    with pytest.raises(ValueError, match=r"Feature 1 .* beyond 1e"):
        published_from(forest)
    with pytest.raises(ValueError, match=r"Feature 1 .* beyond 1e"):
        LearnSPNClassifier().fit(X * [1.0, 1e300], y)
    far = X[:5] * [1.0, 1e300]
    for combine in ("average", "mixture"):
        gef = published_from(plain, combine=combine)
        np.testing.assert_allclose(gef.predict_proba(far), plain.predict_proba(far), atol=1e-12)
    assert np.isfinite(gef.sample(2, given=[[np.nan, 1e300]], random_state=0)[0]).all()


@pytest.mark.parametrize("truncate", [False, True])
def test_mass_of_learned_leaves(truncate):
    """Cut to the cell, the densities of LearnSPN integrate to one; otherwise what is outside of the cell is lost."""
    X, y = load_iris(return_X_y=True)
    options = {"leaves": "lspn", "truncate": truncate, "max_depth": 2, "random_state": 0}
    gef = published(5, **options).fit(X[:, 2:], y)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    points, w = [], []
    for f in (0, 1):
        edges = np.unique(np.append(np.linspace(-20, 30, 101), gef.forest_.threshold[gef.forest_.feature == f]))
        points.append(((edges[1:] + edges[:-1])[:, None] / 2 + np.diff(edges)[:, None] / 2 * nodes).ravel())
        w.append((np.diff(edges)[:, None] / 2 * weights).ravel())
    mesh = np.array(np.meshgrid(*points, indexing="ij")).reshape(2, -1).T
    mass = np.exp(gef.score_samples(mesh)) @ np.outer(*w).ravel()
    if truncate:
        assert mass == pytest.approx(1.0, abs=1e-9)
    else:
        assert 0.5 < mass < 0.9
