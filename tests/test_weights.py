"""Weights of rows and classes, and trees that are added later."""

import numpy as np
import pytest
from mixed import hide, mixed_table, published, published_from

from joints import ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier
from joints.forest.arrays import TrainingData, whole_weights

DOMAINS = {2: 3, 3: 2}
WHOLE = {"bootstrap": False, "categorical_features": DOMAINS, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    X, y, _ = mixed_table(np.random.default_rng(0), n=160)
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        ForestClassifier(3, **WHOLE),
        published(3, **WHOLE),
        published(3, leaves="lspn", min_rows=10, max_depth=3, **WHOLE),
        LearnSPNClassifier(categorical_features=DOMAINS, random_state=0, threshold=0.1),
    ],
    ids=["forest", "GeF", "lspn", "LearnSPN"],
)
def test_whole_weights_are_repeated_rows(model, table):
    X, y = table
    times = np.random.default_rng(1).integers(0, 4, len(y))
    queries = hide(np.random.default_rng(2), X, 0.4)
    weighted = model.fit(X, y, sample_weight=times).predict_proba(queries)
    density = model.score_samples(queries) if hasattr(model, "score_samples") else None
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_proba(queries)
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)
    if density is not None:
        np.testing.assert_allclose(density, model.score_samples(queries), rtol=1e-10)
    assert not np.allclose(weighted, model.fit(X, y).predict_proba(queries), atol=1e-3)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_only_the_ratios_of_weights_matter(table, bootstrap):
    X, y = table
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    options = {**WHOLE, "bootstrap": bootstrap}
    one = published(3, **options, min_samples_leaf=3).fit(X, y, sample_weight=weight)
    two = published(3, **options, min_samples_leaf=3).fit(X, y, sample_weight=weight * 1e-3)
    queries = hide(np.random.default_rng(2), X, 0.4)
    np.testing.assert_allclose(one.predict_proba(queries), two.predict_proba(queries), atol=1e-9)
    if not bootstrap:
        assert one.forest_.counts[0].sum() == pytest.approx(len(y), rel=1e-3)


def test_fractions_are_close_to_themselves():
    data = TrainingData(np.zeros((4, 1)), np.zeros(4, dtype=np.int64), 1, np.zeros(1, dtype=np.int64), False)
    weight = np.array([0.5, 1.0, 1 / 3, 0.0])
    kept = data.weighted(weight)
    np.testing.assert_allclose(kept.row_weight * kept.unit, weight / weight.mean(), atol=1e-4)
    assert data.weighted(np.array([1.0, 2.0, 0.0, 7.0])).unit == 1.0
    assert data.weighted(np.ones(4)) is data
    many = np.random.default_rng(0).uniform(0, 2, 1000)
    assert abs(whole_weights(many).sum() - many.sum()) <= 0.5
    np.testing.assert_array_equal(whole_weights(np.array([2.0, 0.0, 3.0])), [2, 0, 3])


def test_class_weights_are_those_of_their_rows(table):
    X, y = table
    rows = np.r_[np.flatnonzero(y == 0)[:40], np.flatnonzero(y == 1)[:10]]
    X, y = X[rows], np.where(y[rows] == 0, "a", "b")
    balanced = published(5, class_weight="balanced", **WHOLE).fit(X, y)
    np.testing.assert_allclose(balanced.predict_proba(np.full((1, 4), np.nan)), [[0.5, 0.5]], atol=1e-3)
    options = {**WHOLE, "class_weight": {"a": 1, "b": 4}}
    by_class = published(5, **options).fit(X, y)
    by_row = published(5, **WHOLE).fit(X, y, sample_weight=np.where(y == "a", 1, 4))
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    forest = ForestClassifier(5, **options).fit(X, y)
    np.testing.assert_allclose(published_from(forest).predict_proba(X), by_class.predict_proba(X))


def test_wrong_weights_are_named(table):
    X, y = table
    for weight, said in (
        (np.zeros(len(y)), "non-zero|all weights are zero"),
        (-np.ones(len(y)), "[Nn]egative"),
        ([1, 2], "shape"),
    ):
        with pytest.raises(ValueError, match=said):
            published(2).fit(X, y, sample_weight=weight)
    for class_weight in ({0: -1, 1: 1, 2: 1}, {0: np.nan}, {1: np.inf}):
        with pytest.raises(ValueError, match="class_weight is"):
            published(2, class_weight=class_weight).fit(X, y)


@pytest.mark.parametrize("random_state", [0, None, np.random.RandomState(3)], ids=["seed", "none", "generator"])
@pytest.mark.parametrize("Model", [ForestClassifier, GenerativeForestClassifier])
def test_added_trees_are_those_of_a_larger_forest(table, Model, random_state):
    X, y = hide(np.random.default_rng(5), table[0], 0.1), table[1]
    model = Model(2, warm_start=True, categorical_features=DOMAINS, random_state=random_state).fit(X, y)
    first = model.forest_
    model.set_params(n_estimators=5).fit(X, y)
    assert model.forest_.n_trees == 5
    for name in ("feature", "threshold", "seeds"):
        begin = getattr(first, name)
        np.testing.assert_array_equal(getattr(model.forest_, name)[: len(begin)], begin)
    assert len(np.unique(model.forest_.seeds)) == 5
    queries = hide(np.random.default_rng(2), X, 0.4)
    if random_state == 0:
        at_once = Model(5, categorical_features=DOMAINS, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(queries), at_once.predict_proba(queries))
        for name, part in at_once.forest_._asdict().items():
            np.testing.assert_array_equal(getattr(model.forest_, name), part)
    before = model.predict_proba(queries)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(queries), before)  # nothing to add
    with pytest.raises(ValueError, match="there are 5 trees already"):
        model.set_params(n_estimators=4).fit(X, y)
    with pytest.raises(ValueError, match="training data changed"):
        model.set_params(n_estimators=6).fit(X[:100] + 1, y[:100])
    np.testing.assert_array_equal(model.predict_proba(queries), before)
    assert model.fit(X, y).forest_.n_trees == 6  # the refusal has changed nothing
