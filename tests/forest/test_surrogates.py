"""Surrogate splits agree with rpart's, and with a plain search in the published reading."""

import numpy as np
import pytest
from rpart_facts import CASES, Facts

from joints import ForestClassifier
from joints.forest.surrogates import LEFT, RIGHT, _first_left_category, find_surrogates

# rpart drops a categorical stand-in that disagrees in fewer than two rows (rpart/README.md); we keep it
KEPT_BY_US = {("mtcars", 2, 5), ("stagec", 2, 5)}


ALL = [pytest.param(Facts(path), id=path.stem) for path in CASES]
COMPLETE = [case for case in ALL if not case.values[0].has_missing]


def ours(facts, found, place, flipped):
    """Our stand-ins at a node in rpart's terms: (feature, threshold or left codes, below, agreement)."""
    out = []
    for s in range(found.start[place], found.start[place + 1]):
        f = int(found.feature[s])
        if found.subset[s] < 0:
            below = "left" if bool(found.below_left[s]) != flipped else "right"
            out.append((f, pytest.approx(found.threshold[s], rel=1e-12), below, pytest.approx(found.agreement[s])))
        else:
            sides = found.sides[found.subset[s] : found.subset[s] + facts.n_categories[f]]
            left = np.flatnonzero(sides == (RIGHT if flipped else LEFT)).tolist()
            out.append((f, left, None, pytest.approx(found.agreement[s])))
    return out


@pytest.mark.parametrize("facts", ALL)
def test_stand_ins_are_those_of_rpart(facts):
    found = find_surrogates(facts.forest, facts.data, "text", max_features=1)
    for place, number in enumerate(facts.order):
        node = facts.nodes[number]
        # where training values are missing, rpart sends those rows by surrogate and we at random: compare the root
        if node["leaf"] or (facts.has_missing and number != 1):
            continue
        expected = [
            (s["feature"], s.get("threshold", s.get("left")), s.get("below"), s["agree"]) for s in node["surrogates"]
        ]
        got = [
            s for s in ours(facts, found, place, facts.flipped(number)) if (facts.case, number, s[0]) not in KEPT_BY_US
        ]
        assert expected == got, (facts.case, number)


@pytest.mark.parametrize("facts", COMPLETE)
def test_rows_go_where_rpart_sends_them(facts):
    model = ForestClassifier(n_estimators=1, bootstrap=False, surrogates="text")
    model.fit(facts.data.X, facts.data.y)  # any tree, replaced by rpart's
    model.features_.categories[:] = [None if k == 0 else np.arange(k, dtype=float) for k in facts.n_categories]
    model.forest_, model.training_data_, model._surrogates = facts.forest, facts.data, None
    X = np.array([[np.nan if v is None else v for v in c] for c in facts.queries["values"]], dtype=float).T
    checked = 0
    proba = model.predict_proba(X, missing="surrogate")
    for row, (leaf, values) in enumerate(zip(facts.queries["node"], X, strict=True)):
        path, number = [], leaf
        while number:
            path.append(number)
            number //= 2
        if not facts.nodes[leaf]["leaf"] or any((facts.case, number, 5) in KEPT_BY_US for number in path):
            continue  # rpart stops at a tie of its majority rule; or one of our additional stand-ins is on the way
        counts = np.array(facts.nodes[leaf]["counts"], dtype=float)
        np.testing.assert_allclose(proba[row], counts / counts.sum(), err_msg=str(values))
        checked += 1
    assert checked > 20


def published_by_hand(X, y, weights, drawn, best, goes_left, n_categories):
    """The published reading, spelt out: candidates by agreement with `code > first category on the left`."""
    x = X[:, best]
    right = x > goes_left if n_categories[best] else ~(x <= goes_left)
    rows = np.repeat(np.arange(len(X)), weights)
    z = right[rows]
    majority = max(z.mean(), 1 - z.mean())
    found = []
    for g in drawn:
        if g == best:
            continue
        order = rows[np.argsort(X[rows, g], kind="stable")]
        values, side = X[order, g], right[order]
        scores = []
        for i in range(2, len(order) - 2):
            if values[i] == values[i + 1]:
                continue
            same = (~side[: i + 1]).sum() + side[i + 1 :].sum()
            scores.append((max(same, len(order) - same) / len(order), (values[i] + values[i + 1]) / 2))
        if scores and max(s for s, _ in scores) > majority:
            top = max(s for s, _ in scores)
            found.append((g, top, next(t for s, t in scores if s == top)))
    return sorted(found, key=lambda item: -item[1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_published_reading_at_the_root(n_classes):
    rng = np.random.default_rng(n_classes)
    n, m = 200, 5
    X = np.column_stack([rng.integers(0, 4, n), rng.normal(size=(n, 2)), rng.integers(0, 3, n), rng.normal(size=n)])
    X[:, 1] += X[:, 0]
    X[:, 3] = (X[:, 3] + (X[:, 0] > 1)) % 3
    y = (X[:, 0] % n_classes + (rng.random(n) < 0.1)).astype(int) % n_classes
    model = ForestClassifier(
        n_estimators=5, max_features=m, surrogates="published", categorical_features={0: 4, 3: 3}, random_state=0
    ).fit(X, y)
    found, forest = model.find_surrogates(), model.forest_
    seen = set()
    for tree in range(5):
        root = forest.tree_start[tree]
        best = forest.feature[root]
        weights = model.training_data_.weights(forest.seeds[tree])
        if model.features_.n_categories[best]:
            left = forest.goes_left[forest.subset[root] :][: model.features_.n_categories[best]]
            if n_classes == 2:  # the first category in the order of the number of rows of class 1
                ones = [weights[(X[:, best] == c) & (y == 1)].sum() for c in range(len(left))]
                reference = int(np.argmin(ones))
            else:
                reference = int(np.flatnonzero(left)[0])
        else:
            reference = forest.threshold[root]
        expected = published_by_hand(X, y, weights, range(m), best, reference, model.features_.n_categories)
        span = slice(found.start[root], found.start[root + 1])
        np.testing.assert_allclose(
            np.column_stack([found.feature[span], found.threshold[span]])[np.argsort(found.feature[span])],
            np.reshape(sorted((g, t) for g, _, t in expected), (-1, 2)),
        )
        assert [s for _, s, _ in expected] == pytest.approx(found.agreement[span].tolist())
        seen.add(int(best))
    assert 0 in seen  # the categorical best split was exercised


def test_published_reference_among_more_than_15_categories():
    """The first in the published order, which is not the smallest code: almost every row counts as sent left."""
    counts = np.zeros((16, 2))
    counts[[2, 9]] = [[3, 1], [1, 4]]
    goes_left = np.ones(16, dtype=bool)
    assert _first_left_category(counts, goes_left, 2) == 14
    assert _first_left_category(counts[:15], goes_left[:15], 2) == 0


def test_text_reading_keeps_subset_membership():
    """A copy of a categorical feature is a perfect stand-in in the text's reading, not in the published one."""
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 4, 300)
    X = np.column_stack([colour, colour, rng.normal(size=300)]).astype(float)
    y = np.isin(colour, [0, 3]).astype(int)
    hidden = X.copy()
    hidden[:, 0] = np.nan
    accuracy = {}
    for reading in ("text", "published"):
        model = ForestClassifier(surrogates=reading, categorical_features=[0, 1], random_state=0, max_features=2)
        accuracy[reading] = (model.fit(X, y).predict(hidden, missing="surrogate") == y).mean()
    assert accuracy["text"] == 1.0
    assert accuracy["published"] < 0.9


def test_text_reading_finds_stand_ins_when_most_training_values_are_missing():
    """Agreement is a share of the rows that have both values: a number of rows would never reach the majority."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1)) + 0.1 * rng.normal(size=(600, 8))
    y = (X.mean(axis=1) > 0.5).astype(int)
    X[rng.random(X.shape) < 0.6] = np.nan
    model = ForestClassifier(n_estimators=20, surrogates="text", random_state=0, bootstrap=False).fit(X, y)
    found = model.find_surrogates()
    assert found.start[1] - found.start[0] == 7  # at the first root, by all other features
    assert (found.agreement[found.start[0] : found.start[1]] > 0.85).all()
    hidden = np.full((200, 8), np.nan)
    hidden[:, 0] = rng.normal(size=200)
    accuracy = (model.predict(hidden, missing="surrogate") == (hidden[:, 0] > 0.5)).mean()
    assert accuracy > 0.85  # the majority rule alone: about 0.7
