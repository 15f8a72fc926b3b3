"""Grown trees have the documented properties, whatever the number of threads and the order of the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed import hide, mixed_table
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

from joints import ForestClassifier
from joints.forest import arrays
from joints.forest.arrays import leaves_of_training_rows


def fitted(rng, missing=0.0, **parameters):
    X, y, n_categories = mixed_table(rng, n=200, missing=missing)
    domains = {j: int(k) for j, k in enumerate(n_categories) if k}
    parameters = {"n_estimators": 7, "random_state": 3, "categorical_features": domains} | parameters
    return ForestClassifier(**parameters).fit(X, y), X, y


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_class_counts_are_those_of_the_rows_routed_there(missing):
    model, _, y = fitted(np.random.default_rng(0), missing)
    forest = model.forest_
    for tree in range(forest.n_trees):
        leaf, weights = leaves_of_training_rows(forest, model.training_data_, tree)
        counts = np.zeros_like(forest.leaf_counts)
        np.add.at(counts, (leaf, y), weights)
        own = slice(forest.leaf_start[tree], forest.leaf_start[tree + 1])
        np.testing.assert_array_equal(counts[own], forest.leaf_counts[own])
        for node in range(forest.tree_start[tree], forest.tree_start[tree + 1]):
            if forest.feature[node] >= 0:
                children = forest.counts[node + 1] + forest.counts[forest.right[node]]
                np.testing.assert_array_equal(forest.counts[node], children)


def test_bootstrap_keeps_the_size_of_every_class():
    model, _, y = fitted(np.random.default_rng(0))
    drawn = [model.training_data_.weights(seed) for seed in model.forest_.seeds]
    for weights in drawn:
        np.testing.assert_array_equal(np.bincount(y, weights=weights), np.bincount(y))
        assert 0.55 < (weights > 0).mean() < 0.72  # 1 - 1/e of the rows
    assert len({weights.tobytes() for weights in drawn}) == len(drawn)


def test_leaves_are_pure_enough_or_cannot_be_split():
    model, *_ = fitted(np.random.default_rng(1), purity=0.99, redraw=True)
    counts = model.forest_.leaf_counts
    assert (counts.max(axis=1) >= 0.99 * counts.sum(axis=1)).mean() > 0.95
    inner = model.forest_.counts[model.forest_.feature >= 0]
    assert (inner.max(axis=1) < 0.99 * inner.sum(axis=1)).all()


def test_redrawing_constant_features():
    """Two of three features never vary: without redrawing, a node that drew one of them is an impure leaf."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros(200), np.ones(200), rng.normal(size=200)])
    y = (X[:, 2] > 0).astype(int)
    plain = ForestClassifier(n_estimators=60, max_features=1, random_state=0).fit(X, y).forest_
    again = ForestClassifier(n_estimators=60, max_features=1, redraw=True, random_state=0).fit(X, y).forest_
    assert (np.diff(again.leaf_start) == 2).all()
    split = (np.diff(plain.leaf_start) == 2).mean()
    assert 0.15 < split < 0.5  # a third of the roots drew the feature that varies
    assert (np.diff(plain.leaf_start) <= 2).all()


def test_limits_on_leaves_and_depth():
    model, _, _ = fitted(np.random.default_rng(1), min_samples_leaf=15)
    assert model.forest_.leaf_counts.sum(axis=1).min() >= 15
    model, _, _ = fitted(np.random.default_rng(1), max_depth=0)
    assert (np.diff(model.forest_.leaf_start) == 1).all()
    model, _, _ = fitted(np.random.default_rng(1), max_depth=2)
    assert (np.diff(model.forest_.leaf_start) <= 4).all()


def test_thresholds_are_the_largest_training_value_on_the_left():
    model, X, _ = fitted(np.random.default_rng(2))
    forest = model.forest_
    for f in (0, 1):
        assert np.isin(forest.threshold[forest.feature == f], X[:, f]).all()


def same_forest(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in a._fields if name != "seeds"
    )


def test_threads_do_not_matter():
    one, *_ = fitted(np.random.default_rng(3), missing=0.1, n_jobs=1)
    two, *_ = fitted(np.random.default_rng(3), missing=0.1, n_jobs=2)
    assert same_forest(one.forest_, two.forest_)
    M = hide(np.random.default_rng(4), one.training_data_.X, 0.4)
    for missing in ("friedman", "surrogate"):
        np.testing.assert_array_equal(one.predict_proba(M, missing), two.predict_proba(M, missing))


def test_more_trees_keep_the_first_ones():
    few, *_ = fitted(np.random.default_rng(3), n_estimators=3)
    many, *_ = fitted(np.random.default_rng(3), n_estimators=8)
    n_nodes = few.forest_.tree_start[-1]
    np.testing.assert_array_equal(few.forest_.feature, many.forest_.feature[:n_nodes])
    np.testing.assert_array_equal(few.forest_.threshold, many.forest_.threshold[:n_nodes])
    np.testing.assert_array_equal(few.forest_.counts, many.forest_.counts[:n_nodes])


def test_random_state_decides():
    a, X, _ = fitted(np.random.default_rng(3), random_state=0)
    b, *_ = fitted(np.random.default_rng(3), random_state=0)
    c, *_ = fitted(np.random.default_rng(3), random_state=1)
    assert same_forest(a.forest_, b.forest_)
    assert not np.array_equal(a.predict_proba(X), c.predict_proba(X))


# one shallow tree of all rows and features: no chance, and no equally good splits to choose between
PLAIN = {"n_estimators": 1, "bootstrap": False, "max_features": None, "max_depth": 3, "category_order": "proportion"}


@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
@settings(max_examples=25)
def test_order_of_rows_features_and_codes_does_not_matter(seed, n_classes):
    """Permuting training rows, features or category codes leaves (or permutes) the answers."""
    rng = np.random.default_rng(seed)
    X, y, n_categories = mixed_table(rng, n=300, categories=(4, 2), n_classes=n_classes)
    queries = hide(rng, X, 0.3)[:50]

    def ask(X, y, n_categories, queries):
        domains = {j: int(k) for j, k in enumerate(n_categories) if k}
        model = ForestClassifier(**PLAIN, categorical_features=domains, surrogates="text", random_state=0).fit(X, y)
        return [model.predict_proba(queries, missing) for missing in ("friedman", "surrogate")]

    expected = ask(X, y, n_categories, queries)
    rows, columns, codes = rng.permutation(len(X)), rng.permutation(4), rng.permutation(4)
    np.testing.assert_allclose(ask(X[rows], y[rows], n_categories, queries), expected)
    np.testing.assert_allclose(ask(X, y, n_categories, queries[::-1]), np.array(expected)[:, ::-1])
    permuted = ask(X[:, columns], y, n_categories[columns], queries[:, columns])
    np.testing.assert_allclose(permuted[0], expected[0])

    def recode(table):
        out = table.copy()
        observed = ~np.isnan(out[:, 2])
        out[observed, 2] = codes[out[observed, 2].astype(int)]
        return out

    np.testing.assert_allclose(ask(recode(X), y, n_categories, recode(queries))[0], expected[0])


def test_accuracy_is_that_of_scikit_learn():
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    ours = cross_val_score(ForestClassifier(random_state=0, purity=1.0), X, y, cv=3).mean()
    theirs = cross_val_score(RandomForestClassifier(random_state=0), X, y, cv=3).mean()
    assert abs(ours - theirs) < 0.02


def test_more_nodes_than_can_be_numbered(monkeypatch):
    monkeypatch.setattr(arrays, "MOST_NODES", 20)
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    ForestClassifier(1, bootstrap=False, max_depth=3).fit(X, y)
    with pytest.raises(ValueError, match="at most 20 can be numbered"):
        ForestClassifier(5, bootstrap=False, max_depth=3).fit(X, y)
