"""Paired differences recomputed by hand, and the table that shows them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import study
from joints.errors import JointsError
from joints.render import tables
from joints.render.ablation_table import difference_cell, difference_table, write_differences
from joints.runtime.files import write_csv
from joints.study.ablation.differences import differences, read_variants
from joints.study.entries import MetricEntry
from joints.study.protocol import Protocol
from joints.study.scores import KEYS

PROTOCOLS = dict.fromkeys(study.DATASETS, Protocol(seed=1, folds=2, rates=(0.3, 0.9)))
SETTINGS = (PROTOCOLS, [1, 2, 3, 4, 5])
LABELS = {"second": "another setting", "first": "the same setting"}


@pytest.fixture(scope="module")
def published():
    return study.scores(repetitions=5)


@pytest.fixture(scope="module")
def variants(published):
    """The first variant changes nothing; the second moves accuracy and log-loss by known amounts."""
    rows = published[published["method"].isin(["gef", "gefp"]) & published["rate"].isin([0.3, 0.9])]
    gain = rows["repetition"].map({1: -0.03, 2: 0.01, 3: 0.03, 4: 0.05, 5: 0.09}) + rows["fold"].map(
        {1: -0.002, 2: 0.002}
    )
    gain = gain.where(rows["method"] == "gef", -0.04)
    changed = {"accuracy": rows["accuracy"] + gain, "log_loss": rows["log_loss"] - 2 * gain}
    return pd.concat([rows.assign(variant="first"), rows.assign(variant="second", **changed)])


@pytest.fixture(scope="module")
def everything(variants, published):
    """The differences of all metrics."""
    return differences(variants, published, LABELS, study.METRICS)


@pytest.fixture(scope="module")
def table(everything):
    """The differences of accuracy."""
    return everything[everything["metric"] == "accuracy"].reset_index(drop=True)


def test_an_unchanged_variant_makes_no_difference_at_all(everything):
    same = everything[everything["variant"] == "first"]
    assert (same["difference"] == 0).all() and (same["interval"] == 0).all()
    assert (same["published"] == same["mean"]).all()


def test_differences_by_hand(table, published):
    row = table.query("variant == 'second' and method == 'gef' and dataset == 'breast' and rate == 0.3").iloc[0]
    plain = published.query("method == 'gef' and dataset == 'breast' and rate == 0.3")["accuracy"]
    assert row["published"] == pytest.approx(100 * plain.mean())
    assert row["mean"] == pytest.approx(100 * plain.mean() + 3) and row["difference"] == pytest.approx(3)
    gains = [-3, 1, 3, 5, 9]
    low, high = stats.t.interval(0.95, 4, loc=3, scale=stats.sem(gains))  # over repetitions, not over folds
    assert row["interval"] == pytest.approx((high - low) / 2) and row["n"] == 5
    # the interval excludes 0 where the paired t-test is significant
    assert stats.ttest_rel(gains, [0] * 5).statistic == pytest.approx(
        row["difference"] / row["interval"] * stats.t.ppf(0.975, 4)
    )


def test_a_metric_that_is_not_in_percent_is_not_multiplied(everything, published):
    keys = "method == 'gef' and dataset == 'breast' and rate == 0.3"
    row = everything.query(f"variant == 'second' and metric == 'log_loss' and {keys}").iloc[0]
    assert row["published"] == pytest.approx(published.query(keys)["log_loss"].mean())
    low, high = stats.t.interval(0.95, 4, loc=-0.06, scale=stats.sem([0.06, -0.02, -0.06, -0.1, -0.18]))
    assert row["difference"] == pytest.approx(-0.06) == row["mean"] - row["published"]
    assert row["interval"] == pytest.approx((high - low) / 2)


def test_metrics_that_a_variant_leaves_as_they_are(everything):
    others = everything[~everything["metric"].isin(["accuracy", "log_loss"])]
    assert len(others) > 0 and (others["difference"] == 0).all()


def test_a_difference_that_is_the_same_everywhere_has_no_interval(table):
    lost = table.query("variant == 'second' and method == 'gefp'")
    np.testing.assert_allclose(lost["difference"], -4)
    np.testing.assert_allclose(lost["interval"], 0, atol=1e-9)


def test_a_few_repetitions_are_compared_over_their_folds(variants, published):
    once = differences(variants[variants["repetition"] == 3], published, LABELS, [study.ACCURACY])
    row = once.query("variant == 'second' and method == 'gef' and dataset == 'vehicle' and rate == 0.9").iloc[0]
    low, high = stats.t.interval(0.95, 1, loc=3, scale=stats.sem([2.8, 3.2]))
    assert row["n"] == 2 and row["difference"] == pytest.approx(3)
    assert row["interval"] == pytest.approx((high - low) / 2)
    four = differences(variants[variants["repetition"] < 5], published, LABELS, [study.ACCURACY])
    assert set(four["n"]) == {8}


def test_order_and_columns(everything):
    assert list(everything["variant"].unique()) == list(LABELS)
    assert (everything["label"] == everything["variant"].map(LABELS)).all()
    names = "variant label method dataset mechanism rate metric published mean difference interval n"
    assert everything.columns.tolist() == names.split()
    assert set(everything["mechanism"]) == {"mcar"}
    for _, rows in everything.groupby("variant"):
        assert list(rows["metric"].unique()) == [metric.name for metric in study.METRICS]
    assert len(everything) == 2 * len(study.METRICS) * 2 * 3 * 2  # variants, metrics, methods, datasets and rates


def test_the_order_of_rows_does_not_matter(variants, published, everything):
    shuffled = differences(variants, published.sample(frac=1, random_state=0), LABELS, study.METRICS)
    pd.testing.assert_frame_equal(shuffled, everything, check_exact=True)


def test_mechanisms_are_not_mixed(variants, published):
    """Each mechanism of a variant is compared with the same one of the study."""
    easier = published.assign(mechanism="other", accuracy=published["accuracy"] + 0.01)
    both = pd.concat([variants, variants.assign(mechanism="other")])
    found = differences(both, pd.concat([published, easier]), LABELS, [study.ACCURACY])
    lost = found.query("variant == 'second' and method == 'gefp'").groupby("mechanism")["difference"]
    assert lost.min().to_dict() == pytest.approx({"mcar": -4, "other": -5})
    assert lost.max().to_dict() == pytest.approx({"mcar": -4, "other": -5})


def test_a_score_that_the_study_lacks(variants, published):
    some = published[published["repetition"] < 3]
    with pytest.raises(JointsError, match=r"no score of dataset breast, method gef, repetition 3, fold 1, rate 0\.3"):
        differences(variants, some, LABELS, study.METRICS)


def test_the_name_of_a_file_is_that_of_its_variant(variants, tmp_path):
    """Files have all answers of a model; each variant takes those of its methods."""
    answers = {"gef": "average", "gefp": "mixture"}
    for name, rows in variants.groupby("variant"):
        taken = rows.assign(model="gef", answer=rows["method"].map(answers)).drop(columns=["variant", "method"])
        nobodys = taken[taken["answer"] == "average"].assign(answer="friedman", accuracy=0.0)
        both = pd.concat([taken, nobodys])
        for dataset, some in both.groupby("dataset"):
            write_csv(tmp_path / dataset / f"{name}.csv", some)
    used = {"first": {"methods": ["gef", "gefp"]}, "second": {"methods": ["gefp"]}}
    found = read_variants(sorted(tmp_path.rglob("*.csv")), used, study.PLAN.methods, *SETTINGS)
    found = found.sort_values(["variant", *KEYS], ignore_index=True)
    expected = variants[(variants["variant"] == "first") | (variants["method"] == "gefp")]
    expected = expected.sort_values(["variant", *KEYS], ignore_index=True)
    pd.testing.assert_frame_equal(found, expected[found.columns], check_exact=True)


def test_an_answer_that_the_scores_of_a_variant_lack(variants, tmp_path):
    rows = variants[(variants["variant"] == "first") & (variants["method"] == "gef")].query("dataset == 'breast'")
    table = rows.assign(model="gef", answer="average").drop(columns=["variant", "method"])
    write_csv(tmp_path / "breast" / "first.csv", table)
    with pytest.raises(JointsError, match="'gefp' takes the answer 'mixture' of 'gef', which has 'average'"):
        read_variants(tmp_path.rglob("*.csv"), {"first": {"methods": ["gef", "gefp"]}}, study.PLAN.methods, *SETTINGS)


def test_a_file_of_a_variant_without_some_rows(variants, tmp_path):
    rows = variants[(variants["variant"] == "first") & (variants["method"] == "gef")].query("dataset == 'breast'")
    table = rows.assign(model="gef", answer="average").drop(columns=["variant", "method"])
    write_csv(tmp_path / "breast" / "first.csv", table[:-1])
    with pytest.raises(JointsError, match=r"breast/first\.csv is damaged \(it has 19 rows for 'gef' instead of 20"):
        read_variants(tmp_path.rglob("*.csv"), {"first": {"methods": ["gef"]}}, study.PLAN.methods, *SETTINGS)


def test_the_table_is_bold_where_the_interval_excludes_zero(table):
    shown = difference_table(table, 0.3, study.LABELS, study.DATASETS, study.ACCURACY)
    assert shown.header == ["30 % missing", "Method", "wdbc", "diabetes", "vehicle"]
    assert [[cell.text for cell in row[:2]] for row in shown.rows] == [
        ["another setting", "GeF"],
        ["", "GeF+"],
        ["the same setting", "GeF"],
        ["", "GeF+"],
    ]
    # 3 ± 5.55, then -4 ± 0, then 0 ± 0 twice
    assert [[cell.bold for cell in row[2:]] for row in shown.rows] == [
        [False] * 3,
        [True] * 3,
        [False] * 3,
        [False] * 3,
    ]
    assert [round(row[2].mean, 2) for row in shown.rows] == [3.0, -4.0, 0.0, 0.0]


def test_files_have_a_table_per_rate(table, tmp_path):
    paths = tmp_path / "a.html", tmp_path / "a.tex"
    write_differences(table, study.LABELS, study.DATASETS, study.ACCURACY, *paths)
    html, tex = (tmp_path / "a.html").read_text(), (tmp_path / "a.tex").read_text()
    assert html.count("<table>") == tex.count(r"\begin{tabular}") == 2
    assert "90 % missing" in html and r"90 \% missing" in tex
    assert '<b>-4.00</b> <span class="interval">± 0.00</span>' in html and "GeF<sup>+</sup>" in html
    assert r"\textbf{-4.00} $\scriptstyle\pm$ 0.00" in tex and "GeF$^+$" in tex
    assert "<p>Accuracy (%) with another setting minus" in html


def test_files_say_which_metric_they_are_about(everything, tmp_path):
    metric = MetricEntry("log_loss", "Log-loss", "", unit="nats", better="lower", decimals=3)
    shown = everything[everything["metric"] == "log_loss"]
    write_differences(shown, study.LABELS, study.DATASETS, metric, tmp_path / "a.html", tmp_path / "a.tex")
    assert "<p>Log-loss (nats) with another setting minus" in (tmp_path / "a.html").read_text()


def test_rounding_errors_are_not_differences():
    assert not difference_cell({"difference": 1e-15, "interval": 1e-17}).bold
    assert difference_cell({"difference": 0.002, "interval": 0.001}).bold
    assert difference_cell({"difference": 0.0031, "interval": 0.001}, decimals=3).number == "0.003"


def test_zero_has_no_sign():
    row = {"variant": "v", "label": "V", "method": "gef", "dataset": "d", "rate": 0.3, "difference": -0.001,
           "interval": 0.1}  # fmt: skip
    shown = difference_table(pd.DataFrame([row]), 0.3, {"gef": "GeF"}, {"d": "D"}, study.ACCURACY)
    assert "-0.00" not in tables.to_latex([shown]) and r"0.00 $\scriptstyle\pm$ 0.10" in tables.to_latex([shown])
