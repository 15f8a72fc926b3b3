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
    count_table,
    kendall,
    kendall_of_bits,
    kendall_of_table,
    kruskal,
    order_bits,
    order_bits_of_sorted,
    take_ranks,
)


def ranked(x):
    """Codes, order, doubled ranks, ties and the number of different values."""
    codes = (np.unique(x, return_inverse=True)[1] * 3 + 1).astype(np.int32)
    order, ranks, ties = np.argsort(x), np.empty(len(x), dtype=np.int32), np.empty(4)
    n_different = take_ranks(codes, order, ranks, ties)
    return codes, order, ranks, ties, n_different


def bits_of(x):
    n = len(x)
    codes, order, ranks, ties, _ = ranked(x)
    above, below = (np.empty((n, (n + 63) // 64), dtype=np.uint64) for _ in range(2))
    order_bits_of_sorted(codes, order, above, below)
    if n <= 64:
        others = np.empty_like(above), np.empty_like(below), np.empty_like(ranks), np.empty_like(ties)
        order_bits(codes, *others)
        for other, own in zip(others, (above, below, ranks, ties), strict=True):
            np.testing.assert_array_equal(other, own)
    return above, below, ties


def by_bits(x, y):
    (x_above, _, x_ties), (y_above, y_below, y_ties) = bits_of(x), bits_of(y)
    return kendall_of_bits(len(x), x_above, x_ties, y_above, y_below, y_ties)


def by_table(x, y):
    """With rows in between that lack a value."""
    (a, *_, n_a), (b, *_, n_b) = ranked(x), ranked(y)
    a, b = np.insert(a, [0, 2], [-1, 0]).astype(np.int32), np.insert(b, [0, 2], [0, -1]).astype(np.int32)
    return kendall_of_table(a, b, np.empty((n_a, n_b), dtype=np.int32), np.empty(n_b, dtype=np.int64))


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
    np.testing.assert_array_equal(by_bits(x, y), kendall(x[order], y[order]))
    np.testing.assert_array_equal(by_table(x, y), kendall(x[order], y[order]))


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
    assert np.isnan(by_table(x, np.ones(10)))


@given(st.integers(0, 2**32 - 1), st.integers(3, 120), st.integers(2, 5), st.booleans())
@settings(max_examples=150)
def test_kruskal(seed, n, k, ties):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n)
    x = rng.normal(size=n) + rng.choice([0.0, 1.0]) * codes
    x = np.round(x) if ties else x
    groups = [x[codes == c] for c in range(k) if (codes == c).any()]
    _, _, ranks, ties, n_different = ranked(x)
    assert n_different == len(np.unique(x))
    np.testing.assert_array_equal(ranks / 2, stats.rankdata(x))
    p = kruskal(ranks, ties, codes.astype(np.int32), np.bincount(codes, minlength=k))
    if len(groups) < 2 or x.min() == x.max():
        assert np.isnan(p)
        return
    assert p == pytest.approx(stats.kruskal(*groups).pvalue, abs=1e-12)


def sets_of(codes, n_categories):
    """The rows of each category as bits."""
    bits = np.zeros((n_categories, 64 * ((len(codes) + 63) // 64)), dtype=np.uint8)
    bits[codes, np.arange(len(codes))] = 1
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


@given(st.integers(0, 2**32 - 1), st.integers(2, 120), st.integers(2, 6), st.integers(2, 4))
@settings(max_examples=150)
def test_chi_square(seed, n, n_a, n_b):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, n_a, n)
    b = np.where(rng.random(n) < rng.random(), a % n_b, rng.integers(0, n_b, n))
    table = np.zeros((n_a, n_b))
    np.add.at(table, (a, b), 1)
    counts, rows, columns = np.empty((n_a, n_b)), np.empty(n_a), np.empty(n_b)
    found = count_table(sets_of(a, n_a), sets_of(b, n_b), counts, rows, columns)
    np.testing.assert_array_equal(counts, table)
    assert found == (n, (table.sum(axis=1) > 0).sum(), (table.sum(axis=0) > 0).sum())
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    dof = (table.shape[0] - 1) * (table.shape[1] - 1)
    assert chi_square(counts, rows, columns, float(n), dof) == pytest.approx(
        stats.chi2_contingency(table).pvalue, abs=1e-12
    )


@pytest.mark.parametrize("dof", [1, 2, 3, 7, 30, 101])
def test_tail_of_chi_square(dof):
    x = np.array([0.0, 1e-9, 0.1, 1.0, dof, 3.0 * dof, 200.0])
    np.testing.assert_allclose([chi2_tail(v, dof) for v in x], stats.chi2.sf(x, dof), rtol=1e-10, atol=1e-300)
