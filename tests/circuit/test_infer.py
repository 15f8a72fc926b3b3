"""Exact inference: the paper's example, Theorem 1, and agreement with plain sums and integrals."""

import itertools
import tracemalloc

import numpy as np
import pytest
from mixed import PlainTree, hide, mixed_table, published, published_from
from scipy import integrate
from scipy.special import logsumexp

from joints import ForestClassifier
from joints.circuit.nodes import exponentials
from joints.forest import reach


def fitted(seed=0, n=150, missing=0.0, n_trees=4, **table):
    rng = np.random.default_rng(seed)
    X, y, n_categories = mixed_table(rng, n=n, missing=missing, **table)
    domains = {j: int(k) for j, k in enumerate(n_categories) if k}
    forest = ForestClassifier(n_estimators=n_trees, categorical_features=domains, random_state=seed).fit(X, y)
    return forest, published_from(forest), X, y


def test_example_of_figure_1():
    """100 rows: 20 of class 0 above X2 = .5; below it 40 of class 1 with X1 = 0, and 10 and 30 with X1 = 1."""
    x1 = np.repeat([0, 1, 0, 1, 1], [10, 10, 40, 10, 30]).astype(float)
    x2 = np.repeat([0.9, 0.5], [20, 80])
    y = np.repeat([0, 1, 0, 1], [20, 40, 10, 30])
    model = published(1, bootstrap=False, max_features=None, categorical_features=[0])
    model.fit(np.column_stack([x1, x2]), y)
    forest = model.forest_
    assert forest.feature.tolist() == [1, 0, -1, -1, -1]
    assert forest.threshold[0] == 0.5
    assert forest.goes_left.tolist() == [
        False,
        True,
    ]  # X1 = 1 has fewer rows of class 1, so it is on the left: p2, p1, p3
    rows = forest.counts.sum(axis=1)
    weights = [rows[child] / rows[parent] for parent, child in ((0, 4), (0, 1), (1, 2), (1, 3))]
    np.testing.assert_allclose(weights, [0.2, 0.8, 0.5, 0.5], rtol=1e-15)
    np.testing.assert_array_equal(forest.leaf_counts, [[10, 30], [0, 40], [20, 0]])
    np.testing.assert_allclose(model.leaves_.class_proba, [[0.25, 0.75], [0, 1], [1, 0]], rtol=1e-15)
    np.testing.assert_allclose(np.exp(model.leaves_.log_weight), [0.4, 0.4, 0.2], rtol=1e-14)
    # X1 is deterministic in p1 and p2 and a proper distribution in p3
    p_x1 = np.exp(model.leaves_.parameters[:, :2])
    np.testing.assert_allclose(p_x1, [[0, 1], [1, 0], [0.5, 0.5]], atol=1e-12)
    # p(Y | X1 = 1): .4 [.25 .75] against .2 * .5 [1 0]
    np.testing.assert_allclose(model.predict_proba([[1, np.nan]]), [[0.4, 0.6]], atol=1e-6)
    np.testing.assert_allclose(model.predict_proba([[np.nan, np.nan]]), [[0.3, 0.7]], rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_theorem_1(missing):
    forest, gef, X, _ = fitted(missing=missing, n=400)
    complete = np.where(np.isnan(X), 0.0, X)
    np.testing.assert_allclose(gef.predict_proba(complete), forest.predict_proba(complete), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("n_rows", [100, 5])  # by bit vectors, by walking
def test_agrees_with_a_plain_reading_of_the_trees(rate, n_rows):
    forest, gef, X, _ = fitted(seed=1, n_classes=3, categories=(4, 2))
    queries = hide(np.random.default_rng(2), X[:n_rows], rate)
    trees = [PlainTree(gef, forest.training_data_, tree) for tree in range(4)]
    joint = np.array([[tree.joint(x) for tree in trees] for x in queries])  # rows, trees, classes
    conditional = joint / joint.sum(axis=2, keepdims=True)
    answers = gef.answer(queries)
    np.testing.assert_allclose(answers.average, conditional.mean(axis=1), rtol=0, atol=1e-11)
    with np.errstate(divide="ignore"):
        expected = np.log(joint.mean(axis=1))
    np.testing.assert_allclose(answers.log_joint, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gef.score_samples(queries), logsumexp(expected, axis=1), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(answers.friedman, forest.predict_proba(queries), rtol=0, atol=1e-14)
    mixture = published_from(forest, combine="mixture")
    posterior = joint.mean(axis=1) / joint.mean(axis=1).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mixture.predict_proba(queries), posterior, rtol=0, atol=1e-11)


def test_discrete_marginals_are_sums_over_all_states():
    _, gef, X, _ = fitted(seed=3, continuous=0, categories=(3, 2, 4, 2), n=200)
    states = np.array(list(itertools.product(range(3), range(2), range(4), range(2))), dtype=float)
    p = np.exp(gef.log_joint(states))
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    for query in hide(np.random.default_rng(0), X[:40], 0.5):
        observed = ~np.isnan(query)
        agrees = (states[:, observed] == query[observed]).all(axis=1)
        np.testing.assert_allclose(np.exp(gef.log_joint(query[None]))[0], p[agrees].sum(axis=0), rtol=1e-10, atol=1e-15)


def test_continuous_marginals_are_integrals():
    _, gef, X, _ = fitted(seed=4, continuous=2, categories=(2,), n=60, n_trees=2)
    cuts = np.unique(gef.forest_.threshold[gef.forest_.feature == 0])
    edges = np.concatenate([[-12.0], cuts, [12.0]])

    def density(x0, x1, c):
        return np.exp(gef.score_samples(np.column_stack([x0, np.full_like(x0, x1), np.full_like(x0, c)])))

    for x1, c in ((X[0, 1], X[0, 2]), (0.1, 0.0), (np.nan, 1.0)):
        # between thresholds the density is smooth, so Gauss-Legendre integrates each piece exactly
        total = sum(
            integrate.fixed_quad(lambda t, x1=x1, c=c: density(t, x1, c), a + 1e-12, b, n=20)[0]
            for a, b in itertools.pairwise(edges)
        )
        marginal = np.exp(gef.score_samples([[np.nan, x1, c]])[0])
        assert total == pytest.approx(marginal, rel=1e-8)


def test_density_integrates_to_one_over_the_plane():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    gef = published(2, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    grid = [np.concatenate([[-9.0], np.unique(gef.forest_.threshold[gef.forest_.feature == f]), [9.0]]) for f in (0, 1)]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    points, w = [], []
    for edges in grid:
        a, b = edges[:-1, None], edges[1:, None]
        points.append(((a + b) / 2 + (b - a) / 2 * nodes).ravel())
        w.append(((b - a) / 2 * weights).ravel())
    mesh = np.array(np.meshgrid(*points, indexing="ij")).reshape(2, -1).T
    total = np.exp(gef.score_samples(mesh)) @ np.outer(*w).ravel()
    assert total == pytest.approx(1.0, abs=1e-9)


def test_nothing_observed_gives_the_class_prior():
    for missing in (0.0, 0.3):
        _, gef, _, y = fitted(seed=5, missing=missing, n=203)
        prior = np.bincount(y) / len(y)
        for combine in ("average", "mixture"):
            gef.combine_ = combine
            np.testing.assert_allclose(gef.predict_proba(np.full((1, 4), np.nan))[0], prior, atol=1e-12)
        np.testing.assert_allclose(gef.score_samples(np.full((1, 4), np.nan)), [0.0], atol=1e-12)


def test_threads_and_neighbours_do_not_matter():
    """The bits of an answer do not depend on the number of threads nor on the other rows."""
    _, gef, X, _ = fitted(seed=6, n=300, n_trees=11)
    queries = hide(np.random.default_rng(0), X, 0.5)
    one = gef.answer(queries)
    gef.n_jobs = 2
    for name in ("average", "friedman", "log_joint"):
        np.testing.assert_array_equal(getattr(gef.answer(queries), name), getattr(one, name))
        alone = np.concatenate([getattr(gef.answer(queries[i : i + 1]), name) for i in range(20)])
        np.testing.assert_allclose(alone, getattr(one, name)[:20], rtol=1e-12, atol=1e-14)


def test_exponential():
    z = np.concatenate([-np.logspace(-12, np.log10(690), 500), [0.0, -1e-300, -745.0, -1e4]])
    logs, out = z.copy(), np.empty_like(z)
    exponentials(logs, len(z), 0.0, out, out.view(np.int64))
    np.testing.assert_allclose(out[:-2], np.exp(z[:-2]), rtol=1e-14)
    np.testing.assert_array_equal(out[-2:], 0.0)


def test_far_from_everything_is_still_a_number():
    _, gef, X, _ = fitted(seed=7)
    far = np.array([[1e6, -1e6, 0.0, 0.0], [1e150, np.nan, np.nan, np.nan]])
    assert np.isfinite(gef.predict_proba(far)).all()
    assert (gef.score_samples(far) < gef.score_samples(X).min()).all()
    np.testing.assert_allclose(gef.predict_proba(far).sum(axis=1), 1.0)


@pytest.mark.parametrize("leaves", ["factorised", "lspn"])
def test_log_joint_of_classes_that_are_very_unlikely(leaves):
    """Thousands of nats below the best class."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 40)) + 40.0 * y[:, None]
    options = {"min_sd": 0.01, "leaves": leaves, "smoothing": 0.0, "random_state": 0}
    model = published(1, bootstrap=False, max_depth=1, **options).fit(X, y)
    queries = hide(rng, X[::20], 0.3)
    queries[:, model.forest_.feature[0]] = np.nan  # all leaves are reached
    log_joint = model.log_joint(queries)
    assert (log_joint.max(axis=1) - log_joint.min(axis=1) > 1500).all()
    if leaves == "factorised":
        tree = model.leaves_
        for x, ours in zip(queries, log_joint, strict=True):
            f = np.flatnonzero(~np.isnan(x))
            mean, h, c = (tree.parameters[:, tree.offset[f] + i] for i in range(3))
            with np.errstate(divide="ignore"):
                terms = (tree.log_weight + (c + h * (x[f] - mean) ** 2).sum(axis=1))[:, None] + np.log(tree.class_proba)
            np.testing.assert_allclose(ours, logsumexp(terms, axis=0), rtol=1e-12)
    assert np.isfinite(log_joint).all()
    np.testing.assert_allclose(model.score_samples(queries), logsumexp(log_joint, axis=1), rtol=1e-12)


def test_impossible_classes_have_no_probability():
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]], dtype=float)
    options = {"smoothing": 0.0, "categorical_features": {0: 2, 1: 3}, "max_features": None}
    model = published(1, bootstrap=False, **options).fit(X, [0, 0, 1, 1])
    other = 1 - model.forest_.feature[0]  # the feature that does not split: all leaves are reached
    row = np.full((1, 2), np.nan)
    row[0, other] = 1.0
    np.testing.assert_array_equal(model.log_joint(row), [[-np.inf, np.log(0.5)]])
    np.testing.assert_array_equal(model.predict_proba(row), [[0.0, 1.0]])


@pytest.mark.parametrize("target", [None, 2])
def test_blocks_of_rows_do_not_matter(monkeypatch, target):
    """Rows are answered in blocks that fit into memory; not a bit depends on them."""
    forest, gef, X, _ = fitted(seed=8, n=300, n_trees=11, categories=(4, 2))
    queries = hide(np.random.default_rng(0), X, 0.4)
    queries[50:60] = queries[:10]
    expected = gef.predict_proba(queries, target=target), gef.log_joint(queries), forest.predict_proba(queries)
    monkeypatch.setattr(reach, "MOST_SUMS", 700)
    again = gef.predict_proba(queries, target=target), gef.log_joint(queries), forest.predict_proba(queries)
    for ours, theirs in zip(again, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_memory_of_an_answer(monkeypatch):
    """At most four times the answer, and a fixed amount: here of 1 MiB for the sums, and the model's leaves."""
    rng = np.random.default_rng(0)
    n, k = 4000, 100
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, k, n)])
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = published(60, max_depth=3, categorical_features={2: k}, random_state=0).fit(X, y)
    monkeypatch.setattr(reach, "MOST_SUMS", 1 << 17)
    answer = model.predict_proba(X[:100], target=2)
    tracemalloc.start()
    answer = model.predict_proba(X, target=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * answer.nbytes + (2 << 20)
