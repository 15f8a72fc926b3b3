"""Any continuous feature as a target: against quadrature of the joint density, and against the sampler."""

import numpy as np
import pytest
from mixed import hide, mixed_table, published
from scipy import stats
from scipy.special import log_ndtr, logsumexp

from joints import Evidence, LearnSPNClassifier
from joints.circuit.mixtures import Distributions
from joints.circuit.posterior import Gaussians, Posterior, log_mass

DOMAINS = {2: 3, 3: 2}


@pytest.fixture(scope="module")
def table():
    X, y, _ = mixed_table(np.random.default_rng(0), n=150)
    return X, y


@pytest.fixture(scope="module", params=["factorised", "lspn", "LearnSPN"])
def model(request, table):
    if request.param == "LearnSPN":
        return LearnSPNClassifier(categorical_features=DOMAINS, random_state=0, threshold=0.1, min_sd=0.3).fit(*table)
    options = {"leaves": request.param, "min_rows": 10, "max_depth": 4, "threshold": 0.1, "combine": "mixture"}
    return published(4, categorical_features=DOMAINS, random_state=0, **options).fit(*table)


def density_on_grid(model, row, feature, y=None):
    """p(x_f | rest) on the middles of a fine grid, by the joint density."""
    edges = np.linspace(-12, 12, 24_001)
    rows = np.repeat(row[None], 24_000, axis=0)
    rows[:, feature] = (edges[1:] + edges[:-1]) / 2
    joint = np.exp(model.log_joint(rows))
    density = joint.sum(axis=1) if y is None else joint[:, y]
    return rows[:, feature], density / (density.sum() * (edges[1] - edges[0]))


@pytest.mark.parametrize("with_class", [False, True])
def test_mean_density_and_quantiles_agree_with_quadrature(model, table, with_class):
    X, _ = table
    rows = hide(np.random.default_rng(3), X[:6], 0.4)
    rows[0] = np.nan
    classes = model.classes_[model.log_joint(np.where([1, 0, 0, 0], np.nan, rows)).argmax(axis=1)]
    found = model.distribution(rows, target=0, y=classes if with_class else None)
    assert len(found) == 6
    quantiles = found.quantile([0.05, 0.5, 0.9])
    for i, row in enumerate(rows):
        x, density = density_on_grid(model, row, 0, classes[i] if with_class else None)
        step = x[1] - x[0]
        mean = (x * density).sum() * step
        assert found.mean()[i] == pytest.approx(mean, abs=2e-3)
        assert found.std()[i] == pytest.approx(np.sqrt(((x - mean) ** 2 * density).sum() * step), abs=2e-3)
        both = model.log_joint([[value, *row[1:]] for value in (0.3, np.nan)])
        both = both[:, classes[i]] if with_class else logsumexp(both, axis=1)
        assert found.pdf(0.3)[i] == pytest.approx(np.exp(both[0] - both[1]), rel=1e-9)
        assert found.cdf(0.3)[i] == pytest.approx(density[x <= 0.3].sum() * step, abs=2e-3)
        expected = np.interp([0.05, 0.5, 0.9], np.cumsum(density) * step, x)
        np.testing.assert_allclose(quantiles[i], expected, atol=5e-3)
    np.testing.assert_allclose(found.cdf(quantiles[:, 1]), 0.5, atol=1e-9)
    np.testing.assert_array_equal(model.predict(rows, target="x0", y=classes if with_class else None), found.mean())


def test_draws_follow_the_distribution(model):
    given = np.array([[np.nan, 0.4, 1.0, np.nan]])
    found = model.distribution(given, target=0)
    drawn, _ = model.sample(4000, given=given, random_state=0)
    many = np.repeat(given, 4000, axis=0)
    assert stats.kstest(model.distribution(many, target=0).cdf(drawn[:, 0]), "uniform").pvalue > 1e-3
    assert drawn[:, 0].mean() == pytest.approx(found.mean()[0], abs=5 * found.std()[0] / 60)


def test_gef_averages_the_trees(table):
    X, y = table
    gef = published(3, categorical_features=DOMAINS, random_state=0).fit(X, y)
    rows = hide(np.random.default_rng(4), X[:5], 0.4)
    average = gef.distribution(rows, target=1)
    single = []
    for tree in range(3):
        forest, leaves = gef.forest_, gef.leaves_
        nodes, own = slice(*forest.tree_start[tree : tree + 2]), slice(*forest.leaf_start[tree : tree + 2])
        one = published(1)
        one.__dict__.update({name: value for name, value in vars(gef).items() if name.endswith("_")})
        one.forest_ = forest._replace(
            tree_start=forest.tree_start[[0, tree + 1]] - [0, forest.tree_start[tree]],
            leaf_start=forest.leaf_start[[0, tree + 1]] - [0, forest.leaf_start[tree]],
            feature=forest.feature[nodes],
            threshold=forest.threshold[nodes],
            subset=forest.subset[nodes],
            right=(forest.right[nodes] - forest.tree_start[tree]).astype(np.int32),
            leaf=(forest.leaf[nodes] - forest.leaf_start[tree]).astype(np.int32),
            counts=forest.counts[nodes],
            seeds=forest.seeds[tree : tree + 1],
        )
        one.leaves_ = leaves._replace(
            parameters=leaves.parameters[own],
            log_weight=leaves.log_weight[own],
            class_proba=leaves.class_proba[own],
            circuits=leaves.circuits._replace(of_leaf=leaves.circuits.of_leaf[own]),
        )
        single.append(one.distribution(rows, target=1))
    np.testing.assert_allclose(average.mean(), np.mean([one.mean() for one in single], axis=0), atol=1e-12)
    np.testing.assert_allclose(average.pdf(0.3), np.mean([one.pdf(0.3) for one in single], axis=0), atol=1e-12)


def test_intervals_of_other_features_count(model):
    evidence = Evidence(np.full((1, 4), np.nan), between={1: (0.2, 1.0)})
    found = model.distribution(evidence, target=0)

    xs = np.linspace(0.2, 1.0, 401)
    middles = (xs[1:] + xs[:-1]) / 2
    rows = np.column_stack([np.full(400, 0.5), middles, np.full((400, 2), np.nan)])
    expected = np.exp(model.score_samples(rows)).mean() * 0.8 / np.exp(model.score_samples(evidence)[0])
    assert found.pdf(0.5)[0] == pytest.approx(expected, rel=5e-3)
    assert model.predict(evidence, target=0)[0] == found.mean()[0]


def test_its_own_column_is_not_looked_at_and_wrong_questions_are_named(model, table):
    X, _ = table
    hidden = X[:9].copy()
    hidden[:, 0] = np.nan
    np.testing.assert_array_equal(model.predict(X[:9], target=0), model.predict(hidden, target=0))
    found = model.distribution(X[:9], target=0)
    for q in (0.0, 1.0, np.nan, [0.5, 2.0], [], [[0.5]]):
        with pytest.raises(ValueError, match="between 0 and 1"):
            found.quantile(q)
    with pytest.raises(ValueError, match="one for each of the 9 rows"):
        found.pdf([1.0, 2.0])
    assert np.isnan(found.cdf(np.nan)).all() and repr(found).startswith("<distributions of a feature in 9 rows")
    with pytest.raises(ValueError, match="categorical: predict_proba"):
        model.distribution(X, target=2)
    with pytest.raises(ValueError, match="continuous: predict gives its mean"):
        model.predict_proba(X, target=0)


def test_moments_of_cut_gaussians():
    """Narrow, one-sided, far and free cells, against SciPy's truncated normal."""
    cases = [
        (0, 1, -np.inf, np.inf),
        (0, 1, -1, 0.5),
        (2, 0.5, 2, np.inf),
        (0, 1, 0.3, 0.3001),
        (0, 2, 9, 9.5),
        (0, 1, 8, np.inf),
    ]
    gaussians = Gaussians(*np.array(cases, dtype=float).T)
    each = Posterior(np.arange(7), np.arange(6), np.ones(6), np.zeros(6), np.ones((1, 6)))
    found = Distributions([each], gaussians)
    for i, (mean, sd, low, high) in enumerate(cases):
        expected = stats.truncnorm((low - mean) / sd, (high - mean) / sd, mean, sd)
        assert found.mean()[i] == pytest.approx(expected.mean(), rel=1e-6, abs=1e-9)
        spread = expected.ppf((np.arange(20_000) + 0.5) / 20_000).std()  # older versions lose digits in narrow cells
        assert found.std()[i] == pytest.approx(spread, rel=2e-3)
        np.testing.assert_allclose(found.quantile([0.1, 0.7])[i], expected.ppf([0.1, 0.7]), rtol=1e-7)
        x = expected.ppf(0.4)
        assert found.pdf(x)[i] == pytest.approx(expected.pdf(x), rel=1e-6)


@pytest.mark.parametrize(
    "low, high", [(-1, 2), (3, 3.5), (-9, -8), (25, 26), (-60, -50), (40, np.inf), (-np.inf, np.inf)]
)
def test_log_mass_however_far_out(low, high):
    near, far = (low, high) if low > 0 else (-high, -low)
    expected = log_ndtr(-near) + np.log1p(-np.exp(log_ndtr(-far) - log_ndtr(-near)))
    assert log_mass(float(low), float(high)) == pytest.approx(expected, rel=1e-9, abs=1e-12)
