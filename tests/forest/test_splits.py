"""The best split of a node equals plain enumeration of all splits."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from joints.forest.splits import (
    EXHAUSTIVE_GROUPS,
    best_ordered_subset,
    best_subset,
    best_threshold,
    published_order,
)


def score(left, right):
    """n + sum_k L_k^2 / |L| + sum_k R_k^2 / |R|, the larger the purer."""
    return left.sum() + right.sum() + (left**2).sum() / left.sum() + (right**2).sum() / right.sum()


def gini_weighted(left, right):
    """The textbook's weighted Gini impurity, the smaller the purer."""
    n = left.sum() + right.sum()
    return sum(side.sum() / n * (1 - ((side / side.sum()) ** 2).sum()) for side in (left, right))


def subsets(n):
    """Every way to put categories 0, ..., n - 1 on two sides, both not empty, once."""
    for size in range(1, n):
        for chosen in combinations(range(n - 1), size):
            mask = np.zeros(n, dtype=bool)
            mask[list(chosen)] = True
            yield mask


def best_by_enumeration(counts):
    present = counts[counts.sum(axis=1) > 0]
    return max(score(present[mask].sum(axis=0), present[~mask].sum(axis=0)) for mask in subsets(len(present)))


def keys_of(ranks, classes, weights):
    return (
        (ranks.astype(np.uint64) << np.uint64(32))
        | (classes.astype(np.uint64) << np.uint64(16))
        | weights.astype(np.uint64)
    )


@given(st.data())
@settings(max_examples=200)
def test_threshold(data):
    n = data.draw(st.integers(2, 40))
    n_classes = data.draw(st.integers(2, 4))
    ranks = np.sort(np.array(data.draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))))
    classes = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    min_rows = data.draw(st.integers(1, 3))
    one_hot = np.eye(n_classes)[classes] * weights[:, None]
    options = [
        (score(one_hot[ranks <= t].sum(axis=0), one_hot[ranks > t].sum(axis=0)), t)
        for t in np.unique(ranks)[:-1]
        if min(weights[ranks <= t].sum(), weights[ranks > t].sum()) >= min_rows
    ]
    best, rank = best_threshold(keys_of(ranks, classes, weights), n, one_hot.sum(axis=0), min_rows)
    if not options:
        assert best == -np.inf
        return
    assert best == pytest.approx(max(s for s, _ in options), rel=1e-12)
    assert dict((t, s) for s, t in options)[rank] == pytest.approx(best, rel=1e-12)


def test_score_ranks_as_gini_does():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 20, size=(6, 3)).astype(float)
    pairs = [(counts[mask].sum(axis=0), counts[~mask].sum(axis=0)) for mask in subsets(6)]
    by_score = np.argsort([-score(*pair) for pair in pairs], kind="stable")
    by_gini = np.argsort([gini_weighted(*pair) for pair in pairs], kind="stable")
    assert by_score.tolist() == by_gini.tolist()


counts_tables = st.integers(2, 4).flatmap(
    lambda n_classes: st.lists(
        st.lists(st.integers(0, 6), min_size=n_classes, max_size=n_classes), min_size=2, max_size=7
    )
)


@given(counts_tables)
@settings(max_examples=300)
def test_best_subset_is_the_best_of_all(table):
    counts = np.array(table, dtype=float)
    goes_left = np.empty(len(counts), dtype=bool)
    best = best_subset(counts, 1, goes_left)
    present = counts.sum(axis=1) > 0
    pure = (counts > 0).any(axis=0).sum() < 2
    if present.sum() < 2 or pure:  # nothing to gain
        assert best == -np.inf
        return
    assert best == pytest.approx(best_by_enumeration(counts), rel=1e-12)
    assert score(counts[goes_left].sum(axis=0), counts[~goes_left].sum(axis=0)) == pytest.approx(best, rel=1e-12)
    assert not goes_left[~present].any()  # categories that do not occur join the right side ...
    assert not goes_left[np.flatnonzero(present)[-1]]  # ... that of the last category


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=8))
@settings(max_examples=300)
def test_two_classes_ordered_by_proportion_are_optimal(table):
    counts = np.array(table, dtype=float)
    goes_left = np.empty(len(counts), dtype=bool)
    best = best_ordered_subset(counts, True, 1, goes_left)
    present = counts.sum(axis=1) > 0
    if present.sum() < 2:
        assert best == -np.inf
        return
    assert best == pytest.approx(best_by_enumeration(counts), rel=1e-12)
    assert goes_left[~present].all()  # with two classes, categories that do not occur join the left side


def test_order_by_count_is_the_published_one():
    counts = np.array([[90.0, 10.0], [0.0, 5.0], [40.0, 60.0]])
    goes_left = np.empty(3, dtype=bool)
    by_count = best_ordered_subset(counts, False, 1, goes_left)
    assert goes_left.tolist() in ([True, True, False], [False, True, False])
    assert by_count < best_ordered_subset(counts, True, 1, goes_left)
    assert goes_left.tolist() == [True, False, False]


def test_published_side_of_categories_that_do_not_occur():
    """Order by count, then code; the first of equally good cuts: absent codes behind the last on the left go right."""
    counts = np.array([[0, 0], [4, 0], [0, 0], [1, 5], [0, 0], [3, 0], [0, 0]], dtype=float)
    goes_left = np.empty(7, dtype=bool)
    best_ordered_subset(counts, False, 1, goes_left)
    assert goes_left.tolist() == [True, True, True, False, True, True, False]
    counts = np.array([[0, 0], [9, 1], [0, 0], [1, 9], [0, 0]], dtype=float)  # all that occur have rows of class 1
    best_ordered_subset(counts, False, 1, goes_left[:5])
    assert goes_left[:5].tolist() == [True, True, True, False, True]


@given(st.lists(st.integers(0, 4), min_size=2, max_size=15))
def test_published_order_keeps_up_to_15_equal_categories_in_the_order_of_their_codes(ones):
    counts = np.column_stack([np.ones(len(ones)), ones])
    assert published_order(counts).tolist() == np.argsort(ones, kind="stable").tolist()


def test_published_order_moves_equal_categories_about_beyond_15():
    """What dresses rests on (features of 16 to 24 categories): a change of numba's sort must not pass unnoticed."""
    absent = np.zeros((16, 2))
    assert published_order(absent).tolist() == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15]
    counts = np.zeros((17, 2))
    counts[[3, 8, 12]] = [[5, 0], [1, 4], [0, 1]]
    assert published_order(counts).tolist() == [15, 14, 13, 11, 10, 9, 7, 16, 5, 4, 3, 2, 1, 0, 6, 12, 8]
    goes_left = np.empty(17, dtype=bool)
    best_ordered_subset(counts, False, 1, goes_left)
    assert np.flatnonzero(goes_left).tolist() == [3, 4, 5, 7, 9, 10, 11, 13, 14, 15, 16]


def test_many_categories_and_classes_come_close_to_the_optimum():
    """Beyond the exhaustive search: how much of the possible gain the search finds, on the hardest kind of table."""
    rng = np.random.default_rng(1)
    shares = []
    for n_classes in (3, 5, 11):
        for _ in range(4):
            counts = rng.poisson(rng.gamma(0.5, 6, size=(EXHAUSTIVE_GROUPS + 2, n_classes))).astype(float) + 1
            goes_left = np.empty(len(counts), dtype=bool)
            found = best_subset(counts, 1, goes_left)
            parent = counts.sum() + (counts.sum(axis=0) ** 2).sum() / counts.sum()
            shares.append((found - parent) / (_exhaustive(counts) - parent))
    assert min(shares) > 0.97
    assert np.mean(shares) > 0.995
    assert max(shares) <= 1 + 1e-9


def _exhaustive(counts):
    """All 2^(k-1) - 1 partitions at once, by matrix products."""
    k = len(counts)
    best = -np.inf
    masks = np.arange(1, 1 << (k - 1))
    for part in np.array_split(masks, 8):
        left = ((part[:, None] >> np.arange(k)) & 1) @ counts
        right = counts.sum(axis=0) - left
        value = (left**2).sum(1) / left.sum(1) + (right**2).sum(1) / right.sum(1)
        best = max(best, value.max())
    return counts.sum() + best
