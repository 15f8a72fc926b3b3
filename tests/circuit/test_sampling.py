"""Samples follow the density."""

import numpy as np
import pandas as pd
import pytest
from mixed import mixed_table, published
from scipy import stats
from sklearn.datasets import load_iris

from joints import GenerativeForestClassifier
from joints.circuit import sampling
from joints.circuit.posterior import posterior
from joints.circuit.sampling import truncated_normal


@pytest.fixture(scope="module")
def gef():
    X, y, _ = mixed_table(np.random.default_rng(0), n=150, continuous=2, categories=(3, 2))
    return published(5, categorical_features={2: 3, 3: 2}, random_state=0).fit(X, y)


def marginal_cdf(gef, f, given, points):
    """Distribution function of a continuous feature by summing its conditional density over a fine grid."""
    edges = np.linspace(-12, 12, 24_001)
    middles = (edges[1:] + edges[:-1]) / 2
    rows = np.repeat(np.asarray(given, dtype=float)[None], len(middles), axis=0)
    rows[:, f] = middles
    density = np.exp(gef.score_samples(rows))
    total = np.concatenate([[0.0], np.cumsum(density)]) * (edges[1] - edges[0])
    return np.interp(points, edges, total / total[-1])


@pytest.mark.parametrize("given", [[np.nan] * 4, [np.nan, 0.4, 1.0, np.nan]], ids=["free", "conditional"])
def test_draws_follow_the_distribution(gef, given):
    n = 4000
    X, y = gef.sample(n, given=None if np.isnan(given).all() else [given], random_state=1)
    assert X.shape == (n, 4)
    observed = ~np.isnan(given)
    np.testing.assert_array_equal(X[:, observed], np.repeat([np.array(given)[observed]], n, axis=0))
    if np.isnan(given[0]):
        assert stats.kstest(X[:, 0], lambda points: marginal_cdf(gef, 0, given, points)).pvalue > 1e-3
    for f, k in ((2, 3), (3, 2)):
        if np.isnan(given[f]):
            rows = np.repeat(np.array(given)[None], k, axis=0)
            rows[:, f] = np.arange(k)
            p = np.exp(gef.score_samples(rows))
            assert stats.chisquare(np.bincount(X[:, f].astype(int), minlength=k), n * p / p.sum()).pvalue > 1e-3
    mixture = np.exp(gef.log_joint([given])[0])
    possible = mixture > 0
    drawn = np.bincount(y, minlength=3)
    assert not drawn[~possible].any()
    assert stats.chisquare(drawn[possible], n * mixture[possible] / mixture.sum()).pvalue > 1e-3


def test_features_of_a_draw_belong_together(gef):
    """The joint of two features and the class, not only the marginals: the mean log-density is the model's own."""
    X, _ = gef.sample(4000, random_state=2)
    Z, _ = gef.sample(4000, random_state=3)
    ours, other = gef.score_samples(X), gef.score_samples(Z)
    assert stats.ks_2samp(ours, other).pvalue > 1e-3
    shuffled = np.column_stack([X[:, 0], X[np.random.default_rng(0).permutation(4000), 1], X[:, 2:]])
    assert gef.score_samples(shuffled).mean() < ours.mean() - 0.01


def test_a_seed_gives_the_same_draws(gef):
    a, b = gef.sample(5, random_state=0), gef.sample(5, random_state=0)
    np.testing.assert_array_equal(a[0], b[0])
    np.testing.assert_array_equal(a[1], b[1])


def test_several_draws_for_several_rows(gef):
    given = np.array([[0.5, np.nan, 1.0, 0.0], [np.nan, 2.0, np.nan, 1.0]])
    X, y = gef.sample(3, given=given, random_state=0)
    assert len(X) == len(y) == 6
    np.testing.assert_array_equal(X[:3, 0], 0.5)
    np.testing.assert_array_equal(X[3:, 1], 2.0)
    assert not np.isnan(X).any()


def test_draws_come_in_the_users_own_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=60), "colour": pd.Categorical(rng.choice(["red", "blue"], 60))})
    gef = published(5, random_state=0).fit(frame, np.where(frame["colour"] == "red", "yes", "no"))
    X, y = gef.sample(20, random_state=0)
    assert list(X.columns) == ["size", "colour"]
    assert X["colour"].dtype == frame["colour"].dtype
    assert set(y) <= {"yes", "no"}
    assert gef.predict(X).shape == (20,)


def test_truncated_normal_in_the_tails():
    random = np.random.RandomState(0)
    for low, high in ((-1.0, 0.5), (6.0, 7.0), (-8.0, -6.0), (9.0, np.inf)):
        ones = np.ones(3000)
        draws = truncated_normal(0 * ones, ones, low * ones, high * ones, random)
        assert ((draws > low) & (draws <= high)).all()
        assert stats.kstest(draws, stats.truncnorm(low, high).cdf).pvalue > 1e-3


@pytest.mark.parametrize("low, high", [(40.0, np.inf), (-np.inf, -40.0), (300.0, 300.01), (-1e9, -100.0)])
def test_truncated_normal_very_far_out(low, high):
    ones = np.ones(3000)
    draws = truncated_normal(0 * ones, ones, low * ones, high * ones, np.random.RandomState(0))
    assert ((draws > low) & (draws <= high)).all()
    near, far = (low, high) if low > 0 else (-high, -low)
    # the tail falls like exp(-near (x - near)), with a relative error of 1 / near^2
    z, end = near * (np.abs(draws) - near), -np.expm1(-near * (far - near))
    assert stats.kstest(z, lambda z: -np.expm1(-z) / end).pvalue > 1e-3


def test_truncated_normal_beyond_the_square_root_of_the_largest_number():
    draws = truncated_normal(np.zeros(3), np.ones(3), np.full(3, 1e160), np.full(3, np.inf), np.random.RandomState(0))
    assert np.isfinite(draws).all() and (draws >= 1e160).all()


@pytest.mark.parametrize("leaves", ["factorised", "lspn"])
def test_draws_given_the_impossible_follow_the_reached_leaves(leaves):
    """As `predict_proba` does: Friedman's method."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), rng.integers(0, 2, 200), rng.normal(size=200)]).astype(float)
    y = (rng.random(200) < 0.2 + 0.6 * X[:, 0]).astype(int)
    options = {"smoothing": 0.0, "leaves": leaves, "combine": "mixture", "categorical_features": {0: 2, 1: 3}}
    model = published(5, max_depth=2, random_state=0, **options).fit(X, y)
    given = np.array([[0.0, 2.0, np.nan]])
    assert model.score_samples(given) == -np.inf
    drawn, classes = model.sample(3000, given=given, random_state=0)
    assert np.isfinite(drawn).all()
    expected = model.predict_proba(given)[0]
    assert stats.chisquare(np.bincount(classes, minlength=2), 3000 * expected).pvalue > 1e-3


def test_leaves_drawn_tree_by_tree_have_the_weights_of_the_posterior():
    X, y = load_iris(return_X_y=True)
    gef = GenerativeForestClassifier(6, min_sd=0.3, smoothing=1e-3, combine="mixture", random_state=0).fit(X, y)
    rows = X[[3, 70, 120]].copy()
    rows[:, [1, 2]] = np.nan
    given, n = gef._given(rows), 100_000
    expected = posterior(given, -1, gef.forest_, gef.leaves_, "mixture")
    random = np.random.RandomState(7)
    for i, drawn in enumerate(sampling.draw_leaves_by_tree(given, n, gef.forest_, gef.leaves_, random, 1)):
        own = slice(expected.start[i], expected.start[i + 1])
        weight = np.bincount(expected.component[own], expected.weight[own], len(gef.leaves_.log_weight))
        np.testing.assert_allclose(np.bincount(drawn, minlength=len(weight)) / n, weight, atol=0.005)
