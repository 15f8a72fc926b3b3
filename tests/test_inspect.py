"""What to measure next, which features matter, and how robust predictions are: by brute force on small circuits."""

import numpy as np
import pytest
from mixed import hide, mixed_table, published
from scipy import stats
from scipy.special import entr

from joints import ForestClassifier, GenerativeForestClassifier, GenerativeForestRegressor, LearnSPNClassifier
from joints.inspect import feature_importances, information_gain, robustness

DOMAINS = {2: 3, 3: 2}


@pytest.fixture(scope="module")
def table():
    X, y, _ = mixed_table(np.random.default_rng(0), n=150)
    return X, y


def test_the_gain_of_categories_is_the_mutual_information(table):
    X, y = table
    gef = published(4, combine="mixture", categorical_features=DOMAINS, random_state=0).fit(X, y)
    rows = hide(np.random.default_rng(1), X[:20], 0.3)
    rows[:, 2] = np.nan
    gain = information_gain(gef, rows)
    for i, row in enumerate(rows):
        filled = np.repeat(row[None], 3, axis=0)
        filled[:, 2] = np.arange(3)
        joint = np.exp(gef.log_joint(filled))
        joint /= joint.sum()
        expected = entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum() - entr(joint).sum()
        assert gain[i, 2] == pytest.approx(expected, abs=1e-9)
    assert (gain[~np.isnan(rows)] == 0).all() and (gain > -1e-6).all()


@pytest.mark.parametrize("combine", ["mixture", "average"])
def test_the_gain_of_a_continuous_feature_is_an_integral(table, combine):
    gef = published(4, combine=combine, categorical_features=DOMAINS, random_state=0).fit(*table)
    row = np.array([[np.nan, 0.3, np.nan, 1.0]])
    draws = gef.distribution(row, target=0).quantile((np.arange(2000) + 0.5) / 2000)[0]
    filled = np.repeat(row, 2000, axis=0)
    filled[:, 0] = draws
    expected = entr(gef.predict_proba(row)).sum() - entr(gef.predict_proba(filled)).sum(axis=1).mean()
    assert information_gain(gef, row, n_points=200)[0, 0] == pytest.approx(expected, abs=2e-3)
    assert information_gain(gef, row)[0, 0] == pytest.approx(expected, abs=3e-2)


def test_importances_are_those_of_scikit_learn_on_the_same_tree(table):
    from sklearn.tree import DecisionTreeClassifier

    X, y = table
    tree = DecisionTreeClassifier(random_state=0).fit(X[:, :2], y)
    gef = GenerativeForestClassifier.from_sklearn(tree, X[:, :2], y)
    np.testing.assert_allclose(feature_importances(gef), tree.feature_importances_, atol=1e-12)
    forest = ForestClassifier(20, random_state=0).fit(
        np.column_stack([X, np.random.default_rng(0).normal(size=150)]), y
    )
    found = feature_importances(forest)
    assert found.sum() == pytest.approx(1) and found[:2].min() > found[4]
    assert (feature_importances(ForestClassifier(2).fit(X, np.zeros(150))) == 0).all()


def test_importances_of_regression_are_those_of_scikit_learn_on_the_same_tree(table):
    from sklearn.tree import DecisionTreeRegressor

    X, y = table[0][:, :2], table[0] @ [1.0, -2.0, 0.5, 1.0] + table[1]
    options = {"max_depth": 4, "min_samples_leaf": 5, "random_state": 0}
    tree = DecisionTreeRegressor(**options).fit(X, y)
    gef = GenerativeForestRegressor(1, bootstrap=False, **options).fit(X, y)
    np.testing.assert_allclose(gef.predict(X), tree.predict(X))
    np.testing.assert_allclose(feature_importances(gef), tree.feature_importances_, atol=1e-9)


def test_models_of_another_kind_are_named(table):
    X, y = table
    forest = ForestClassifier(2, random_state=0).fit(X, y)
    spn = LearnSPNClassifier(random_state=0).fit(X, y)
    for ask, model in ((information_gain, forest), (robustness, forest)):
        with pytest.raises(TypeError, match=r"a ForestClassifier: .* takes a GenerativeForestClassifier or LearnSPN"):
            ask(model, X)
    with pytest.raises(TypeError, match="a LearnSPNClassifier: this function takes a ForestClassifier or Generative"):
        feature_importances(spn)
    with pytest.raises(ValueError, match="n_points is 0"):
        information_gain(spn, X, n_points=0)


def worst_lead(model, row, epsilon, first, second):
    """The least lead of one class over another by brute force: all vertices of all contaminated weights."""
    forest, leaves = model.forest_, model.leaves_

    def vertices(w):
        return [(1 - epsilon) * w + epsilon * e for e in np.eye(len(w))]

    def values(node):
        """All values of (p(x, first), p(x, second), p(x)) at a node that weights in the corners give."""
        f = forest.feature[node]
        if f >= 0:
            left, right = node + 1, forest.right[node]
            w = forest.counts[[left, right]].sum(axis=1) / forest.counts[node].sum()
            return [v[0] * a + v[1] * b for v in vertices(w) for a in values(left) for b in values(right)]
        v = forest.leaf[node]
        densities = [1.0]
        for u, (x, k) in enumerate(zip(row, model.features_.n_categories, strict=True)):
            if np.isnan(x):
                continue
            o = leaves.offset[u]
            if k:
                chances = vertices(np.exp(leaves.parameters[v, o : o + k]))
                densities = [d * p[int(x)] * cells[node][u][int(x)] for d in densities for p in chances]
            else:
                mean, h, c = leaves.parameters[v, o : o + 3]
                low, high = cells[node][u]
                inside = np.exp(c + h * (x - mean) ** 2) if low < x <= high else 0.0
                densities = [d * inside for d in densities]
        classes = [np.array([q[first], q[second], 1.0]) for q in vertices(leaves.class_proba[v])]
        return [d * q for d in set(densities) for q in classes] if max(densities) else [np.zeros(3)]

    cells = cells_by_node(model)
    trees = [values(node) for node in forest.tree_start[:-1]]
    if model.combine == "average":
        return np.mean([min((v[0] - v[1]) / v[2] for v in tree if v[2] > 0) for tree in trees])
    w = vertices(np.full(len(trees), 1 / len(trees)))
    leads = [min(v[0] - v[1] for v in tree) for tree in trees]
    return min(v @ leads for v in w)


def cells_by_node(model):
    forest, cells = model.forest_, {}

    def visit(node, cell):
        cells[node] = cell
        f = forest.feature[node]
        if f < 0:
            return
        left, right = dict(cell), dict(cell)
        if forest.subset[node] < 0:
            low, high = cell[f]
            left[f], right[f] = (low, min(high, forest.threshold[node])), (max(low, forest.threshold[node]), high)
        else:
            goes_left = forest.goes_left[forest.subset[node] :][: len(cell[f])]
            left[f], right[f] = cell[f] & goes_left, cell[f] & ~goes_left
        visit(node + 1, left)
        visit(forest.right[node], right)

    for root in forest.tree_start[:-1]:
        categories = enumerate(model.features_.n_categories)
        visit(root, {u: np.ones(k, dtype=bool) if k else (-np.inf, np.inf) for u, k in categories})
    return cells


@pytest.mark.parametrize("combine", ["mixture", "average"])
def test_robustness_by_brute_force(table, combine):
    X, y = table
    X = X[:, [0, 2]]
    options = {"max_depth": 2, "max_features": None, "categorical_features": {1: 3}, "random_state": 0}
    gef = published(2, combine=combine, min_sd=0.3, **options).fit(X, y)
    rows = np.array([[0.3, 1.0], [np.nan, 2.0], [1.5, np.nan], [np.nan, np.nan], [-2.0, 0.0]])
    found = robustness(gef, rows)
    predicted = gef.predict_proba(rows).argmax(axis=1)
    for row, best, epsilon in zip(rows, predicted, found, strict=True):
        others = [k for k in range(3) if k != best]
        assert 0 <= epsilon < 1
        before = [worst_lead(gef, row, max(epsilon - 1e-6, 0.0), best, k) for k in others]
        after = [worst_lead(gef, row, min(epsilon + 1e-6, 1.0), best, k) for k in others]
        assert min(before) >= -1e-12 and min(after) <= 1e-12


def test_robustness_of_learned_circuits_by_random_weights(table):
    """No random contamination within the robustness changes the class; a class-selective circuit, all its sums."""
    X, y = table
    model = LearnSPNClassifier(categorical_features=DOMAINS, random_state=0, threshold=0.2, min_sd=0.3).fit(X, y)
    rows = hide(np.random.default_rng(1), X[:12], 0.4)
    found, predicted = robustness(model, rows), model.predict_proba(rows).argmax(axis=1)
    circuits, rng = model.leaves_.circuits, np.random.default_rng(0)
    parents = np.flatnonzero(circuits.is_sum)
    worst = np.ones(len(rows))
    for _ in range(150):
        for epsilon in (0.02, 0.1, 0.3):
            weight = np.exp(circuits.log_weight)
            for p in parents:
                children = np.flatnonzero(circuits.parent == p)
                corner = rng.integers(len(children))
                weight[children] = (1 - epsilon) * weight[children] + epsilon * (np.arange(len(children)) == corner)
            proba = circuits.probabilities.copy()
            for u, o in zip(circuits.factor_variable, circuits.factor_offset, strict=True):
                if u in DOMAINS:
                    corner = rng.integers(DOMAINS[u])
                    proba[o : o + DOMAINS[u]] *= 1 - epsilon
                    proba[o + corner] += epsilon
            other = LearnSPNClassifier()
            other.__dict__.update({k: v for k, v in vars(model).items() if k.endswith("_")})
            with np.errstate(divide="ignore"):
                logs = np.where(proba == circuits.probabilities, circuits.parameters, np.log(proba))
                changed = circuits._replace(
                    log_weight=np.log(weight), weight=weight, parameters=logs, probabilities=proba
                )
            other.leaves_ = model.leaves_._replace(circuits=changed)
            flipped = other.predict_proba(rows).argmax(axis=1) != predicted
            assert not (flipped & (found > epsilon + 1e-6)).any()
            worst = np.where(flipped, np.minimum(worst, epsilon), worst)
    assert (worst < 1).any()


def test_robust_predictions_are_right_more_often():
    X, y, _ = mixed_table(np.random.default_rng(3), n=600)
    gef = published(20, categorical_features=DOMAINS, random_state=0).fit(X[:300], y[:300])
    rows = hide(np.random.default_rng(4), X[300:], 0.3)
    right, how = gef.predict(rows) == y[300:], robustness(gef, rows)
    assert right[how > np.median(how)].mean() > right[how <= np.median(how)].mean() + 0.1
    assert stats.spearmanr(how, gef.predict_proba(rows).max(axis=1)).statistic > 0.5


def test_one_class_is_robust(table):
    gef = published(2, random_state=0).fit(table[0], np.zeros(150))
    np.testing.assert_array_equal(robustness(gef, table[0][:3]), 1.0)


def test_a_tie_is_not_robust():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    gef = published(1, bootstrap=False, random_state=0).fit(X, [0, 1, 0, 1])
    np.testing.assert_allclose(robustness(gef, [[0.0], [np.nan]]), 0.0, atol=1e-8)
