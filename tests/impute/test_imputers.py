"""What every imputer keeps: scikit-learn's conventions, observed cells, valid categories, and no hole left."""

import pickle
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from joints.impute import GenerativeForestImputer, KNNImputer, MeanImputer, MissForestImputer, MissForestRefitImputer

IMPUTERS = [
    MeanImputer(),
    KNNImputer(n_neighbors=3),
    KNNImputer(n_neighbors=3, metric="huang"),
    GenerativeForestImputer(5, random_state=0),
    MissForestImputer(5, random_state=0),
    MissForestImputer(5, random_state=0, scope="row"),
    MissForestImputer(5, random_state=0, predictor="scikit-learn"),
]
if find_spec("missingpy"):
    IMPUTERS.append(MissForestRefitImputer(5, random_state=0))


def name(imputer):
    return repr(imputer).replace("\n", "")


def expected_failures(imputer):
    if isinstance(imputer, MissForestRefitImputer):
        return {"check_transformer_n_iter": "the rounds are made in transform"}
    return {}


@parametrize_with_checks(IMPUTERS, expected_failed_checks=expected_failures)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def mixed_table(n_rows, seed, missing):
    """Two continuous and two categorical features that depend on each other, with holes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    X = np.column_stack(
        [x, 2 * x + rng.normal(scale=0.3, size=n_rows), np.digitize(x, [-0.5, 0.5]), rng.integers(0, 4, n_rows)]
    ).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X


@pytest.fixture(params=IMPUTERS, ids=name)
def imputer(request):
    return request.param.__class__(**request.param.get_params()).set_params(categorical_features={2: 3, 3: 4})


@pytest.mark.parametrize("missing_in_training", [0.0, 0.2])
@pytest.mark.parametrize("missing", [0.1, 0.5, 0.9])
def test_fills_every_hole_and_nothing_else(imputer, missing_in_training, missing):
    train, test = mixed_table(80, 0, missing_in_training), mixed_table(40, 1, missing)
    given = test.copy()
    filled = imputer.fit(train).transform(test)
    np.testing.assert_array_equal(test, given)
    observed = ~np.isnan(test)
    assert filled.dtype == np.float64
    assert not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[observed], test[observed])
    assert set(filled[:, 2]) <= {0.0, 1.0, 2.0}
    assert set(filled[:, 3]) <= {0.0, 1.0, 2.0, 3.0}


def test_rows_and_columns_without_any_value(imputer):
    train, test = mixed_table(60, 0, 0.1), mixed_table(30, 1, 0.3)
    train[:, [1, 3]] = np.nan
    test[[0, 5]] = np.nan
    test[:, 2] = np.nan
    filled = imputer.fit(train).transform(test)
    assert not np.isnan(filled).any()
    assert set(filled[:, 2]) <= {0.0, 1.0, 2.0}
    missing = np.isnan(test)
    assert (filled[missing[:, 1], 1] == 0).all() or isinstance(imputer, MissForestRefitImputer)
    assert not np.isnan(imputer.transform(np.full((1, 4), np.nan))).any()


def test_table_with_no_value_at_all(imputer):
    imputer.fit(np.full((5, 4), np.nan))
    np.testing.assert_array_equal(imputer.transform(np.full((2, 4), np.nan)), np.zeros((2, 4)))


def test_one_feature(imputer):
    imputer.set_params(categorical_features=None).fit([[1.0], [2.0], [np.nan], [6.0]])
    np.testing.assert_array_equal(imputer.transform([[np.nan], [7.0]]), [[3.0], [7.0]])


def test_category_seen_only_in_test(imputer):
    train, test = mixed_table(60, 0, 0.1), mixed_table(30, 1, 0.3)
    train[train[:, 3] == 3, 3] = 0
    test[0, 3] = 3
    filled = imputer.fit(train).transform(test)
    assert filled[0, 3] == 3  # declared: an observed cell like any other
    filled = imputer.set_params(categorical_features=[2, 3]).fit(train).transform(test)
    assert filled[0, 3] in {0, 1, 2}  # not declared: missing


def test_tables_of_pandas_keep_their_categories(imputer):
    words = np.array(["low", "middle", "high"])

    def frame(X):
        codes = np.where(np.isnan(X[:, 2]), -1, X[:, 2]).astype(int)
        return pd.DataFrame(
            {
                "a": X[:, 0],
                "level": pd.Categorical.from_codes(codes, words, ordered=True),
                "b": X[:, 1],
                "kind": pd.Series(X[:, 3]).map({0: "p", 1: "q", 2: "r", 3: "s"}).astype("category"),
            },
            index=np.arange(len(X)) + 100,
        )

    train, test = frame(mixed_table(60, 0, 0.1)), frame(mixed_table(30, 1, 0.3))
    filled = imputer.set_params(categorical_features="from_dtype").fit(train).transform(test)
    assert isinstance(filled, pd.DataFrame)
    assert not filled.isna().any(axis=None)
    pd.testing.assert_index_equal(filled.index, test.index)
    assert list(filled.columns) == list(test.columns)
    assert list(filled["level"].cat.categories) == list(words) and filled["level"].cat.ordered
    for column in test:
        seen = test[column].notna()
        assert (filled.loc[seen, column] == test.loc[seen, column]).all()
    np.testing.assert_array_equal(imputer.get_feature_names_out(), test.columns)


def test_arrays_with_words_and_pandas_output(imputer):
    X = np.array([[0.0, "a"], [1.0, "b"], [2.0, "b"], [np.nan, "b"], [1.0, np.nan]], dtype=object)
    imputer.set_params(categorical_features=[1])
    filled = imputer.fit(X).transform(X)
    assert filled.dtype == object
    assert set(filled[:, 1]) == {"a", "b"}
    framed = imputer.set_output(transform="pandas").fit(X).transform(X)
    assert list(framed.columns) == ["x0", "x1"]
    assert (framed.to_numpy() == filled).all()


def test_pickles_and_repeats(imputer):
    train, test = mixed_table(60, 0, 0.1), mixed_table(30, 1, 0.4)
    filled = imputer.fit(train).transform(test)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(imputer)).transform(test), filled)
    np.testing.assert_array_equal(imputer.fit(train).transform(test), filled)


def test_threads_do_not_change_the_result(imputer):
    if "n_jobs" not in imputer.get_params() or isinstance(imputer, MissForestRefitImputer):
        pytest.skip("no threads of our own")
    train, test = mixed_table(300, 0, 0.05), mixed_table(700, 1, 0.4)
    one = imputer.set_params(n_jobs=1).fit(train).transform(test)
    np.testing.assert_array_equal(imputer.set_params(n_jobs=2).fit(train).transform(test), one)


WRONG = [
    (MeanImputer, {"categorical_features": ["from_types", 2]}),
    (
        KNNImputer,
        {"n_neighbors": [0, 2.5, True, np.nan, None], "metric": ["euclidean", None], "weights": [1.0, "unit"]},
    ),
    (KNNImputer, {"gamma": [-1.0, np.nan, True, "1"], "n_jobs": [1.5, True]}),
    (MissForestImputer, {"n_estimators": [0, 10.0, True], "max_iter": [0, np.nan], "scope": ["cell"]}),
    (MissForestImputer, {"predictor": ["xgboost"], "random_state": [-1, "seed"], "verbose": [-1]}),
    (MissForestRefitImputer, {"n_estimators": [0, 10.0, True], "max_iter": [0, np.nan], "random_state": ["seed"]}),
]


@pytest.mark.parametrize(
    ("kind", "parameter", "value"),
    [(kind, name, value) for kind, wrong in WRONG for name, values in wrong.items() for value in values],
)
def test_says_which_parameter_is_wrong(kind, parameter, value):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of {kind.__name__} must be .* Got .* instead"):
        kind(**{parameter: value}).fit(np.zeros((3, 2)))


@pytest.mark.parametrize("kind", [MeanImputer, KNNImputer, MissForestImputer, MissForestRefitImputer])
def test_every_parameter_has_a_constraint(kind):
    assert set(kind().get_params()) <= set(kind._parameter_constraints)
