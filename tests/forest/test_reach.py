"""Reached leaves: walking and bit vectors give the same, and what the cells say."""

import numpy as np
import pytest
from mixed import hide, mixed_table

from joints import ForestClassifier
from joints.circuit.leaves import cells_of_tree
from joints.forest import reach
from joints.forest.reach import bit_table, different_rows, friedman_proba, look_up_leaves, walk_to_leaves


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X, y, n_categories = mixed_table(rng, n=400, continuous=3, categories=(5, 2), missing=0.05)
    X[:, 0] = np.round(X[:, 0])  # many equal values, so that thresholds repeat
    domains = {j: int(k) for j, k in enumerate(n_categories) if k}
    return ForestClassifier(n_estimators=6, categorical_features=domains, random_state=0).fit(X, y)


def reached_leaves(model, x, tree, n_rows):
    """The leaves by walking (n_rows = 0) or by bit vectors (n_rows large)."""
    forest, k = model.forest_, model.features_.n_categories
    n_leaves = forest.leaf_start[tree + 1] - forest.leaf_start[tree]
    table = bit_table(n_rows, forest, tree, k)
    assert (len(table.bits) > 0) == (n_rows >= reach.MANY_ROWS)
    out, room = (np.empty(n_leaves + 64, dtype=np.int64) for _ in range(2))
    n = look_up_leaves(x, table, n_leaves, room, out) if n_rows else walk_to_leaves(x, forest, tree, room, out)
    return out[:n].tolist()


def leaves_around(x, cells, n_categories):
    """The leaves whose cells agree with the observed features of a row."""
    category_start = np.concatenate([[0], np.cumsum(n_categories)])
    inside = np.ones(len(cells.low), dtype=bool)
    for f in np.flatnonzero(~np.isnan(x)):
        if n_categories[f]:
            inside &= cells.allowed[:, category_start[f] + int(x[f])]
        else:
            inside &= (cells.low[:, f] < x[f]) & (x[f] <= cells.high[:, f])
    return np.flatnonzero(inside).tolist()


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.7, 1.0])
def test_both_ways_agree_with_the_cells(model, rate):
    X = np.where(np.isnan(model.training_data_.X), 0.0, model.training_data_.X)
    queries = hide(np.random.default_rng(1), X[:60], rate)
    for tree in range(model.forest_.n_trees):
        cells = cells_of_tree(model.forest_, tree, model.features_.n_categories)
        for x in queries:
            expected = leaves_around(x, cells, model.features_.n_categories)
            assert reached_leaves(model, x, tree, 0) == expected
            assert reached_leaves(model, x, tree, 10_000) == expected


def test_cells_are_a_partition(model):
    rng = np.random.default_rng(2)
    points = np.column_stack([rng.normal(scale=3, size=(500, 3)), rng.integers(0, 5, 500), rng.integers(0, 2, 500)])
    for tree in range(model.forest_.n_trees):
        cells = cells_of_tree(model.forest_, tree, model.features_.n_categories)
        assert all(len(leaves_around(x, cells, model.features_.n_categories)) == 1 for x in points)


def test_friedman_adds_the_counts_of_the_reached_leaves(model):
    forest = model.forest_
    queries = hide(np.random.default_rng(3), model.training_data_.X[:80], 0.5)
    expected = []
    for x in queries:
        per_tree = []
        for tree in range(forest.n_trees):
            leaves = forest.leaf_start[tree] + np.array(reached_leaves(model, x, tree, 0))
            counts = forest.leaf_counts[leaves].sum(axis=0)
            per_tree.append(counts / counts.sum())
        expected.append(np.mean(per_tree, axis=0))
    for some in (queries, queries[:5]):  # by bit vectors, by walking
        got = friedman_proba(some, forest, model.features_.n_categories)
        np.testing.assert_allclose(got, expected[: len(some)], atol=1e-14)


def test_equal_rows_are_asked_once():
    X = np.array([[0.0, np.nan], [-0.0, -np.nan], [1.0, 2.0], [0.0, np.nan]])
    rows = different_rows(X)
    assert len(rows.X) == 2
    np.testing.assert_array_equal(rows.X[rows.back], X)
    assert rows.complete[rows.back].tolist() == [False, False, True, False]
