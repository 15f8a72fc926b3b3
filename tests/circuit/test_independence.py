"""The independence tests have SciPy's p-values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from joints.circuit.independence import (
    EXACT_ROWS,
    chi2_tail,
    chi_square,
    kendall,
    kendall_of_bits,
    kruskal,
    mean_ranks,
    order_bits,
    order_bits_of_sorted,
)


def by_bits(x, y):
    n = len(x)
    above_x, below_x, above_y, below_y = (np.empty((n, (n + 63) // 64), dtype=np.uint64) for _ in range(4))
    ties_x = order_bits_of_sorted(x, np.argsort(x), above_x, below_x)
    ties_y = order_bits_of_sorted(y, np.argsort(y), above_y, below_y)
    if n <= 64:
        above, below = np.empty_like(above_x), np.empty_like(below_x)
        assert order_bits(x, above, below) == ties_x
        np.testing.assert_array_equal([above, below], [above_x, below_x])
    return kendall_of_bits(n, above_x, ties_x, above_y, below_y, ties_y)


@given(st.integers(0, 2**32 - 1), st.integers(2, 150), st.sampled_from([None, 0, 1]), st.sampled_from([0, 0.4, 3, -2]))
@settings(max_examples=200)
def test_kendall(seed, n, decimals, slope):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = slope * x + rng.normal(size=n)
    if decimals is not None:
        x, y = np.round(x, decimals), np.round(y, decimals)
    expected = stats.kendalltau(x, y).pvalue
    order = np.argsort(x, kind="stable")
    np.testing.assert_allclose(kendall(x[order], y[order]), expected, rtol=0, atol=1e-12, equal_nan=True)
    np.testing.assert_allclose(by_bits(x, y), expected, rtol=0, atol=1e-12, equal_nan=True)


def test_kendall_of_nearly_perfect_orders():
    for n in (5, EXACT_ROWS, EXACT_ROWS + 1, 60):
        x = np.arange(float(n))
        one_swap = x.copy()
        one_swap[:2] = 1.0, 0.0
        for y in (x, -x, one_swap):
            assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).pvalue, rel=1e-9)
            assert by_bits(x, y) == pytest.approx(stats.kendalltau(x, y).pvalue, rel=1e-9)


def test_kendall_of_a_constant():
    x = np.arange(10.0)
    assert np.isnan(kendall(x, np.ones(10)))
    assert np.isnan(by_bits(x, np.ones(10)))


@given(st.integers(0, 2**32 - 1), st.integers(3, 120), st.integers(2, 5), st.booleans())
@settings(max_examples=150)
def test_kruskal(seed, n, k, ties):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n)
    x = rng.normal(size=n) + rng.choice([0.0, 1.0]) * codes
    x = np.round(x) if ties else x
    groups = [x[codes == c] for c in range(k) if (codes == c).any()]
    ranks = np.empty(n)
    ties = mean_ranks(x, np.argsort(x), ranks)
    np.testing.assert_array_equal(ranks, stats.rankdata(x))
    p = kruskal(ranks, ties, codes, np.empty(k), np.empty(k))
    if len(groups) < 2 or x.min() == x.max():
        assert np.isnan(p)
        return
    assert p == pytest.approx(stats.kruskal(*groups).pvalue, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 120), st.integers(2, 6), st.integers(2, 4))
@settings(max_examples=150)
def test_chi_square(seed, n, n_a, n_b):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, n_a, n)
    b = np.where(rng.random(n) < rng.random(), a % n_b, rng.integers(0, n_b, n))
    table = np.zeros((n_a, n_b))
    np.add.at(table, (a, b), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    assert chi_square(a, b, np.empty((n_a, n_b)), np.empty(n_a), np.empty(n_b)) == pytest.approx(
        stats.chi2_contingency(table).pvalue, abs=1e-12
    )


@pytest.mark.parametrize("dof", [1, 2, 3, 7, 30, 101])
def test_tail_of_chi_square(dof):
    x = np.array([0.0, 1e-9, 0.1, 1.0, dof, 3.0 * dof, 200.0])
    np.testing.assert_allclose([chi2_tail(v, dof) for v in x], stats.chi2.sf(x, dof), rtol=1e-10, atol=1e-300)
