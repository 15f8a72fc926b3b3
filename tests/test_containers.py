"""Estimators and imputers take the tables that users have, and give the same kind back."""

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from joints import ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier
from joints.impute import KNNImputer, MeanImputer, MissForestImputer

CLASSIFIERS = [ForestClassifier(5, random_state=0), GenerativeForestClassifier(5, random_state=0), LearnSPNClassifier()]
CIRCUITS = CLASSIFIERS[1:]
IMPUTERS = [MeanImputer(), KNNImputer(3), MissForestImputer(3, random_state=0)]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def columns(n=60):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n).tolist()
    size = rng.choice(["S", "M"], n).tolist()
    number = rng.normal(size=n).tolist()
    ripe = (rng.random(n) < 0.5).tolist()
    for values in (colour, size, number, ripe):
        values[int(rng.integers(n))] = None
    y = np.where(np.array(colour) == "red", "yes", "no")
    return {"colour": colour, "size": size, "number": number, "ripe": ripe}, y


def polars_table():
    cells, y = columns()
    sizes = pl.Enum(["S", "M", "L"])
    return pl.DataFrame(cells).cast({"colour": pl.Categorical, "size": sizes}), y


def pandas_table():
    cells, y = columns()
    sizes = pd.CategoricalDtype(["S", "M", "L"])
    frame = pd.DataFrame(cells).astype({"colour": "category", "size": sizes, "ripe": "boolean", "number": float})
    return frame, y


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_polars_answers_as_pandas(model):
    (ours, y), (theirs, _) = polars_table(), pandas_table()
    proba = model.fit(theirs, y).predict_proba(theirs)
    np.testing.assert_array_equal(model.fit(ours, pl.Series(y.tolist())).predict_proba(ours), proba)
    assert model.features_.n_categories.tolist() == [3, 3, 0, 2]
    named = model.__class__(**model.get_params()).set_params(categorical_features=["colour", "size", "ripe"])
    text = ours.cast({"colour": pl.String, "size": pl.String})
    assert named.fit(text, y).features_.categories[0].tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(model.fit(text, y).predict_proba(text), named.predict_proba(text))
    with pytest.raises(ValueError, match="'colour' is continuous but holds values that are not numbers"):
        model.__class__(categorical_features=None).fit(text, y)
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(text.rename({"size": "length"}))
    with pytest.raises(ValueError, match="'number' holds dates"):
        model.fit(ours.with_columns(number=pl.lit(datetime.datetime(2020, 1, 1))), y)


@pytest.mark.parametrize("model", CIRCUITS)
@pytest.mark.parametrize("table", [polars_table, pandas_table])
def test_samples_are_tables_of_the_same_kind(model, table):
    X, y = table()
    model = pickle.loads(pickle.dumps(model.fit(X, y)))
    for drawn, _ in (model.sample(7, random_state=0), model.sample(2, given=X[:3], random_state=0)):
        assert type(drawn) is type(X)
        assert list(drawn.columns) == list(X.columns)
        assert set(drawn["size"]) <= {"S", "M", "L"}
        assert drawn["colour"].dtype == X["colour"].dtype
        model.predict(drawn)


@pytest.mark.parametrize("imputer", IMPUTERS)
def test_imputers_fill_polars_tables(imputer):
    X, _ = polars_table()
    filled = imputer.fit(X).transform(X)
    assert isinstance(filled, pl.DataFrame)
    assert filled.schema == X.schema
    for name in X.columns:
        observed = X[name].is_not_null()
        assert not filled[name].is_null().any()
        assert filled[name].filter(observed).to_list() == X[name].filter(observed).to_list()


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_lists_with_words(model):
    cells, y = columns()
    rows = list(map(list, zip(*cells.values(), strict=True)))
    model = model.__class__(**model.get_params()).set_params(categorical_features=[0, 1, 3])
    proba = model.fit(rows, y.tolist()).predict_proba(rows)
    np.testing.assert_array_equal(model.fit(np.array(rows, dtype=object), y).predict_proba(rows), proba)
    assert model.features_.n_categories.tolist() == [3, 2, 0, 2]
    imputer = MeanImputer(categorical_features=[0, 1, 3]).fit(rows)
    assert not pd.isna(imputer.transform(rows)).any()
    assert MeanImputer().fit(rows).features_.n_categories.tolist() == [3, 2, 0, 2]
    with pytest.raises(ValueError, match="'x0' is continuous but holds values that are not numbers"):
        MeanImputer(categorical_features=None).fit(rows)


@pytest.mark.parametrize("model", CIRCUITS)
def test_integer_column_names(model):
    X, y = pandas_table()
    X = X.set_axis([10, 20, 30, 40], axis=1)
    drawn, _ = model.fit(X, y).sample(5, random_state=0)
    assert list(drawn.columns) == [10, 20, 30, 40]
    assert list(MeanImputer().fit_transform(X).columns) == [10, 20, 30, 40]


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_columns_without_any_value(model):
    X, y = pandas_table()
    empty = pd.Series([None] * len(X), dtype="category")
    model.fit(X.assign(none=empty, nothing=np.nan), y)
    assert model.features_.n_categories.tolist() == [3, 3, 0, 2, 0, 0]
    asked = X.assign(none=empty, nothing=np.nan)
    proba = model.predict_proba(asked)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    with pytest.warns(UserWarning, match="'none'"):
        np.testing.assert_array_equal(model.predict_proba(asked.assign(none="a")), proba)
    if hasattr(model, "sample"):
        assert model.sample(5, random_state=0)[0]["none"].isna().all()
        with pytest.raises(ValueError, match="'none' had no value in the training data"):
            model.predict(asked, target="none")


@pytest.mark.parametrize("imputer", IMPUTERS)
def test_imputers_leave_missing_what_has_no_category(imputer):
    X, _ = pandas_table()
    X = X.assign(none=pd.Series([None] * len(X), dtype="category"), nothing=np.nan)
    filled = imputer.fit(X).transform(X)
    assert filled["none"].isna().all() and filled["none"].dtype == X["none"].dtype
    assert (filled["nothing"] == 0).all()
    assert not filled.drop(columns="none").isna().any(axis=None)


@pytest.mark.parametrize("model", CLASSIFIERS + IMPUTERS)
@pytest.mark.parametrize("table", [polars_table, pandas_table])
def test_tables_without_rows_are_refused(model, table):
    X, y = table()
    model.fit(X, y)
    with pytest.raises(ValueError, match="0 sample"):
        model.transform(X[:0]) if hasattr(model, "transform") else model.predict(X[:0])
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])


def wrong_parameters():
    numbers = {"min_sd", "smoothing", "threshold", "purity", "n_estimators", "min_rows", "n_neighbors", "gamma"}
    switches = {"bootstrap", "truncate", "redraw", "relative_sd", "count_missing"}
    special = {"n_jobs": [0, True], "categorical_features": [5, "all"], "max_features": [float("nan"), "sqr"]}
    return [
        (model, name, value)
        for model in (*CLASSIFIERS, *IMPUTERS)
        for name in sorted(model.get_params())
        for value in (
            [float("nan"), True, "x"] if name in numbers else ["no", 1.5] if name in switches else special.get(name, [])
        )
    ]


@pytest.mark.parametrize("model, name, value", wrong_parameters())
def test_one_sentence_for_every_wrong_parameter(model, name, value):
    X, y = pandas_table()
    message = f"The '{name}' parameter of {type(model).__name__} must be .* Got {value!r} instead"
    with pytest.raises(ValueError, match=message):
        model.__class__(**{name: value}).fit(X, y)


@pytest.mark.parametrize("model", CLASSIFIERS + IMPUTERS)
@pytest.mark.parametrize("domain", [0, -1])
def test_domains_without_a_category_are_refused(model, domain):
    X, y = pandas_table()
    with pytest.raises(ValueError, match="give their number, at least 1"):
        model.__class__(categorical_features={"colour": domain}).fit(X, y)
