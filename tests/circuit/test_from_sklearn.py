"""scikit-learn's forests and trees as Generative Forests."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version

from joints import GenerativeForestClassifier
from joints.circuit.from_sklearn import largest_double_rounding_below

# before 1.8 its trees send rows with missing values elsewhere than in training
keeps_track = pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.8"), reason="scikit-learn < 1.8")
MODELS = [
    RandomForestClassifier(20, random_state=0),
    RandomForestClassifier(20, random_state=0, bootstrap=False, max_leaf_nodes=15),
    RandomForestClassifier(20, random_state=0, class_weight="balanced", min_samples_leaf=4),
    ExtraTreesClassifier(20, random_state=0),
    DecisionTreeClassifier(random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_theorem_1(model, load):
    X, y = load(return_X_y=True)
    train = np.arange(len(X)) % 3 > 0
    model.fit(X[train], y[train])
    gef = GenerativeForestClassifier.from_sklearn(model, X[train], y[train])
    np.testing.assert_allclose(gef.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12)
    assert gef.n_estimators == (1 if isinstance(model, DecisionTreeClassifier) else 20)


def test_incomplete_rows_get_answers():
    X, y = load_iris(return_X_y=True)
    gef = GenerativeForestClassifier.from_sklearn(RandomForestClassifier(random_state=0).fit(X, y), X, y)
    X[:, [1, 3]] = np.nan
    assert (gef.predict(X) == y).mean() > 0.9
    np.testing.assert_allclose(gef.predict_proba(np.full((1, 4), np.nan))[0], 1 / 3, atol=0.02)


def test_thresholds_between_floats():
    """A double that scikit-learn rounds to the left side goes left, the next one goes right."""
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.normal(size=1000), rng.normal(size=1000).astype(np.float32), [0.0, 1.0, 0.1]])
    t = t.astype(np.float64)
    limit = largest_double_rounding_below(t)
    assert (limit.astype(np.float32) <= t).all()
    assert (np.nextafter(limit, np.inf).astype(np.float32) > t).all()


def test_values_at_a_threshold_go_scikit_learn_s_way():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    near = np.concatenate([tree.tree_.threshold[tree.tree_.feature == f] for f in (0, 1)])
    near = np.concatenate([near, np.nextafter(near, np.inf), near + 1e-9, near - 1e-9, near.astype(np.float32)])
    queries = np.array(np.meshgrid(near[::7], near[::11])).reshape(2, -1).T
    gef = GenerativeForestClassifier.from_sklearn(tree, X, y)
    np.testing.assert_array_equal(gef.predict_proba(queries), tree.predict_proba(queries))


@keeps_track
def test_training_rows_with_missing_values():
    X, y = load_wine(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    gef = GenerativeForestClassifier.from_sklearn(model, X, y)
    complete = ~np.isnan(X).any(axis=1)
    np.testing.assert_allclose(gef.predict_proba(X[complete]), model.predict_proba(X[complete]), atol=1e-12)


def test_categorical_features():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 300), rng.normal(size=300)]).astype(float)
    y = (X[:, 0] == 2) ^ (rng.random(300) < 0.1)
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    gef = GenerativeForestClassifier.from_sklearn(model, X, y, categorical_features={0: 4})
    np.testing.assert_allclose(gef.predict_proba(X), model.predict_proba(X), atol=1e-12)
    p = gef.predict_proba([[np.nan, 0.0]], target=0, y=[True])
    assert p.argmax() == 2
    with pytest.raises(ValueError, match="categories other than 0"):
        GenerativeForestClassifier.from_sklearn(model, X + 1, y, categorical_features=[0])


def test_refusals():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X is not the data"):
        GenerativeForestClassifier.from_sklearn(model, X[::-1], y)
    with pytest.raises(ValueError, match="X is not the data"):
        GenerativeForestClassifier.from_sklearn(model, X[:100], y[:100])
    with pytest.raises(ValueError, match="y is not the data"):
        GenerativeForestClassifier.from_sklearn(model, X, (y + 1) % 3)
    with pytest.raises(ValueError, match="2 features"):
        GenerativeForestClassifier.from_sklearn(model, X[:, :2], y)
    with pytest.raises(TypeError, match="not a GradientBoostingClassifier"):
        GenerativeForestClassifier.from_sklearn(GradientBoostingClassifier(), X, y)


@keeps_track
@pytest.mark.parametrize("categorical", [None, {13: 3}])
def test_leaves_that_only_rows_without_a_value_reach(categorical):
    """scikit-learn parts rows with a value from those without by a threshold of infinity."""
    rng = np.random.default_rng(0)
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X, rng.integers(0, 3, len(X))]).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 13] = np.where(y == 0, np.nan, X[:, 13])
    model = RandomForestClassifier(30, random_state=0).fit(X, y)
    assert any(np.isinf(tree.tree_.threshold).any() for tree in model.estimators_)
    gef = GenerativeForestClassifier.from_sklearn(model, X, y, categorical_features=categorical)
    drawn, _ = gef.sample(500, random_state=0)
    assert np.isfinite(drawn).all()
    if categorical:
        assert set(drawn[:, 13]) == {0.0, 1.0, 2.0}
    complete = drawn[:100]
    np.testing.assert_allclose(gef.predict_proba(complete), model.predict_proba(complete), atol=1e-12)


@pytest.mark.parametrize("options", [{"max_samples": 0.4}, {"max_samples": 50}, {"monotonic_cst": [-1] * 5 + [0] * 25}])
@pytest.mark.parametrize("Forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_samples_and_constraints(Forest, options):
    X, y = load_breast_cancer(return_X_y=True)
    model = Forest(20, random_state=0, bootstrap=True, **options).fit(X, y)
    gef = GenerativeForestClassifier.from_sklearn(model, X, y)
    np.testing.assert_allclose(gef.predict_proba(X), model.predict_proba(X), atol=1e-12)
    with pytest.raises(ValueError, match="X is not the data"):
        GenerativeForestClassifier.from_sklearn(model, X[:-1], y[:-1])


def test_sample_weights_are_refused():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, sample_weight=1.0 + np.arange(150) % 3)
    with pytest.raises(ValueError, match="fitted with sample_weight"):
        GenerativeForestClassifier.from_sklearn(model, X, y)
