"""GenerativeForestClassifier as users meet it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from mixed import hide, mixed_table, weights_in_bootstrap_samples
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from joints import ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier

DOMAINS = {2: 3, 3: 2}


@parametrize_with_checks(
    [
        GenerativeForestClassifier(n_estimators=5),
        GenerativeForestClassifier(n_estimators=5, combine="mixture", n_jobs=2),
        GenerativeForestClassifier(n_estimators=5, bootstrap=False),
    ],
    expected_failed_checks=weights_in_bootstrap_samples,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    X, y, _ = mixed_table(np.random.default_rng(0), n=200)
    return X, y


def test_fit_and_from_forest_are_the_same(table):
    X, y = table
    direct = GenerativeForestClassifier(6, categorical_features=DOMAINS, random_state=0).fit(X, y)
    forest = ForestClassifier(6, categorical_features=DOMAINS, random_state=0).fit(X, y)
    converted = GenerativeForestClassifier.from_forest(forest)
    assert converted.get_params() == direct.get_params()
    queries = hide(np.random.default_rng(1), X, 0.4)
    np.testing.assert_array_equal(converted.predict_proba(queries), direct.predict_proba(queries))
    assert converted.forest_ is forest.forest_


def test_pickles(table):
    X, y = table
    for model in (ForestClassifier(5, categorical_features=DOMAINS), GenerativeForestClassifier(5)):
        model.fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        queries = hide(np.random.default_rng(1), X, 0.4)
        np.testing.assert_array_equal(again.predict_proba(queries), model.predict_proba(queries))


def test_clones_are_unfitted_and_equal(table):
    model = GenerativeForestClassifier(5, categorical_features=DOMAINS, min_sd=0.5).fit(*table)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "forest_")


def test_any_categorical_feature_can_be_predicted(table):
    """p(x_t | rest) by the joint: put in each category, read off the joint, normalise; for GeF tree by tree."""
    X, y = table
    mixture = GenerativeForestClassifier(5, combine="mixture", categorical_features=DOMAINS, random_state=0).fit(X, y)
    queries = hide(np.random.default_rng(2), X, 0.3)[:60]

    def by_joint(model, rows, k=None):
        out = []
        for c in range(3):
            filled = rows.copy()
            filled[:, 2] = c
            joint = model.log_joint(filled)
            out.append(np.exp(joint).sum(axis=1) if k is None else np.exp(joint[np.arange(len(rows)), k]))
        out = np.array(out).T
        return out / out.sum(axis=1, keepdims=True)

    np.testing.assert_allclose(mixture.predict_proba(queries, target=2), by_joint(mixture, queries), atol=1e-10)
    given_class = mixture.predict_proba(queries, target="x2", y=y[:60])
    np.testing.assert_allclose(given_class, by_joint(mixture, queries, y[:60]), atol=1e-10)
    labels = mixture.predict(queries, target=2)
    assert set(labels) <= {0.0, 1.0, 2.0}
    single = GenerativeForestClassifier(1, categorical_features=DOMAINS, random_state=0).fit(X, y)
    np.testing.assert_allclose(single.predict_proba(queries, target=2), by_joint(single, queries), atol=1e-10)


def test_predicting_a_feature_ignores_its_own_column_and_checks_the_request(table):
    X, y = table
    gef = GenerativeForestClassifier(5, categorical_features=DOMAINS, random_state=0).fit(X, y)
    hidden = X.copy()
    hidden[:, 2] = np.nan
    np.testing.assert_array_equal(gef.predict_proba(X, target=2), gef.predict_proba(hidden, target=2))
    accuracy = (gef.predict(X, target=2, y=y) == X[:, 2]).mean()
    assert accuracy > 0.6  # half of the values follow the class, the others are drawn among three
    with pytest.raises(ValueError, match="continuous"):
        gef.predict_proba(X, target=0)
    with pytest.raises(ValueError, match="not a feature"):
        gef.predict(X, target="colour")
    with pytest.raises(ValueError, match="4 features"):
        gef.predict(X, target=4)
    with pytest.raises(ValueError, match="not a class of the training data"):
        gef.predict(X, target=2, y=y + 7)
    with pytest.raises(ValueError, match="no y"):
        gef.predict_proba(X, y=y)


def test_pandas_tables_by_dtype_and_name():
    rng = np.random.default_rng(0)
    n = 120
    colour = rng.choice(["red", "green", "blue"], n)
    frame = pd.DataFrame({"length": rng.normal(size=n), "colour": colour, "count": rng.integers(0, 3, n)})
    y = np.where((colour == "red") | (frame["length"] > 1), "yes", "no")
    typed = frame.astype({"colour": pd.CategoricalDtype(["red", "green", "blue", "violet"])})
    by_dtype = GenerativeForestClassifier(8, random_state=0).fit(typed, y)
    assert by_dtype.features_.n_categories.tolist() == [0, 4, 0]
    by_name = GenerativeForestClassifier(8, random_state=0, categorical_features=["colour"]).fit(frame, y)
    assert by_name.features_.n_categories.tolist() == [0, 3, 0]
    by_mask = GenerativeForestClassifier(8, random_state=0, categorical_features=[False, True, False])
    np.testing.assert_array_equal(by_mask.fit(frame, y).predict_proba(frame), by_name.predict_proba(frame))
    by_index = GenerativeForestClassifier(8, random_state=0, categorical_features=[1]).fit(frame.to_numpy(object), y)
    np.testing.assert_array_equal(by_index.predict_proba(frame.to_numpy(object)), by_name.predict_proba(frame))
    assert (by_dtype.predict(typed) == y).mean() > 0.95
    assert by_dtype.predict_proba(typed.iloc[:1].assign(colour=None)).shape == (1, 2)
    with pytest.raises(ValueError, match="not numbers"):
        GenerativeForestClassifier(2, categorical_features=None).fit(frame, y)


@pytest.mark.parametrize("Model", [ForestClassifier, GenerativeForestClassifier])
class TestRareCases:
    def test_category_never_seen_counts_as_missing(self, Model):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(0, 3, 90), rng.normal(size=90)]).astype(float)
        y = (X[:, 0] == 1).astype(int)
        model = Model(10, categorical_features=[0], random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba([[17, 0.3]]), model.predict_proba([[np.nan, 0.3]]))

    def test_declared_category_without_a_row(self, Model):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(0, 3, 90), rng.normal(size=90)]).astype(float)
        model = Model(10, categorical_features={0: 5}, random_state=0).fit(X, (X[:, 0] == 1).astype(int))
        proba = model.predict_proba([[4, 0.3]])
        assert np.isfinite(proba).all()
        assert proba.sum() == pytest.approx(1)

    def test_infinity_is_refused(self, Model):
        X, y = load_iris(return_X_y=True)
        model = Model(3, random_state=0).fit(X, y)
        X[0, 0] = np.inf
        for call in (lambda: Model(3).fit(X, y), lambda: model.predict(X)):
            with pytest.raises(ValueError, match="infinity"):
                call()
        frame = pd.DataFrame(X, columns=list("abcd"))
        with pytest.raises(ValueError, match="infinity in feature 'a'"):
            Model(3).fit(frame, y)

    def test_constant_column(self, Model):
        X, y = load_iris(return_X_y=True)
        X[:, 1] = 4.0
        model = Model(10, random_state=0).fit(X, y)
        assert (model.predict(X) == y).mean() > 0.95
        assert np.isfinite(model.predict_proba([[5.0, 4.0, np.nan, np.nan], [5.0, 9.0, np.nan, np.nan]])).all()

    def test_column_without_a_value(self, Model):
        X, y = load_iris(return_X_y=True)
        X[:, 1] = np.nan
        model = Model(10, random_state=0).fit(X, y)
        assert (model.predict(X) == y).mean() > 0.95
        assert (model.predict(np.nan_to_num(X)) == y).mean() > 0.9

    def test_class_with_one_row(self, Model):
        X, y = load_iris(return_X_y=True)
        y = np.where(np.arange(len(y)) == 7, 3, y)
        model = Model(10, random_state=0).fit(X, y)
        assert model.predict_proba(X).shape == (150, 4)
        assert model.predict(X[7:8]) == [3]

    def test_one_class(self, Model):
        X, _ = load_iris(return_X_y=True)
        model = Model(3).fit(X, np.ones(150))
        np.testing.assert_array_equal(model.predict_proba(X[:2]), 1.0)
        np.testing.assert_array_equal(model.predict([[np.nan] * 4]), [1.0])

    def test_one_feature(self, Model):
        X, y = load_iris(return_X_y=True)
        model = Model(10, random_state=0).fit(X[:, [2]], y)
        assert (model.predict(X[:, [2]]) == y).mean() > 0.9
        np.testing.assert_allclose(model.predict_proba([[np.nan]]), 1 / 3, atol=1e-12)

    def test_one_row(self, Model):
        model = Model(3).fit([[1.0, 2.0]], ["a"])
        assert model.predict([[5.0, np.nan]]) == ["a"]

    def test_all_rows_equal(self, Model):
        model = Model(5, random_state=0).fit(np.ones((20, 3)), np.arange(20) % 2)
        np.testing.assert_allclose(model.predict_proba([[1.0, np.nan, 2.0]]), 0.5, atol=1e-12)

    def test_no_rows_to_predict(self, Model):
        X, y = load_iris(return_X_y=True)
        with pytest.raises(ValueError, match="0 sample"):
            Model(3).fit(X, y).predict(X[:0])

    @pytest.mark.parametrize(
        "parameters, message",
        [
            ({"n_estimators": 0}, "n_estimators"),
            ({"max_features": 9}, "max_features"),
            ({"max_features": "log"}, "'max_features' parameter .* Got 'log'"),
            ({"purity": 0.0}, "purity"),
            ({"category_order": "size"}, "'category_order' parameter .* Got"),
            ({"categorical_features": [7]}, "index 7"),
            ({"categorical_features": ["colour"]}, "'colour'"),
            ({"categorical_features": [True, False]}, "mask of 2 entries"),
        ],
    )
    def test_wrong_parameters_are_named(self, Model, parameters, message):
        X, y = load_iris(return_X_y=True)
        with pytest.raises(ValueError, match=message):
            Model(**parameters).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        GenerativeForestClassifier(10, combine="mixture", random_state=0),
        GenerativeForestClassifier(10, leaves="lspn", random_state=0),
        LearnSPNClassifier(random_state=0),
    ],
    ids=["mixture", "lspn", "LearnSPN"],
)
def test_a_constant_column_decides_nothing(model):
    """The standard deviation of 569 times 0.1 is a rounding error instead of 0."""
    X, y = load_breast_cancer(return_X_y=True)
    model.fit(np.column_stack([X, np.full(len(X), 0.1)]), y)
    X[:, ::3] = np.nan
    queries = np.column_stack([X, np.full(len(X), 0.11)])
    assert (model.predict(queries) == y).mean() > 0.9
    assert (model.score_samples(queries) > -1e4).all()


def test_training_data_with_missing_values():
    X, y = load_iris(return_X_y=True)
    X = hide(np.random.default_rng(0), X, 0.3)
    model = GenerativeForestClassifier(30, random_state=0).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9


def test_without_smoothing_impossible_evidence_falls_back_to_counting():
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]], dtype=float)
    model = GenerativeForestClassifier(
        1, bootstrap=False, max_features=None, smoothing=0.0, categorical_features={0: 2, 1: 3}
    ).fit(X, [0, 0, 1, 1])
    proba = model.predict_proba([[0, 2], [np.nan, 2]])  # category 2 of the second feature has no probability anywhere
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_trees_that_saw_nothing_like_a_row_answer_by_counting():
    """Without smoothing, complete rows still get the forest's answer (Theorem 1)."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 6, (60, 4)).astype(float), rng.integers(0, 2, 60)
    forest = ForestClassifier(20, categorical_features={j: 6 for j in range(4)}, random_state=0).fit(X, y)
    model = GenerativeForestClassifier.from_forest(forest, smoothing=0.0)
    queries = rng.integers(0, 6, (200, 4)).astype(float)
    assert (model.score_samples(queries) == -np.inf).any()
    np.testing.assert_allclose(model.predict_proba(queries), forest.predict_proba(queries), rtol=0, atol=1e-12)
    answers = model.answer(hide(rng, queries, 0.4))
    for combine in ("average", "mixture"):
        np.testing.assert_allclose(answers.probabilities(combine).sum(axis=1), 1.0)


@pytest.mark.parametrize("combine", ["average", "mixture"])
@pytest.mark.parametrize("leaves", ["factorised", "lspn"])
def test_a_class_that_was_never_seen_with_such_features(leaves, combine):
    """Given a class of which no reached leaf has rows, a feature is predicted without the class."""
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.random.default_rng(0).integers(0, 2, 150)])
    options = {"leaves": leaves, "combine": combine, "categorical_features": [4], "random_state": 0}
    model = GenerativeForestClassifier(10, **options).fit(X, y)
    proba = model.predict_proba(X, target=4, y=(y + 1) % 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    if leaves == "factorised":
        np.testing.assert_array_equal(proba[0], model.predict_proba(X[:1], target=4)[0])


def test_a_feature_without_values_where_rows_without_one_count():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = np.column_stack([rng.normal(size=80) + 9.0 * y, np.where(y == 0, rng.integers(0, 3, 80), np.nan)])
    options = {"max_features": None, "smoothing": 0.0, "count_missing": True, "categorical_features": {1: 3}}
    model = GenerativeForestClassifier(5, random_state=0, **options).fit(X, y)
    prior = model.predict_proba([[np.nan, np.nan]], target=1)
    assert prior.sum() == pytest.approx(1) and prior.std() > 0
    np.testing.assert_allclose(model.predict_proba([[9.0, np.nan]], target=1), prior)
    assert set(model.sample(50, given=[[9.0, np.nan]], random_state=0)[0][:, 1]) == {0.0, 1.0, 2.0}
    X[:, 1] = np.nan  # not one value: nothing is known
    model.fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:2], target=1, y=y[:2]), 1 / 3)


@pytest.mark.parametrize("parameters", [{"leaves": "kde"}, {"combine": "vote"}, {"min_sd": 0.0}, {"smoothing": -1.0}])
def test_wrong_settings_of_the_circuit(parameters, table):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        GenerativeForestClassifier(2, **parameters).fit(*table)
    forest = ForestClassifier(2).fit(*table)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        GenerativeForestClassifier.from_forest(forest, **parameters)


def test_wrong_question_to_the_forest(table):
    with pytest.raises(ValueError, match="missing is 'mean'"):
        ForestClassifier(2).fit(*table).predict(table[0], missing="mean")
