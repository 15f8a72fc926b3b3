"""MissForest: its rounds against the published rule written out plainly; its forests see the training fold only."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from joints.impute import MissForestImputer

DOMAINS = {2: 3, 4: 2}


def tables(missing, missing_in_training=0.0, n_train=120, n_test=60):
    def make(n_rows, fraction, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n_rows, 5))
        x[:, 1] = x[:, 0] ** 2 + 0.2 * x[:, 1]
        x[:, 2] = np.digitize(x[:, 0] + 0.2 * x[:, 2], [-0.5, 0.5])
        x[:, 3] += x[:, 1]
        x[:, 4] = x[:, 3] > 0.5
        x[rng.random(x.shape) < fraction] = np.nan
        return x

    return make(n_train, missing_in_training, 0), make(n_test, missing, 1)


def published_rule(train, test, n_trees, seed, max_iter=10):
    """The rounds of appendix C and of the stopping rule, with scikit-learn's forests and nothing clever."""
    categorical = sorted(DOMAINS)
    continuous = [j for j in range(train.shape[1]) if j not in categorical]
    forests = []
    for j in range(train.shape[1]):
        kind = RandomForestClassifier if j in categorical else RandomForestRegressor
        forests.append(kind(n_trees, random_state=seed).fit(np.delete(train, j, axis=1), train[:, j]))
    missing = np.isnan(test)
    filled = test.copy()
    for j in range(train.shape[1]):
        typical = np.bincount(train[:, j].astype(int)).argmax() if j in categorical else train[:, j].mean()
        filled[missing[:, j], j] = typical
    last_continuous = last_categorical = np.inf
    rounds = 0
    while True:
        before = filled.copy()
        for j in np.argsort(missing.sum(axis=0), kind="stable"):
            if missing[:, j].any():
                filled[missing[:, j], j] = forests[j].predict(np.delete(filled, j, axis=1)[missing[:, j]])
        rounds += 1
        change = np.sum((filled - before)[:, continuous] ** 2) / np.sum(filled[:, continuous] ** 2)
        altered = np.sum((filled != before)[:, categorical]) / max(1, missing[:, categorical].sum())
        if rounds == max_iter or not (change < last_continuous or altered < last_categorical):
            return before
        last_continuous, last_categorical = change, altered


@pytest.mark.parametrize("missing", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("max_iter", [1, 2, 10])
def test_rounds_follow_the_published_rule(missing, max_iter):
    train, test = tables(missing)
    imputer = MissForestImputer(
        10, max_iter=max_iter, predictor="scikit-learn", categorical_features=DOMAINS, random_state=3
    )
    np.testing.assert_allclose(
        imputer.fit(train).transform(test), published_rule(train, test, 10, 3, max_iter), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("predictor", ["compiled", "scikit-learn"])
def test_by_row_a_row_is_filled_as_if_alone(predictor):
    train, test = tables(0.5)
    settings = {"predictor": predictor, "categorical_features": DOMAINS, "random_state": 0}
    by_row = MissForestImputer(10, scope="row", **settings).fit(train)
    together = by_row.transform(test)
    alone = MissForestImputer(10, **settings).fit(train)
    for i in range(len(test)):
        np.testing.assert_array_equal(alone.transform(test[i : i + 1])[0], together[i])
    np.testing.assert_array_equal(by_row.transform(test[::-1])[::-1], together)


def test_the_batch_matters_only_where_it_is_the_scope():
    train, test = tables(0.7)
    same = {}
    for scope in ("batch", "row"):
        imputer = MissForestImputer(10, scope=scope, categorical_features=DOMAINS, random_state=0).fit(train)
        whole = imputer.transform(test)
        same[scope] = all(np.array_equal(imputer.transform(test[i : i + 5]), whole[i : i + 5]) for i in range(0, 60, 5))
    assert same == {"batch": False, "row": True}


@pytest.mark.parametrize("predictor", ["compiled", "scikit-learn"])
def test_no_test_information_reaches_the_predictors(predictor):
    """The test fold obeys the opposite of what the training fold taught: only the training fold may show."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 400)
    train, test = np.column_stack([x, x])[:200], np.column_stack([x, -x])[200:]
    given = test.copy()
    given[::4, 1] = np.nan
    imputer = MissForestImputer(20, predictor=predictor, random_state=0).fit(train)
    before = pickle.dumps(imputer)
    filled = imputer.transform(given)[::4, 1]
    assert np.corrcoef(filled, x[200::4])[0, 1] > 0.99
    assert pickle.dumps(imputer) == before


def test_tables_are_filled_independently_of_their_order():
    train, _ = tables(0.0)
    imputer = MissForestImputer(10, categorical_features=DOMAINS, random_state=0).fit(train)
    rates = [tables(rate)[1] for rate in (0.2, 0.5, 0.8)]
    forwards = [imputer.transform(X) for X in rates]
    backwards = [imputer.transform(X) for X in rates[::-1]][::-1]
    for a, b in zip(forwards, backwards, strict=True):
        np.testing.assert_array_equal(a, b)


def test_missing_training_values_are_filled_by_forests():
    truth, test = tables(0.3, n_train=300)
    train = truth.copy()
    holes = np.random.default_rng(5).random(train.shape) < 0.2
    train[holes] = np.nan
    imputer = MissForestImputer(20, categorical_features=DOMAINS, random_state=0).fit(train)
    assert imputer.n_iter_ > 1
    assert not np.isnan(imputer.transform(test)).any()
    table = train.copy()
    imputer._fill_training(table, holes)
    np.testing.assert_array_equal(table[~holes], train[~holes])
    guesses = np.broadcast_to(imputer.statistics_, table.shape)
    for j in (0, 1, 3):
        rows = holes[:, j]
        assert np.mean((table - truth)[rows, j] ** 2) < 0.8 * np.mean((guesses - truth)[rows, j] ** 2)
    for j in DOMAINS:
        rows = holes[:, j]
        assert np.mean(table[rows, j] == truth[rows, j]) > np.mean(guesses[rows, j] == truth[rows, j])


def test_shows_progress_on_demand(capsys):
    train, test = tables(0.3, 0.1)
    MissForestImputer(2, categorical_features=DOMAINS, random_state=0).fit(train).transform(test)
    assert capsys.readouterr().out == ""
    imputer = MissForestImputer(2, categorical_features=DOMAINS, random_state=0, verbose=2).fit(train)
    shown = capsys.readouterr().out
    assert "training table" in shown and "forest 5 of 5 (x4)" in shown
    imputer.transform(test)
    assert "round 1" in capsys.readouterr().out
