"""LearnSPN: structures as defined, exact marginals, sensible densities, degenerate data."""

import itertools

import numpy as np
import pytest
from mixed import hide, mixed_table, published, published_from, weights_in_bootstrap_samples
from scipy import stats
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from joints import ForestClassifier, LearnSPNClassifier
from joints.circuit.learnspn import Variables, codes_of, dependent_groups, two_means
from joints.circuit.leaves import Smoothing
from joints.forest.arrays import leaves_of_training_rows


def variables(values, n_categories, threshold=0.001):
    """Variables of unit scale, none of them the class."""
    m = len(n_categories)
    smoothing = Smoothing(np.zeros(m), np.ones(m), 0.0, False)
    start = np.concatenate([[0], np.cumsum(n_categories)[:-1]])
    values = np.asfortranarray(values)
    return Variables(
        values, codes_of(values, n_categories), np.asarray(n_categories), start, np.ones(m), threshold, smoothing
    )


@parametrize_with_checks(
    [LearnSPNClassifier(), published(n_estimators=5, leaves="lspn", min_rows=5)],
    expected_failed_checks=lambda model: weights_in_bootstrap_samples(model) if hasattr(model, "bootstrap") else {},
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def factors_of(circuits, node):
    """The univariate densities of a node."""
    return range(circuits.factor_start[node], circuits.factor_start[node + 1])


def plain_value(circuits, node, x, n_categories, target, k):
    """log-value of a node by recursion over children, with the target variable set to k."""
    children = np.flatnonzero(circuits.parent == node)
    if circuits.is_sum[node]:
        return logsumexp(
            [circuits.log_weight[c] + plain_value(circuits, c, x, n_categories, target, k) for c in children]
        )
    total = sum(plain_value(circuits, c, x, n_categories, target, k) for c in children)
    for j in factors_of(circuits, node):
        v, o = circuits.factor_variable[j], circuits.factor_offset[j]
        value = k if v == target else x[v]
        if np.isnan(value):
            continue
        if n_categories[v]:
            total += circuits.parameters[o + int(value)]
        else:
            mean, h, c = circuits.parameters[o : o + 3]
            total += c + h * (value - mean) ** 2
    return total


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0])
def test_evaluation_equals_plain_recursion(rate):
    rng = np.random.default_rng(0)
    X, y, n_categories = mixed_table(rng, n=120, continuous=3, categories=(3, 2))
    X[:, 1] += X[:, 0]
    model = LearnSPNClassifier(categorical_features={3: 3, 4: 2}, random_state=0, threshold=0.2).fit(X, y)
    circuits = model.leaves_.circuits
    assert circuits.is_sum.sum() > 3
    queries = hide(rng, X[:20], rate)
    with_class = np.append(n_categories, 3)
    expected = [[plain_value(circuits, 0, np.append(x, np.nan), with_class, 5, k) for k in range(3)] for x in queries]
    np.testing.assert_allclose(model.log_joint(queries), expected, rtol=1e-10, atol=1e-10)
    hidden = np.where(np.arange(5) == 3, np.nan, queries)
    given_class = [
        [plain_value(circuits, 0, np.append(x, c), with_class, 3, k) for k in range(3)]
        for x, c in zip(hidden, y[:20], strict=True)
    ]
    proba = np.exp(np.array(given_class) - logsumexp(given_class, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(queries, target=3, y=y[:20]), proba, atol=1e-10)


def test_densities_beyond_the_range_of_numbers():
    """Rows that are very likely given one class and very unlikely given the other: e^900 and e^-400."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.where(y[:, None] == 0, 0.01, 1.0) * rng.normal(size=(40, 400))
    model = LearnSPNClassifier(min_sd=0.01, threshold=1e-9, random_state=0).fit(X, y)
    with_class = np.append(np.zeros(400, dtype=np.int64), 2)
    circuits = model.leaves_.circuits
    queries = hide(rng, X[:6], 0.05)
    expected = [[plain_value(circuits, 0, np.append(x, np.nan), with_class, 400, k) for k in range(2)] for x in queries]
    assert np.max(expected) > 800 and np.min(expected) < -300
    np.testing.assert_allclose(model.score_samples(queries), np.max(expected, axis=1), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(queries), np.argmax(expected, axis=1))


def test_forest_leaves_equal_plain_recursion():
    """GeF(LSPN) on complete rows: one leaf per tree, evaluated naively."""
    rng = np.random.default_rng(1)
    X, y, n_categories = mixed_table(rng, n=200, continuous=3, categories=(3,))
    X[:, 2] = X[:, 0] + 0.3 * rng.normal(size=200)
    model = published(
        4, leaves="lspn", min_rows=10, min_samples_leaf=12, max_depth=2, categorical_features={3: 3}, random_state=0,
        combine="mixture",
    ).fit(X, y)  # fmt: skip
    circuits, forest = model.leaves_.circuits, model.forest_
    assert (circuits.of_leaf >= 0).all()
    with_class = np.append(n_categories, 3)
    for x in X[:10]:
        trees = []
        for tree in range(4):
            node = forest.tree_start[tree]
            while forest.feature[node] >= 0:
                f = forest.feature[node]
                left = (
                    forest.goes_left[forest.subset[node] + int(x[f])]
                    if n_categories[f]
                    else x[f] <= forest.threshold[node]
                )
                node = node + 1 if left else forest.right[node]
            leaf = forest.leaf[node]
            root = circuits.node_start[circuits.of_leaf[leaf]]
            trees.append(
                [
                    model.leaves_.log_weight[leaf] + plain_value(circuits, root, np.append(x, np.nan), with_class, 4, k)
                    for k in range(3)
                ]
            )
        expected = logsumexp(trees, axis=0) - np.log(4)
        np.testing.assert_allclose(model.log_joint(x[None])[0], expected, rtol=1e-10)
        per_tree = np.exp(np.array(trees) - logsumexp(trees, axis=1, keepdims=True))
        np.testing.assert_allclose(model.answer(x[None]).average[0], per_tree.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LearnSPNClassifier(categorical_features={0: 3, 1: 2, 2: 4, 3: 2}, random_state=0, threshold=0.1),
        published(
            3, leaves="lspn", truncate=True, min_rows=8, max_depth=3, random_state=0,
            categorical_features={0: 3, 1: 2, 2: 4, 3: 2}, threshold=0.1,
        ),
    ],
    ids=["LearnSPN", "GeF(LSPN)"],
)  # fmt: skip
def test_discrete_marginals_are_sums_over_all_states(model):
    rng = np.random.default_rng(3)
    X, y, _ = mixed_table(rng, n=200, continuous=0, categories=(3, 2, 4, 2))
    X[:, 3] = np.where(rng.random(200) < 0.8, X[:, 1], X[:, 3])
    model.fit(X, y)
    assert model.leaves_.circuits.is_sum.any()
    states = np.array(list(itertools.product(range(3), range(2), range(4), range(2))), dtype=float)
    p = np.exp(model.log_joint(states))
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    for query in hide(rng, X[:40], 0.5):
        observed = ~np.isnan(query)
        agrees = (states[:, observed] == query[observed]).all(axis=1)
        np.testing.assert_allclose(
            np.exp(model.log_joint(query[None]))[0], p[agrees].sum(axis=0), rtol=1e-10, atol=1e-15
        )


def test_truncated_leaves_integrate_to_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    X[:, 1] += X[:, 0]
    y = (X[:, 0] > 0) ^ (rng.random(120) < 0.2)
    mass = {}
    for truncate in (True, False):
        model = published(
            2, leaves="lspn", truncate=truncate, min_rows=10, max_depth=2, random_state=0, threshold=0.05
        ).fit(X, y)
        edges = [
            np.concatenate([[-12.0], np.unique(model.forest_.threshold[model.forest_.feature == f]), [12.0]])
            for f in (0, 1)
        ]
        nodes, weights = np.polynomial.legendre.leggauss(40)
        points, w = [], []
        for edge in edges:
            a, b = edge[:-1, None], edge[1:, None]
            points.append(((a + b) / 2 + (b - a) / 2 * nodes).ravel())
            w.append(((b - a) / 2 * weights).ravel())
        mesh = np.array(np.meshgrid(*points, indexing="ij")).reshape(2, -1).T
        mass[truncate] = np.exp(model.score_samples(mesh)) @ np.outer(*w).ravel()
    assert mass[True] == pytest.approx(1.0, abs=1e-8)
    assert mass[False] < 0.999  # what is outside of the cells is lost


def test_trees_are_those_of_gef_and_small_leaves_stay_factorised():
    X, y = load_wine(return_X_y=True)
    forest = ForestClassifier(10, random_state=0).fit(X, y)
    plain = published_from(forest)
    lspn = published_from(forest, leaves="lspn", min_rows=30)
    assert lspn.forest_ is plain.forest_
    rows = np.concatenate(
        [np.bincount(*_leaf_weights(forest, tree), minlength=forest.forest_.n_leaves)[None] for tree in range(10)]
    ).sum(axis=0)
    np.testing.assert_array_equal(lspn.leaves_.circuits.of_leaf >= 0, rows > 30)
    np.testing.assert_array_equal(lspn.leaves_.parameters, plain.leaves_.parameters)
    same = published_from(forest, leaves="lspn", min_rows=10_000)
    queries = hide(np.random.default_rng(0), X, 0.4)
    np.testing.assert_array_equal(same.predict_proba(queries), plain.predict_proba(queries))
    assert not np.array_equal(lspn.predict_proba(queries), plain.predict_proba(queries))


def _leaf_weights(forest, tree):
    return leaves_of_training_rows(forest.forest_, forest.training_data_, tree)


def test_class_selective_structure():
    X, y, _ = mixed_table(np.random.default_rng(0), n=150)
    model = LearnSPNClassifier(categorical_features={2: 3, 3: 2}, random_state=0).fit(X, y)
    circuits = model.leaves_.circuits
    children = np.flatnonzero(circuits.parent == 0)
    assert circuits.is_sum[0] and len(children) == 3
    np.testing.assert_allclose(np.exp(circuits.log_weight[children]), np.bincount(y) / 150)
    assert not circuits.is_sum[children].any()
    on_class = np.flatnonzero(circuits.factor_variable == 4)
    # the class occurs right below the root and nowhere else
    np.testing.assert_array_equal(circuits.factor_start[children], on_class)
    for k, j in enumerate(on_class):
        o = circuits.factor_offset[j]
        np.testing.assert_array_equal(np.exp(circuits.parameters[o : o + 3]), np.arange(3) == k)


def test_scopes_are_decomposable_and_smooth():
    X, y = load_breast_cancer(return_X_y=True)
    model = LearnSPNClassifier(random_state=0).fit(X[:200, :8], y[:200])
    circuits = model.leaves_.circuits
    scopes = [set() for _ in circuits.parent]
    for node in range(len(circuits.parent) - 1, -1, -1):
        own = [int(circuits.factor_variable[j]) for j in factors_of(circuits, node)]
        assert not scopes[node] & set(own)
        assert len(own) == len(set(own))
        scopes[node] |= set(own)
        above = circuits.parent[node]
        if above >= 0:
            if circuits.is_sum[above]:
                assert scopes[above] in (set(), scopes[node])  # smooth
            else:
                assert not scopes[above] & scopes[node]  # decomposable
            scopes[above] |= scopes[node]
    assert scopes[0] == set(range(9))
    weights = np.zeros(len(circuits.parent))
    np.add.at(weights, circuits.parent[1:], np.exp(circuits.log_weight[1:]))
    np.testing.assert_allclose(weights[circuits.is_sum], 1.0)


def test_dependence_is_found_and_independence_respected():
    rng = np.random.default_rng(0)
    n = 300
    a, c = rng.normal(size=n), rng.integers(0, 3, n).astype(float)
    data = np.column_stack([a, a + rng.normal(size=n), rng.normal(size=n), c, (c + (rng.random(n) < 0.2)) % 3,
                            rng.integers(0, 2, n), c + rng.normal(size=n)])  # fmt: skip
    n_categories = np.array([0, 0, 0, 3, 3, 2, 0])
    group = np.empty(7, dtype=np.int64)
    n_groups = dependent_groups(variables(data, n_categories), np.arange(n), np.arange(7), group)

    def root(i):
        return i if group[i] == i else root(group[i])

    groups = {frozenset(i for i in range(7) if root(i) == r) for r in map(root, range(7))}
    assert groups == {frozenset({0, 1}), frozenset({2}), frozenset({3, 4, 6}), frozenset({5})}
    assert n_groups == 4
    data[rng.random(data.shape) < 0.2] = np.nan  # rows with both values are enough
    assert dependent_groups(variables(data, n_categories), np.arange(n), np.arange(7), group) == 4


def test_few_rows_count_as_independent():
    data = np.repeat(np.arange(4.0)[:, None], 2, axis=1)
    group = np.empty(2, dtype=np.int64)
    assert dependent_groups(variables(data, [0, 0], 0.5), np.arange(4), np.arange(2), group) == 2
    codes = np.repeat(np.arange(3.0), 6)[:, None].repeat(2, axis=1)  # 18 rows, 9 cells: not more than 2 for each
    table = variables(codes, [3, 3], 0.5)
    assert dependent_groups(table, np.arange(18), np.arange(2), group) == 2
    assert dependent_groups(table, np.arange(18).repeat(2), np.arange(2), group) == 1


def test_two_means_finds_two_clusters():
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, 200)
    data = np.column_stack([rng.normal(6.0 * side), np.where(rng.random(200) < 0.9, side, 1 - side)]).astype(float)
    data[rng.random(data.shape) < 0.1] = np.nan
    labels = np.empty(200, dtype=np.int64)
    found = two_means(variables(data, [0, 2]), np.arange(200), np.arange(2), np.uint64(1), labels)
    assert found
    agreement = (labels == side).mean()
    assert max(agreement, 1 - agreement) > 0.95


def test_two_means_of_equal_rows_finds_nothing():
    labels = np.empty(20, dtype=np.int64)
    data = np.ones((20, 2))
    assert not two_means(variables(data, [0, 0]), np.arange(20), np.arange(2), np.uint64(1), labels)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_held_out_likelihood_beats_a_factorised_model(load):
    X, y = load(return_X_y=True)
    X = stats.zscore(X)
    train = np.arange(len(X)) % 3 > 0
    learned = LearnSPNClassifier(random_state=0, min_sd=0.3).fit(X[train], y[train])
    factorised = LearnSPNClassifier(random_state=0, min_sd=0.3, threshold=0.0).fit(X[train], y[train])
    assert (np.diff(factorised.leaves_.circuits.node_start) == 1 + 2 * len(set(y))).all()
    assert learned.score_samples(X[~train]).mean() > factorised.score_samples(X[~train]).mean()


def test_samples_follow_the_circuit():
    rng = np.random.default_rng(0)
    X, y, _ = mixed_table(rng, n=200, continuous=2, categories=(3,))
    X[:, 1] += 2 * X[:, 0]
    model = LearnSPNClassifier(categorical_features={2: 3}, random_state=0, threshold=0.05, min_sd=0.3).fit(X, y)
    drawn, classes = model.sample(4000, random_state=1)
    assert stats.chisquare(np.bincount(classes), 4000 * np.bincount(y) / 200).pvalue > 1e-3
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] > 0.5
    assert (
        abs(model.score_samples(drawn).mean() - model.score_samples(model.sample(4000, random_state=2)[0]).mean()) < 0.1
    )
    given = np.array([[0.5, np.nan, np.nan]])
    some, _ = model.sample(4000, given=given, random_state=3)
    np.testing.assert_array_equal(some[:, 0], 0.5)
    p = np.exp(model.score_samples([[0.5, np.nan, c] for c in range(3)]))
    assert stats.chisquare(np.bincount(some[:, 2].astype(int)), 4000 * p / p.sum()).pvalue > 1e-3
    edges = np.linspace(-12, 12, 12_001)
    density = np.exp(model.score_samples(np.column_stack([np.full(12_001, 0.5), edges, np.full(12_001, np.nan)])))
    cdf = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    assert stats.kstest(some[:, 1], lambda t: np.interp(t, edges, cdf / cdf[-1])).pvalue > 1e-3


def test_samples_of_a_forest_with_circuits_follow_its_density():
    rng = np.random.default_rng(0)
    X, y, _ = mixed_table(rng, n=300, continuous=2, categories=(3,))
    X[:, 1] += X[:, 0]
    model = published(
        3, leaves="lspn", truncate=True, min_rows=20, max_depth=2, threshold=0.05, categorical_features={2: 3},
        random_state=0,
    ).fit(X, y)  # fmt: skip
    assert (model.leaves_.circuits.of_leaf >= 0).any()
    drawn, classes = model.sample(4000, random_state=1)
    prior = np.exp(model.log_joint([[np.nan] * 3])[0])
    assert stats.chisquare(np.bincount(classes, minlength=3), 4000 * prior / prior.sum()).pvalue > 1e-3
    edges = np.linspace(-12, 12, 24_001)
    middles = (edges[1:] + edges[:-1]) / 2
    density = np.exp(model.score_samples(np.column_stack([middles, np.full((24_000, 2), np.nan)])))
    cdf = np.concatenate([[0], np.cumsum(density)])
    assert stats.kstest(drawn[:, 0], lambda t: np.interp(t, edges, cdf / cdf[-1])).pvalue > 1e-3


@pytest.mark.parametrize("Model", [LearnSPNClassifier, lambda **k: published(5, leaves="lspn", min_rows=3, **k)])
class TestDegenerateData:
    def check(self, model, X):
        for queries in (X, np.full((1, X.shape[1]), np.nan)):
            proba = model.predict_proba(queries)
            assert np.isfinite(proba).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert np.isfinite(model.score_samples(X)).all()

    def test_constant_columns(self, Model):
        rng = np.random.default_rng(0)
        X = np.column_stack([np.ones(60), rng.normal(size=60), np.zeros(60)])
        self.check(Model(categorical_features={2: 2}, random_state=0).fit(X, rng.integers(0, 2, 60)), X)

    def test_identical_rows(self, Model):
        X = np.ones((40, 3))
        self.check(Model(random_state=0).fit(X, np.arange(40) % 2), X)

    def test_fewer_rows_than_variables(self, Model):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(6, 20))
        self.check(Model(random_state=0).fit(X, [0, 0, 0, 1, 1, 1]), X)

    def test_one_class(self, Model):
        X = np.random.default_rng(0).normal(size=(50, 3))
        model = Model(random_state=0).fit(X, np.zeros(50))
        self.check(model, X)
        assert set(model.predict(X)) == {0.0}

    def test_missing_training_values_and_rows(self, Model):
        rng = np.random.default_rng(0)
        X, y, _ = mixed_table(rng, n=90, missing=0.4)
        X[:3] = np.nan
        self.check(Model(categorical_features={2: 3, 3: 2}, random_state=0).fit(X, y), X)

    def test_one_feature(self, Model):
        X = np.random.default_rng(0).normal(size=(50, 1))
        self.check(Model(random_state=0).fit(X, X[:, 0] > 0), X)


def test_a_seed_gives_the_same_circuit():
    X, y = load_wine(return_X_y=True)
    a, b = (LearnSPNClassifier(random_state=0).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(a.leaves_.circuits.parameters, b.leaves_.circuits.parameters)
    one = published(6, leaves="lspn", random_state=0, n_jobs=1).fit(X, y)
    two = published(6, leaves="lspn", random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.leaves_.circuits.parameters, two.leaves_.circuits.parameters)
    queries = hide(np.random.default_rng(0), X, 0.5)
    np.testing.assert_array_equal(one.predict_proba(queries), two.predict_proba(queries))
