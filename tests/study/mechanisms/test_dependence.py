"""What the mechanisms depend on, and what they must not depend on; exact counts and nesting for tables of any shape."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed import mixed_table

from joints.study.entries import MechanismEntry, make, read_entries
from joints.study.mechanisms.blocks import MissingInBlocks
from joints.study.mechanisms.mar import MissingAtRandom
from joints.study.mechanisms.mnar import MissingNotAtRandom, SelfMasking
from joints.study.protocol import n_removed, without_cells

RATES = (0.1, 0.3, 0.5, 0.7, 0.9)


def mechanisms():
    from pathlib import Path

    from joints.runtime.config import read_yaml

    root = Path(__file__).resolve().parents[3]
    entries = read_entries(MechanismEntry, read_yaml(root / "config/mechanisms.yaml"))
    return {name: make(entry.cls, entry.parameters) for name, entry in entries.items()}


ALL = mechanisms()


def mask(mechanism, X, n_categories, rate, seed=0):
    """Which cells are removed."""
    order = mechanism.order(X, n_categories, np.random.default_rng(seed))
    removed = np.zeros(X.size, dtype=bool)
    removed[order[: n_removed(rate, X.size)]] = True
    return removed.reshape(X.shape)


def table(seed=0, n=2000):
    X, _, n_categories = mixed_table(np.random.default_rng(seed), n=n, continuous=3, categories=(3, 2, 5))
    return X, n_categories


@pytest.mark.parametrize("name", ALL)
@given(
    rows=st.integers(1, 12),
    continuous=st.integers(0, 6),
    categories=st.lists(st.integers(2, 4), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_exactly_the_stated_share_is_missing_and_rates_are_nested(name, rows, continuous, categories, seed):
    X, _, n_categories = mixed_table(np.random.default_rng(seed), rows, continuous, tuple(categories), missing=0.1)
    order = ALL[name].order(X, n_categories, np.random.default_rng(seed))
    complete, before = np.zeros_like(X), np.zeros(X.shape, dtype=bool)
    for rate in RATES:
        removed = np.isnan(without_cells(complete, order, rate))
        assert removed.sum() == int(np.floor(round(rate * X.size, 6)))
        assert not (before & ~removed).any()
        before = removed


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.7])
def test_a_mask_at_random_does_not_change_with_hidden_values_and_one_not_at_random_does(rate):
    X, n_categories = table(n=300)
    other, _ = table(seed=1, n=300)
    for name, stays in (("mar", True), ("mnar", False), ("mnar_self", False)):
        removed = mask(ALL[name], X, n_categories, rate)
        changed = np.where(removed, other, X)  # the observed values are the same
        assert np.array_equal(mask(ALL[name], changed, n_categories, rate), removed) == stays, name


def test_masks_completely_at_random_and_in_blocks_do_not_depend_on_values():
    X, n_categories = table(n=200)
    for name in ("mcar", "blocks"):
        same = mask(ALL[name], np.zeros_like(X), n_categories, 0.4)
        np.testing.assert_array_equal(mask(ALL[name], X, n_categories, 0.4), same)


def test_observed_features_stay_until_nothing_else_is_left():
    X, n_categories = table()
    removed = mask(MissingAtRandom(), X, n_categories, 0.8)
    (stays,) = np.flatnonzero(~removed.any(axis=0))  # one of six features
    assert removed[:, np.arange(6) != stays].mean() > 0.95
    almost_all = mask(MissingAtRandom(), X, n_categories, 0.9)
    assert 0 < almost_all[:, stays].mean() < 1 and almost_all[:, np.arange(6) != stays].all()
    rows = np.flatnonzero(almost_all[:, stays])
    assert rows.min() < 200 and rows.max() > 1800  # at random, not from the top


def test_features_that_stay_observed_decide():
    """Within a feature that goes missing, the odds follow a logistic regression on the ones that stay."""
    X, n_categories = np.random.default_rng(3).normal(size=(4000, 5)), np.zeros(5, dtype=np.int64)
    removed = mask(MissingAtRandom(slope=2), X, n_categories, 0.4)
    (stays,) = np.flatnonzero(~removed.any(axis=0))
    for j in np.delete(np.arange(5), stays):
        high, low = (removed[rows, j].mean() for rows in (X[:, stays] > 0.5, X[:, stays] < -0.5))
        assert abs(high - low) > 0.4
    without = mask(MissingAtRandom(slope=0), X, n_categories, 0.4)
    (stays,) = np.flatnonzero(~without.any(axis=0))
    for j in np.delete(np.arange(5), stays):
        assert abs(without[X[:, stays] > 0, j].mean() - without[X[:, stays] < 0, j].mean()) < 0.06


def test_the_odds_are_logistic():
    """The stated formula: the log-odds rise by the slope for every standard deviation."""
    X = np.random.default_rng(0).normal(size=(200_000, 1))
    removed = mask(SelfMasking(slope=2), X, np.zeros(1, dtype=np.int64), 0.5)
    share = np.array([removed[np.abs(X[:, 0] - at) < 0.05].mean() for at in (-1.0, 0.0, 1.0)])
    np.testing.assert_allclose(np.diff(np.log(share / (1 - share))), 2, atol=0.25)


def test_large_values_and_rare_categories_mask_themselves():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=3000), rng.choice(3, 3000, p=[0.7, 0.2, 0.1]).astype(float)])
    removed = mask(SelfMasking(), X, np.array([0, 3]), 0.3)
    assert removed[X[:, 0] > 1, 0].mean() > 0.6 > 0.1 > removed[X[:, 0] < -1, 0].mean()
    shares = [removed[X[:, 1] == k, 1].mean() for k in range(3)]
    assert shares[0] < shares[1] < shares[2] and shares[2] > 0.6


def test_categories_decide_as_numbers_do():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(3000, 6)).astype(float)
    n_categories = np.full(6, 3)
    for mechanism in (MissingAtRandom(), MissingNotAtRandom()):
        removed = mask(mechanism, X, n_categories, 0.4)
        gaps = [
            np.ptp([removed[X[:, k] == c, j].mean() for c in range(3)])
            for j in range(6)
            for k in range(6)
            if removed[:, j].any()
        ]
        assert max(gaps) > 0.3
        assert mask(type(mechanism)(slope=0), X, n_categories, 0.4).sum() == removed.sum()


@pytest.mark.parametrize("cls", [MissingAtRandom, MissingNotAtRandom])
def test_the_same_generator_is_the_same_mechanism_for_other_rows(cls):
    """So the missing values of training and test rows depend on the same features, in the same way."""
    rng = np.random.default_rng(0)
    shares = []
    for n in (4000, 3000):
        X = rng.normal(size=(n, 5))
        removed = mask(cls(), X, np.zeros(5, dtype=np.int64), 0.4, seed=6)
        shares.append(
            [[removed[X[:, k] > 0, j].mean() - removed[X[:, k] < 0, j].mean() for j in range(5)] for k in range(5)]
        )
    np.testing.assert_allclose(*shares, atol=0.08)
    assert np.max(shares) > 0.3 and np.min(shares) < -0.3


@pytest.mark.parametrize(
    ("m", "sizes"), [(1, [1]), (2, [1, 1]), (4, [2, 2]), (9, [3, 3, 3]), (16, [4] * 4), (5, [3, 2])]
)
def test_blocks_go_missing_together(m, sizes):
    X = np.zeros((500, m))
    removed = mask(MissingInBlocks(), X, np.zeros(m, dtype=np.int64), 0.3)
    bounds = np.cumsum([0, *sizes])
    partly = 0
    for first, last in itertools.pairwise(bounds):
        whole = removed[:, first:last]
        partly += int((whole.any(axis=1) & ~whole.all(axis=1)).sum())
    assert partly <= 1
    if len(sizes) > 1:
        shares = [removed[:, first].mean() for first in bounds[:-1]]
        assert max(shares) < 0.4


@pytest.mark.parametrize(
    ("cls", "wrong"),
    [(SelfMasking, {"slope": -1}), (MissingAtRandom, {"observed": 0}), (MissingAtRandom, {"observed": 1})],
)
def test_wrong_parameters(cls, wrong):
    with pytest.raises(ValueError, match="choose"):
        cls(**wrong)
