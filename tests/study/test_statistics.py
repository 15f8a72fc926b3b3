"""Ranks and tests, against the examples of their authors and against SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import study
from joints.study import statistics

# Demšar (2006), table 6: AUC of four methods on fourteen datasets
DEMSAR = np.array(
    [[.763, .768, .771, .798], [.599, .591, .590, .569], [.954, .971, .968, .967], [.628, .661, .654, .657],
     [.882, .888, .886, .898], [.936, .931, .916, .931], [.661, .668, .609, .685], [.583, .583, .563, .625],
     [.775, .838, .866, .875], [1.000, 1.000, 1.000, 1.000], [.940, .962, .965, .962], [.619, .666, .614, .669],
     [.972, .981, .9751, .975], [.957, .978, .946, .970]]
)  # fmt: skip


def demsar_scores():
    rows = [(f"d{i}", f"m{j}", "mcar", 1, 0.3, DEMSAR[i, j]) for i in range(14) for j in range(4)]
    return pd.DataFrame(rows, columns=["dataset", "method", "mechanism", "repetition", "rate", "accuracy"])


def ranks(scores, methods):
    return statistics.ranks(scores, methods, [study.ACCURACY])


def comparisons(scores):
    return statistics.comparisons(scores, study.METHODS, "knn", [study.ACCURACY])


def test_ranks_of_demsars_example():
    table = ranks(demsar_scores(), ["m0", "m1", "m2", "m3"]).set_index("method")
    np.testing.assert_allclose(table["rank"], [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert table["critical_difference"].iloc[0] == pytest.approx(1.25, abs=0.005)
    assert table["p_value"].iloc[0] < 0.05 and (table["datasets"] == 14).all()


def test_ranks_are_over_the_repetitions_that_all_methods_have():
    scores = demsar_scores()
    lucky = scores[scores["method"] == "m0"].assign(repetition=2, accuracy=1.0)
    more = pd.concat([scores, lucky])
    methods = ["m0", "m1", "m2", "m3"]
    pd.testing.assert_frame_equal(ranks(more, methods), ranks(scores, methods))


def test_friedman_test_is_scipys_and_silent_where_nothing_differs():
    chi_square, p_value = statistics.friedman_test(DEMSAR)
    expected = stats.friedmanchisquare(*DEMSAR.T)
    assert (chi_square, p_value) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert statistics.friedman_test(np.ones((5, 4))) == (0.0, 1.0)
    assert statistics.friedman_test(DEMSAR[:1]) == (0.0, 1.0)
    assert statistics.friedman_test(DEMSAR[:, :2]) == (0.0, 1.0)


def test_corrected_t_test_by_hand():
    differences = np.array([1.0, 2.0, 4.0, -1.0, 3.0, 0.5, 1.5, 2.5, 0.0, 1.0])
    t, p = statistics.corrected_t_test(differences, folds=5)
    expected = differences.mean() / np.sqrt((1 / 10 + 1 / 4) * differences.var(ddof=1))
    assert t == pytest.approx(expected) and p == pytest.approx(2 * stats.t.sf(expected, 9))
    plain = stats.ttest_1samp(differences, 0)
    assert t < plain.statistic and p > plain.pvalue  # the correction makes it more careful


def test_differences_that_do_not_vary():
    assert statistics.corrected_t_test(np.zeros(10), 5) == (0.0, 1.0)
    assert statistics.corrected_t_test(np.full(10, 0.5), 5) == (np.inf, 0.0)
    assert statistics.corrected_t_test(np.array([3.0]), 5) == (0.0, 1.0)


@pytest.mark.parametrize(("n", "share", "median"), [(3, 0.971, 0.199), (5, 0.968, 0.271), (10, 0.964, 0.304)])
def test_agreement_by_chance_against_simulation(n, share, median):
    """The numbers of the documents and captions: at least 96 of 100 cells, a median of 0.2 to 0.3."""
    assert statistics.agreement_by_chance(n, 10) == pytest.approx((share, median), abs=1e-3)
    rng = np.random.default_rng(0)
    means, squares = np.zeros(50_000), np.zeros(50_000)
    for k, sign in ((n, 1), (10, -1)):
        values = rng.normal(size=(50_000, k))
        means += sign * values.mean(axis=1)
        squares += (stats.t.ppf(0.975, k - 1) * stats.sem(values, axis=1)) ** 2
    z = np.abs(means) / np.sqrt(squares)
    assert (z <= 1).mean() == pytest.approx(share, abs=3e-3) and np.median(z) == pytest.approx(median, abs=5e-3)


def test_holm_against_the_definition():
    rng = np.random.default_rng(0)
    p = rng.random(12) ** 3
    corrected = statistics.holm(p)
    order = np.argsort(p)
    for level in (0.01, 0.05, 0.2):
        rejected = []
        for step, i in enumerate(order):  # step down until one is not significant
            if p[i] * (12 - step) > level:
                break
            rejected.append(i)
        assert set(np.flatnonzero(corrected <= level)) == set(rejected)


def test_wins_ties_and_losses_add_up():
    scores = study.scores(repetitions=5, folds=3)
    scores.loc[(scores["method"] == "gef") & (scores["rate"] == 0.9), "accuracy"] += 0.3
    table = comparisons(scores)
    assert set(table["method"]) == set(study.METHODS) - {"knn"}
    tally = statistics.tally(table)
    assert (tally[["wins", "ties", "losses"]].sum(axis=1) == 3).all() and len(tally) == 9 * 4
    assert tally.query("method == 'gef' and rate == 0.9")[["wins", "ties", "losses"]].values.tolist() == [[3, 0, 0]]
    for (_, _), family in table.groupby(["method", "rate"]):
        np.testing.assert_allclose(family["p_holm"], statistics.holm(family["p_value"].tolist()))


def test_ranks_of_a_study():
    table = statistics.ranks(study.scores(), study.METHODS, study.METRICS)
    assert set(table["metric"]) == set(study.PLAN.metrics)
    for _, group in table.groupby(["rate", "metric"]):
        assert group["rank"].sum() == pytest.approx(10 * 11 / 2)


def test_a_metric_that_is_better_when_lower_turns_ranks_and_outcomes_around():
    scores = study.scores(repetitions=5, folds=3).assign(log_loss=lambda table: 1 - table["accuracy"])
    loss, accuracy = study.PLAN.metrics["log_loss"]._replace(unit="%"), study.ACCURACY
    by_loss, by_accuracy = (statistics.ranks(scores, study.METHODS, [metric]) for metric in (loss, accuracy))
    np.testing.assert_allclose(by_loss["rank"], by_accuracy["rank"])
    tested = [statistics.comparisons(scores, study.METHODS, "knn", [metric]) for metric in (loss, accuracy)]
    np.testing.assert_allclose(tested[0]["difference"], -tested[1]["difference"], atol=1e-9)
    assert tested[0]["outcome"].tolist() == tested[1]["outcome"].tolist()


def test_a_method_with_fewer_repetitions_is_compared_over_those():
    scores = study.scores(repetitions=5, folds=3)
    fewer = scores[(scores["method"] != "missforest") | (scores["repetition"] <= 2)]
    only_two = comparisons(scores[scores["repetition"] <= 2])
    table = comparisons(fewer)
    pd.testing.assert_frame_equal(
        table.query("method == 'missforest'").reset_index(drop=True),
        only_two.query("method == 'missforest'").reset_index(drop=True),
    )
