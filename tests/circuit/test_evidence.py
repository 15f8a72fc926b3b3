"""Evidence beyond values: intervals and sets, by brute force over the leaves, by partitions, and by draws."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from mixed import PlainTree, hide, mixed_table, published, published_from
from scipy import stats
from scipy.special import logsumexp

from joints import Evidence, ForestClassifier, LearnSPNClassifier

DOMAINS = {2: 3, 3: 2}
NOTHING = np.full((1, 4), np.nan)


@pytest.fixture(scope="module")
def table():
    X, y, _ = mixed_table(np.random.default_rng(0), n=150)
    return X, y


@pytest.fixture(scope="module", params=["GeF", "GeF+", "lspn", "LearnSPN"])
def model(request, table):
    if request.param == "LearnSPN":
        return LearnSPNClassifier(categorical_features=DOMAINS, random_state=0, threshold=0.1, min_sd=0.3).fit(*table)
    options = {"categorical_features": DOMAINS, "random_state": 0}
    if request.param == "lspn":
        options |= {"leaves": "lspn", "min_rows": 10, "max_depth": 3, "threshold": 0.1}
    combine = "average" if request.param == "GeF" else "mixture"
    return published(4, combine=combine, **options).fit(*table)


def rows_with_evidence(X):
    rows = hide(np.random.default_rng(1), X[:25], 0.5)
    low, high = np.where(np.arange(25) % 3 == 0, -np.inf, -0.5), np.where(np.arange(25) % 4 == 0, np.inf, 0.7)
    rows[:, 0] = np.nan
    rows[:, 2] = np.nan
    return rows, low, high


def test_probabilities_are_sums_over_the_leaves(table):
    """Masses by SciPy in a plain reading of the trees: weight x mass of the interval x mass of the set x the rest."""
    X, y = table
    forest = ForestClassifier(3, categorical_features=DOMAINS, random_state=0).fit(X, y)
    gef = published_from(forest)
    rows, low, high = rows_with_evidence(X)
    evidence = Evidence(rows, between={0: (low, high)}, among={2: [0, 2]})
    trees = [PlainTree(gef, forest.training_data_, t) for t in range(3)]
    joint = np.zeros((3, 25, 3))
    points, parts = np.polynomial.legendre.leggauss(30)
    for t, tree in enumerate(trees):
        for weight, cell, densities, frequencies in tree.leaves:
            mass = {}
            for i, x in enumerate(rows):
                a, b = max(low[i], cell[0][0], -9.0), min(high[i], cell[0][1], 9.0)
                if a >= b:
                    continue
                if (a, b) not in mass:
                    xs = (a + b) / 2 + points * (b - a) / 2
                    mass[a, b] = sum(p * densities[0](x) for p, x in zip(parts, xs, strict=True)) * (b - a) / 2
                observed = [densities[f](x[f]) for f in (1, 3) if not np.isnan(x[f])]
                categories = densities[2](0) + densities[2](2)
                joint[t, i] += weight * mass[a, b] * categories * np.prod(observed) * frequencies
    np.testing.assert_allclose(np.exp(gef.score_samples(evidence)), joint.mean(axis=0).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(np.exp(gef.log_joint(evidence)), joint.mean(axis=0), rtol=1e-6, atol=1e-12)
    average = (joint / joint.sum(axis=2, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(gef.predict_proba(evidence), average, atol=1e-6)
    posterior = joint.mean(axis=0) / joint.mean(axis=0).sum(axis=1, keepdims=True)
    gef = published_from(forest, combine="mixture")
    np.testing.assert_allclose(gef.predict_proba(evidence), posterior, atol=1e-6)


def test_values_alone_are_the_usual_answer(model, table):
    rows = hide(np.random.default_rng(1), table[0][:40], 0.4)
    np.testing.assert_allclose(model.predict_proba(Evidence(rows)), model.predict_proba(rows), atol=1e-10)
    np.testing.assert_allclose(model.score_samples(Evidence(rows)), model.score_samples(rows), rtol=1e-9)
    np.testing.assert_allclose(model.log_joint(Evidence(rows)), model.log_joint(rows), rtol=1e-9)
    for y in (None, table[1][:40]):
        expected = model.predict_proba(rows, target=2, y=y)
        found = model.predict_proba(Evidence(rows), target=2, y=y)
        possible = np.isfinite(model.log_joint(np.where([0, 0, 1, 0], np.nan, rows)))
        sure = slice(None) if y is None else possible[np.arange(40), y]
        np.testing.assert_allclose(found[sure], expected[sure], atol=1e-8)


def test_the_probabilities_of_a_partition_sum_to_one(model, table):
    rows = hide(np.random.default_rng(2), table[0][:20], 0.5)
    rows[:, [0, 2]] = np.nan
    cuts = [-np.inf, -1.2, 0.1, 0.4, 3.0, np.inf]
    parts = [
        model.score_samples(Evidence(rows, between={"x0": (a, b)}, among={"x2": some}))
        for a, b in pairwise(cuts)
        for some in ([0, 1], [2])
    ]
    np.testing.assert_allclose(logsumexp(parts, axis=0), model.score_samples(rows), atol=1e-9)
    parts = [model.score_samples(Evidence(NOTHING, between={1: pair})) for pair in pairwise(cuts)]
    assert np.exp(parts).sum() == pytest.approx(1, abs=1e-9)
    bounds = np.where(np.arange(20) % 2, -1.0, -np.inf)
    both = Evidence(rows, between={0: (bounds, 1.0)})
    one = [Evidence(rows[i : i + 1], between={0: (bounds[i], 1.0)}) for i in range(20)]
    np.testing.assert_allclose(model.predict_proba(both), np.concatenate([model.predict_proba(e) for e in one]))


def test_a_narrow_interval_is_a_value_and_a_single_category_is_itself(model, table):
    row = table[0][:1]
    narrow = Evidence(np.array([[np.nan, row[0, 1], np.nan, np.nan]]), between={0: (row[0, 0] - 1e-9, row[0, 0])})
    value = np.array([[row[0, 0], row[0, 1], np.nan, np.nan]])
    np.testing.assert_allclose(model.predict_proba(narrow), model.predict_proba(value), atol=1e-6)
    np.testing.assert_allclose(model.score_samples(narrow) - np.log(1e-9), model.score_samples(value), atol=1e-5)
    hidden = row.copy()
    hidden[0, 2] = np.nan
    single = Evidence(hidden, among={2: [row[0, 2]]})
    np.testing.assert_allclose(model.predict_proba(single), model.predict_proba(row), atol=1e-9)


def test_draws_obey_the_evidence(model):
    evidence = Evidence([[np.nan, 0.4, np.nan, np.nan]], between={0: (-0.5, 0.6)}, among={2: [0, 2]})
    X, y = model.sample(3000, given=evidence, random_state=0)
    assert ((X[:, 0] >= -0.5) & (X[:, 0] <= 0.6)).all() and set(X[:, 2]) == {0.0, 2.0} and (X[:, 1] == 0.4).all()
    expected = np.exp(model.log_joint(evidence)[0])
    possible = expected > 0
    drawn = np.bincount(y, minlength=3)
    assert not drawn[~possible].any()
    assert stats.chisquare(drawn[possible], 3000 * expected[possible] / expected.sum()).pvalue > 1e-3
    cuts = np.linspace(-0.5, 0.6, 6)
    parts = [Evidence(evidence.X, between={0: (a, b)}, among={2: [c]}) for a, b in pairwise(cuts) for c in (0, 2)]
    p = np.exp([model.score_samples(part)[0] for part in parts])
    counts, _, _ = np.histogram2d(X[:, 0], X[:, 2], bins=[cuts, [-1, 1, 3]])
    assert stats.chisquare(counts.ravel(), 3000 * p / p.sum()).pvalue > 1e-3


def test_draws_of_a_class(model, table):
    X, y = model.sample(800, y=1, random_state=0)
    assert (y == 1).all() and len(X) == 800
    other, _ = model.sample(4000, random_state=1)
    rows, labels = other, model.sample(4000, random_state=1)[1]
    assert stats.ks_2samp(X[:, 0], rows[labels == 1, 0]).pvalue > 1e-3
    X, y = model.sample(2, y=[0, 2, 1], random_state=0)
    assert y.tolist() == [0, 0, 2, 2, 1, 1]
    X, y = model.sample(2, given=[[0.1, np.nan, np.nan, np.nan]] * 2, y=[2, 0], random_state=0)
    assert y.tolist() == [2, 2, 0, 0] and (X[:, 0] == 0.1).all()
    with pytest.raises(ValueError, match=r"y has 9, which is not a class of the training data \(0, 1, 2\)"):
        model.sample(1, y=9)
    with pytest.raises(ValueError, match="y has 2 classes for 1 rows"):
        model.sample(1, given=NOTHING, y=[0, 1])
    every = model.predict_proba(np.repeat(NOTHING, 2, axis=0), target=2, y=[1, 1])
    np.testing.assert_array_equal(model.predict_proba(np.repeat(NOTHING, 2, axis=0), target=2, y=1), every)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"between": {0: (1.0, 1.0)}}, "row 0 is impossible: the interval of feature 'x0' is empty"),
        ({"between": {1: (5.0, 6.0)}}, "the value of feature 'x1' is outside of its interval"),
        ({"between": {2: (0, 1)}}, "'x2', which is categorical"),
        ({"between": {0: 3.0}}, "give a lower and an upper bound"),
        ({"between": {"x9": (0, 1)}}, "between names 'x9'"),
        ({"among": {0: [1]}}, "'x0', which is continuous"),
        ({"among": {2: [7]}}, "7, which is not a category of feature 'x2'"),
        ({"among": {2: [[]]}}, "no category of feature 'x2' is left"),
        ({"among": {2: []}}, "no category of feature 'x2' is left"),
        ({"among": {2: 1}}, "among has 1 for feature 'x2': give a list"),
        ({"among": {2: "red"}}, "among has 'red' for feature 'x2': give a list"),
        ({"among": {2: [[0], [1]]}}, "one per row"),
        ({"among": {3: [1]}}, "not among those listed"),
    ],
)
def test_impossible_or_unclear_evidence_is_an_error(model, options, reason):
    evidence = Evidence([[np.nan, 0.4, np.nan, 0.0]], **options)
    for ask in (model.predict_proba, model.score_samples, lambda e: model.sample(1, given=e)):
        with pytest.raises(ValueError, match=reason):
            ask(evidence)


def test_evidence_is_not_taken_for_a_table(model, table):
    evidence = Evidence(NOTHING, between={0: (0, 1)})
    assert "between={0: (0, 1)}" in repr(evidence)
    forest = ForestClassifier(2, random_state=0).fit(*table)
    for ask in (forest.predict, model.answer, Evidence(evidence).__array__, lambda e: forest.fit(e, [0])):
        with pytest.raises(TypeError, match="more than a table of values"):
            ask(evidence)
    with pytest.raises(ValueError, match=r"between is .*: give a mapping"):
        Evidence(NOTHING, between=[(0, 0, 1)])


def test_evidence_of_probability_zero_is_an_error():
    X = np.column_stack([np.repeat([0.0, 1.0], 20), np.tile([0.0, 1.0], 20)])
    options = {"smoothing": 0.0, "max_features": None, "categorical_features": {0: 3}, "random_state": 0}
    gef = published(3, **options).fit(X, X[:, 0].astype(int))
    never = Evidence([[np.nan, np.nan]], among={0: [2]})
    assert gef.score_samples(never) == -np.inf
    for ask in (gef.predict_proba, lambda e: gef.sample(1, given=e), lambda e: gef.predict(e, target=1)):
        with pytest.raises(ValueError, match="row 0 has probability zero"):
            ask(never)
    with pytest.raises(ValueError, match="probability zero"):
        gef.sample(1, given=[[1.0, np.nan]], y=0)


def test_evidence_in_the_words_of_a_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=90), "colour": pd.Categorical(rng.choice(["red", "blue", "green"], 90))}
    )
    gef = published(5, random_state=0).fit(frame, np.where(frame["colour"] == "red", "yes", "no"))
    rows = frame.iloc[:2].assign(colour=None)
    evidence = Evidence(rows, among={"colour": [["red"], ["blue", "green"]]}, between={"size": (-9, 9)})
    assert gef.predict(evidence).tolist() == ["yes", "no"]
    assert set(gef.sample(5, given=evidence, random_state=0)[0]["colour"][5:]) <= {"blue", "green"}
