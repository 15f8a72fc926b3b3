"""What a Generative Forest chooses for itself: from the training data alone, reproducibly, and to its advantage."""

import warnings

import numpy as np
import pandas as pd
import pytest
from mixed import PlainTree, hide, mixed_table
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from joints import Evidence, ForestClassifier, GenerativeForestClassifier
from joints.circuit.choosing import Questions, _combine, widen
from joints.circuit.infer import ask_left_out, tree_weights
from joints.circuit.learnspn import Variables, learn_leaves
from joints.circuit.leaves import SMALLEST_SD, feature_moments, fit_leaves, smallest_sds
from joints.forest.route import training_leaves
from joints.render.choice_plot import draw_choice

DOMAINS = {2: 3, 3: 2}
LSPN = {"leaves": "lspn", "min_rows": 5, "max_depth": 3}
KINDS = {
    "factorised": {},
    "lspn": LSPN,
    "lspn, not cut": {**LSPN, "truncate": False},
    "likelihood": {"objective": "likelihood"},
    "own units": {"relative_sd": False},
}


@pytest.fixture(scope="module")
def table():
    X, y, _ = mixed_table(np.random.default_rng(0), n=240, missing=0.05)
    return X, y


@pytest.fixture(scope="module")
def forest(table):
    return ForestClassifier(12, categorical_features=DOMAINS, random_state=0).fit(*table)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_choice_can_be_given(table, kind):
    """A forest with the settings that were chosen, and the same seed, is the same."""
    X, y = table
    chosen = GenerativeForestClassifier(12, categorical_features=DOMAINS, random_state=0, **kind).fit(X, y)
    assert chosen.min_sd_ > 0 and chosen.smoothing_ > 0 and chosen.combine_ != "auto"
    settings = {"min_sd": chosen.min_sd_, "smoothing": chosen.smoothing_, "combine": chosen.combine_}
    given = GenerativeForestClassifier(12, categorical_features=DOMAINS, random_state=0, **kind, **settings).fit(X, y)
    np.testing.assert_array_equal(given.leaves_.parameters, chosen.leaves_.parameters)
    np.testing.assert_array_equal(given.leaves_.circuits.parameters, chosen.leaves_.circuits.parameters)
    np.testing.assert_array_equal(given.leaves_.circuits.peaks, chosen.leaves_.circuits.peaks)
    queries = hide(np.random.default_rng(1), X, 0.4)
    np.testing.assert_array_equal(given.predict_proba(queries), chosen.predict_proba(queries))
    assert given.tried_ == {} and given.oob_log_loss_ is None


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_choice_depends_on_the_seed_alone(table, kind):
    X, y = table

    def model(n_jobs):
        return GenerativeForestClassifier(12, categorical_features=DOMAINS, random_state=0, n_jobs=n_jobs, **kind)

    models = [model(n).fit(X, y) for n in (1, 3)]
    grown = {name: value for name, value in kind.items() if name == "max_depth"}
    forest = ForestClassifier(12, categorical_features=DOMAINS, random_state=0, **grown).fit(X, y)
    others = {name: value for name, value in kind.items() if name not in grown}
    models.append(GenerativeForestClassifier.from_forest(forest, **others))
    for other in models[1:]:
        pd.testing.assert_frame_equal(pd.DataFrame(other.tried_), pd.DataFrame(models[0].tried_))
        assert other.combine_ == models[0].combine_ and other.min_sd_ == models[0].min_sd_
        np.testing.assert_array_equal(other.leaves_.parameters, models[0].leaves_.parameters)


def test_what_was_tried(forest):
    gef = GenerativeForestClassifier.from_forest(forest)
    tried = pd.DataFrame(gef.tried_)
    best = tried.loc[tried["log_loss"].where(~tried["complete"]).idxmin()]
    assert (best["min_sd"], best["smoothing"], best["combine"]) == (gef.min_sd_, gef.smoothing_, ways(gef)[0])
    assert (best["log_loss"], best["score"]) == (gef.oob_log_loss_, gef.oob_score_)
    assert {"average", "mixture"} < set(tried["combine"]) and tried["min_sd"].nunique() >= 3
    assert {0.1, 1e-6} <= set(tried["smoothing"])
    likely = pd.DataFrame(GenerativeForestClassifier.from_forest(forest, objective="likelihood").tried_)
    assert likely["log_likelihood"].max() >= tried["log_likelihood"].max()


def test_what_was_tried_with_learned_leaves(table):
    """The smoothing by factorised leaves, the rest by those that are used."""
    gef = GenerativeForestClassifier(12, categorical_features=DOMAINS, random_state=0, **LSPN).fit(*table)
    tried = pd.DataFrame(gef.tried_)
    tried = tried[~tried["complete"]]
    factorised, own = (tried[tried["leaves"] == kind] for kind in ("factorised", "lspn"))
    assert len(factorised) + len(own) == len(tried)
    assert factorised.loc[factorised["log_loss"].idxmin(), "smoothing"] == gef.smoothing_
    assert set(own["smoothing"]) == {gef.smoothing_} and own["min_sd"].nunique() >= 3
    best = own.loc[own["log_loss"].idxmin()]
    assert (best["min_sd"], best["combine"]) == (gef.min_sd_, ways(gef)[0])
    assert (best["log_loss"], best["score"]) == (gef.oob_log_loss_, gef.oob_score_)


def ways(gef):
    """How the trees answer together about incomplete and about complete rows."""
    return gef.combine_ if isinstance(gef.combine_, tuple) else (gef.combine_, gef.combine_)


@pytest.mark.parametrize("seed", range(4))
def test_no_more_complete_rows_go_wrong_than_in_the_forest_itself(seed):
    X, y = load_wine(return_X_y=True)
    X = X[:, :4] + np.random.default_rng(seed).normal(size=(len(X), 4)) * X[:, :4].std(axis=0)
    gef = GenerativeForestClassifier(30, random_state=seed).fit(X, y)
    tried = pd.DataFrame(gef.tried_)
    complete = tried[tried["complete"]].set_index("combine")
    assert len(complete) == 7 and (complete["min_sd"] == gef.min_sd_).all()
    allowed = complete[complete["score"] >= complete.loc["average", "score"]]
    assert ways(gef)[1] == allowed["log_loss"].idxmin()
    # the forest's own answers out of bag: the class shares of the leaf in which a row lies
    data = ForestClassifier(30, random_state=seed).fit(X, y).training_data_
    trees, shares = gef.forest_, gef.leaves_.class_proba
    votes = sum((data.weights(trees.seeds[t]) == 0)[:, None] * shares[training_leaves(X, trees, t)] for t in range(30))
    asked = votes.any(axis=1)
    assert complete.loc["average", "score"] == pytest.approx((votes.argmax(axis=1) == y)[asked].mean())


def test_one_way_for_incomplete_and_one_for_complete_rows(table, forest):
    X = np.where(np.isnan(table[0]), 0.0, table[0])
    holes = hide(np.random.default_rng(1), X, 0.4)
    both = np.concatenate([X, holes])
    missing = np.isnan(both).any(axis=1)

    def model(combine):
        return GenerativeForestClassifier.from_forest(forest, combine=combine, min_sd=0.3, smoothing=0.1)

    for pair in (("mixture", "average"), (2.0, "average"), ("average", 1.5), (1.0, "mixture")):
        gef = model(pair)
        proba = gef.predict_proba(both)
        for way, rows in zip(pair, (missing, ~missing), strict=True):
            np.testing.assert_allclose(proba[rows], model(way).predict_proba(both[rows]), rtol=0, atol=1e-12)
        np.testing.assert_array_equal(gef.answer(both).probabilities(pair), proba)
        np.testing.assert_allclose(gef.predict_proba(Evidence(both)), proba, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model(("mixture", "average")).predict(X), model("average").predict(X))


def test_only_what_is_auto_is_chosen(forest):
    gef = GenerativeForestClassifier.from_forest(forest, min_sd=0.3, smoothing=0.5)
    assert (gef.min_sd_, gef.smoothing_) == (0.3, 0.5)
    assert set(gef.tried_["min_sd"]) == {0.3} and len(gef.tried_["combine"]) > 2
    gef = GenerativeForestClassifier.from_forest(forest, combine="mixture")
    assert gef.combine_ == "mixture" and set(gef.tried_["combine"]) == {"mixture"}
    gef = GenerativeForestClassifier.from_forest(forest, combine=("mixture", "average"))
    assert gef.combine_ == ("mixture", "average") and set(gef.tried_["combine"]) == {"mixture"}
    assert len(set(gef.tried_["min_sd"])) > 2


def test_questions_are_training_rows_that_a_tree_did_not_see(table, forest):
    X, y = table
    data, trees = forest.training_data_, forest.forest_
    asked = Questions.draw(trees, data, None, None)
    assert len(asked.y) == (np.array([data.weights(seed) for seed in trees.seeds]) == 0).any(axis=0).sum()
    kept = (~np.isnan(asked.X)).sum(axis=1)
    assert set(kept) == {1, 2, 3, 4}
    for row, label, left_out in zip(asked.X, asked.y, asked.left_out.T, strict=True):
        observed = ~np.isnan(row)
        same = np.flatnonzero((X[:, observed] == row[observed]).all(axis=1) & (y == label))
        drawn = [np.array([data.weights(seed)[i] for seed in trees.seeds]) == 0 for i in same]
        assert any(np.array_equal(left_out, of_row) for of_row in drawn)


def test_trees_answer_about_rows_that_they_did_not_see(table):
    """Against densities by SciPy, tree by tree."""
    X, y = table[0][~np.isnan(table[0]).any(axis=1)], table[1][~np.isnan(table[0]).any(axis=1)]
    forest = ForestClassifier(5, categorical_features=DOMAINS, random_state=0).fit(X, y)
    gef = GenerativeForestClassifier.from_forest(forest, min_sd=0.3, smoothing=0.1, combine=2.0)
    data, n_categories = forest.training_data_, gef.features_.n_categories
    asked = Questions.draw(forest.forest_, data, None, None)
    evidence, conditional = ask_left_out(asked.X, asked.left_out, gef.forest_, gef.leaves_, n_categories)
    np.testing.assert_array_equal(np.isnan(evidence), ~asked.left_out)
    for t in range(5):
        plain = PlainTree(gef, data, t, min_sd=0.3, smoothing=0.1)
        for q in np.flatnonzero(asked.left_out[t])[:20]:
            joint = plain.joint(asked.X[q])
            np.testing.assert_allclose(evidence[t, q], np.log(joint.sum()), rtol=1e-9)
            np.testing.assert_allclose(conditional[t, q], joint / joint.sum(), atol=1e-9)
    n_observed, strengths = (~np.isnan(asked.X)).sum(axis=1), np.array([0.0, 0.5, 2.0, np.inf])
    together = np.zeros((4, *conditional.shape[1:]))
    _combine(evidence, conditional, n_observed, strengths, together)
    for strength, proba in zip(strengths, together, strict=True):
        weights = tree_weights(evidence, n_observed, strength)
        np.testing.assert_allclose(proba, np.einsum("tq,tqk->qk", weights, conditional), atol=1e-12)


def test_trees_between_the_average_and_the_mixture(table, forest):
    """A number of features: from the average (nearly none) to the mixture (as many as there are)."""
    X = hide(np.random.default_rng(1), table[0], 0.4)
    settings = {"min_sd": 0.3, "smoothing": 0.1}

    def proba(combine):
        return GenerativeForestClassifier.from_forest(forest, combine=combine, **settings).predict_proba(X)

    np.testing.assert_allclose(proba(1e-9), proba("average"), atol=1e-7)
    np.testing.assert_allclose(proba(4), proba("mixture"), atol=1e-9)
    between = proba(1.5)
    assert np.abs(between - proba("average")).max() > 0.01 < np.abs(between - proba("mixture")).max()
    np.testing.assert_allclose(between.sum(axis=1), 1.0)
    gef = GenerativeForestClassifier.from_forest(forest, combine=1.5, **settings)
    np.testing.assert_array_equal(gef.answer(X).probabilities(1.5), between)
    feature = gef.predict_proba(X, target=2, y=table[1])
    np.testing.assert_allclose(feature.sum(axis=1), 1.0)


def test_a_tree_that_must_not_answer_has_no_weight():
    weights = tree_weights(np.array([[np.nan, -np.inf], [-3.0, -np.inf], [-np.inf, np.nan]]), np.array([2, 1]), 1.0)
    np.testing.assert_allclose(weights, [[0, 1 / 2], [1, 1 / 2], [0, 0]])
    np.testing.assert_allclose(tree_weights(np.log([[0.1], [0.3]]), np.array([1]), 1.0)[:, 0], [0.25, 0.75])
    np.testing.assert_allclose(tree_weights(np.log([[0.01], [0.09]]), np.array([2]), 1.0)[:, 0], [0.25, 0.75])


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("truncate", [True, False])
def test_widened_leaves_are_those_that_would_have_been_learned(forest, relative, truncate):
    trees, data = forest.forest_, forest.training_data_

    def learned(min_sd):
        leaves = fit_leaves(trees, data, min_sd=min_sd, relative_sd=relative, smoothing=0.1)
        variables = Variables.of(data, min_sd, 0.1, 0.05, relative)
        return learn_leaves(trees, data, leaves, variables, min_rows=10, truncate=truncate)

    smallest = smallest_sds(feature_moments(data)[1], 0.4, relative)
    found, expected = widen(learned(SMALLEST_SD), trees, data.n_categories, smallest, truncate), learned(0.4)
    assert len(expected.circuits.parent)
    np.testing.assert_array_equal(found.parameters, expected.parameters)
    np.testing.assert_array_equal(found.circuits.parameters, expected.circuits.parameters)
    np.testing.assert_array_equal(found.circuits.peaks, expected.circuits.peaks)


def test_random_classes_cannot_be_told():
    """Answers of trees to rows that they have seen would be right."""
    random = np.random.default_rng(0)
    gef = GenerativeForestClassifier(30, random_state=0).fit(random.normal(size=(400, 5)), random.integers(0, 2, 400))
    assert 0.4 < gef.oob_score_ < 0.6 and gef.oob_log_loss_ > 0.65


def test_it_pays_on_held_out_rows():
    X, y = load_digits(return_X_y=True)
    train = np.arange(len(X)) % 2 == 0
    holes = hide(np.random.default_rng(0), X[~train], 0.6)
    forest = ForestClassifier(40, random_state=0).fit(X[train], y[train])

    def loss(**settings):
        gef = GenerativeForestClassifier.from_forest(forest, **settings)
        return -np.log(np.maximum(gef.predict_proba(holes)[np.arange((~train).sum()), y[~train]], 1e-15)).mean()

    assert loss() < 0.95 * loss(min_sd=1.0, smoothing=1e-6, combine="average")


def test_without_rows_that_a_tree_did_not_see(table):
    X, y = table
    with pytest.warns(UserWarning, match="min_sd=1.0, smoothing=0.3, combine='average'"):
        gef = GenerativeForestClassifier(3, bootstrap=False, smoothing=0.3, categorical_features=DOMAINS).fit(X, y)
    assert (gef.min_sd_, gef.smoothing_, gef.combine_) == (1.0, 0.3, "average") and gef.tried_ == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GenerativeForestClassifier(
            3, bootstrap=False, min_sd=1.0, smoothing=1e-6, combine="average", categorical_features=DOMAINS
        ).fit(X, y)


@pytest.mark.parametrize("objective", ["log_loss", "likelihood"])
def test_theorem_1_with_chosen_widths(objective):
    X, y = load_wine(return_X_y=True)
    forest = ForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    gef = GenerativeForestClassifier.from_forest(forest, combine="average", objective=objective)
    assert gef.min_sd_ < 1
    np.testing.assert_allclose(gef.predict_proba(X), forest.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("objective", ["log_loss", "likelihood"])
@pytest.mark.parametrize("kind", [{}, {"leaves": "lspn", "min_rows": 5, "max_depth": 2}], ids=str)
def test_densities_integrate_to_one(objective, kind, relative, missing):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 150)
    X = np.column_stack([random.normal(y, 0.4), random.normal(-y, 1.0), (random.random(150) < 0.3 + 0.4 * y)])
    X = hide(random, X, missing)
    settings = {"objective": objective, "relative_sd": relative, **kind}
    gef = GenerativeForestClassifier(6, categorical_features={2: 2}, random_state=0, **settings).fit(X, y)
    assert len(set(gef.tried_["min_sd"])) > 2
    values, nothing = np.linspace(-8, 8, 40_001), np.full(40_001, np.nan)
    one_and_category = [np.column_stack([values, nothing, np.full_like(values, c)]) for c in (0.0, 1.0)]
    for rows in (one_and_category, [np.column_stack([nothing, values, nothing])]):
        total = sum(np.exp(gef.score_samples(part)).sum() for part in rows) * (values[1] - values[0])
        assert abs(total - 1) < 0.003


@pytest.mark.parametrize("objective", ["log_loss", "likelihood"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_samples_spread_like_the_data(load, objective):
    """In closed form, with which samples agree up to their standard error."""
    X, y = load(return_X_y=True)
    gef = GenerativeForestClassifier(objective=objective, random_state=0).fit(X, y)
    nothing = np.full((1, X.shape[1]), np.nan)
    spread = np.concatenate([gef.distribution(nothing, target=j).std() for j in range(X.shape[1])])
    off = spread / X.std(axis=0) - 1
    assert np.abs(off).max() < 0.05 if objective == "likelihood" else abs(off.mean()) < 0.05
    drawn, _ = gef.sample(20_000, random_state=0)
    tails = ((drawn - drawn.mean(axis=0)) ** 4).mean(axis=0) / drawn.var(axis=0) ** 2
    error = np.sqrt((tails - 1) / (4 * len(drawn)))
    assert (np.abs(drawn.std(axis=0) / spread - 1) < 4 * error).all()


def test_in_the_features_own_units(table):
    """Without units of their own all features share one; the choice does not depend on what it is."""
    X, y = table
    X = X[:, :2]
    small, large = (
        GenerativeForestClassifier(10, relative_sd=False, random_state=0).fit(scale * X, y) for scale in (1.0, 1024.0)
    )
    assert large.min_sd_ == pytest.approx(1024 * small.min_sd_)
    assert large.combine_ == small.combine_


@pytest.mark.parametrize(
    "wrong",
    [
        {"combine": "sometimes"},
        {"combine": -1.0},
        {"combine": ("average", "auto")},
        {"combine": ("average", 1.0, 2.0)},
        {"min_sd": "wide"},
        {"objective": "x"},
    ],
)
def test_other_settings_are_refused(table, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GenerativeForestClassifier(2, **wrong).fit(*table)


def test_progress_and_picture(forest, capsys):
    gef = GenerativeForestClassifier.from_forest(forest, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) * 7 == len(gef.tried_["combine"]) and lines[-1].startswith("complete rows: ")
    assert all("out of bag" in line for line in lines)
    axes = draw_choice(gef)
    assert len(axes.get_lines()) == 8 and axes.get_ylabel() == "out-of-bag log-loss"
    assert not axes.get_legend().get_window_extent().overlaps(axes.get_window_extent())
    fixed = GenerativeForestClassifier.from_forest(forest, min_sd=1.0, smoothing=0.1, combine="average")
    with pytest.raises(ValueError, match="Nothing was tried"):
        draw_choice(fixed)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_picture_shows_the_choice(table, kind):
    """Its ring is on what was optimised, at the best of the widths and of the ways to combine the trees."""
    # of factorised leaves the smoothing is chosen after the width, of LearnSPN's before it
    given = {} if "leaves" in kind else {"smoothing": 0.1}
    gef = GenerativeForestClassifier(12, categorical_features=DOMAINS, random_state=0, **given, **kind)
    *lines, ring = draw_choice(gef.fit(*table)).get_lines()
    x, y = ring.get_data()
    assert x == [gef.min_sd_]
    every = np.concatenate([line.get_ydata() for line in lines])
    if gef.objective == "likelihood":
        assert len(lines) == 1 and y == every.max()
    else:
        assert len(lines) == 7 and y == every.min() == gef.oob_log_loss_
    for line in lines:
        assert (np.diff(line.get_xdata()) > 0).all()
