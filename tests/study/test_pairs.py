"""Pairs of methods: the Bayesian signed-rank test against its definition by brute force, and Wilcoxon's test."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from joints.study.pairs import EQUIVALENCE, pairs, signed_rank, wilcoxon
from joints.study.statistics import holm
from study import ACCURACY, METHODS, METRICS, scores


def by_definition(z, region, rng, draws=4000):
    """Draw by draw and pair by pair, with weights made from gamma variables."""
    z = [0.0, *z]
    wins = np.zeros(3)
    for _ in range(draws):
        weights = rng.gamma([0.5] + [1.0] * (len(z) - 1))
        weights /= weights.sum()
        share = np.zeros(3)  # better, equal, worse
        for i, a in enumerate(z):
            for j, b in enumerate(z):
                where = 0 if a + b > 2 * region else 2 if a + b < -2 * region else 1
                share[where] += weights[i] * weights[j]
        wins[share.argmax()] += 1
    return wins / draws


@pytest.mark.parametrize("centre", [-0.6, 0.0, 0.4, 1.0])
def test_the_bayesian_test_is_its_definition(centre):
    z = np.random.default_rng(1).normal(centre, 1.0, 8)
    np.testing.assert_allclose(signed_rank(z, 0.5), by_definition(z, 0.5, np.random.default_rng(0)), atol=0.03)


def test_probabilities_turn_with_the_sign_and_sum_to_one():
    z = np.random.default_rng(3).normal(0.5, 1, 12)
    better, equal, worse = signed_rank(z, 0.5)
    assert signed_rank(-z, 0.5) == (worse, equal, better) and abs(better + equal + worse - 1) < 1e-12
    assert signed_rank(z, 0.5) == (better, equal, worse)  # always the same draws
    assert signed_rank(z, 100.0) == (0, 1, 0)


def test_without_a_region_it_agrees_with_wilcoxons_test():
    """For many observations, the probability is about one minus the one-sided p-value."""
    z = np.random.default_rng(0).normal(0.3, 1.0, 30)
    better, _, worse = signed_rank(z, 0.0)
    assert abs(better - (1 - stats.wilcoxon(z, alternative="greater").pvalue)) < 0.03 and better > worse


def test_wilcoxon():
    z = np.array([1.0, 2.0, 3.0, -0.5, 4.0, 5.0])
    assert wilcoxon(z) == stats.wilcoxon(z).pvalue == wilcoxon(-z)
    assert wilcoxon(np.zeros(5)) == 1 and 0 < wilcoxon(np.array([0.0, 1.0, 2.0])) <= 1


def test_every_pair_once():
    table = scores()
    found = pairs(table, METHODS, METRICS)
    assert len(found) == len(METHODS) * (len(METHODS) - 1) // 2 * 4 * len(METRICS)
    assert (found["datasets"] == 3).all()
    group = found.query("mechanism == 'mcar' and rate == 0.3 and metric == 'accuracy'")
    np.testing.assert_allclose(group["p_holm"], holm(group["p_value"].tolist()))
    row = group.iloc[0]
    means = 100 * table.query("rate == 0.3").groupby(["method", "dataset"])["accuracy"].mean()
    z = (means[row["first"]] - means[row["second"]]).to_numpy()
    np.testing.assert_allclose(row["gain"], z.mean())
    np.testing.assert_allclose(row[["better", "equal", "worse"]].astype(float), signed_rank(z, EQUIVALENCE))


def test_losses_are_gains_where_lower_is_better():
    table = scores(rates=(0.3,))
    table.loc[table["method"] == "gef", "log_loss"] = 0.1
    table.loc[table["method"] != "gef", "log_loss"] = 0.3
    found = pairs(table, ["knn", "gef"], [m for m in METRICS if m.name == "log_loss"]).iloc[0]
    assert found["gain"] == pytest.approx(-0.2) and found["worse"] > 0.9


def test_a_method_that_lacks_a_dataset_is_compared_on_the_others():
    table = scores(rates=(0.3,))
    table = table[~((table["method"] == "gef") & (table["dataset"] == "breast"))]
    found = pairs(table, ["knn", "gef", "mean"], [ACCURACY])
    assert isinstance(found, pd.DataFrame) and found["datasets"].tolist() == [2, 3, 2]
