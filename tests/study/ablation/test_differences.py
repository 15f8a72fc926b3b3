"""Paired differences recomputed by hand, and the table that shows them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import study
from joints.errors import JointsError
from joints.render import tables
from joints.render.ablation_table import difference_cell, difference_table, write_differences
from joints.study.ablation.differences import differences, read_variants
from joints.study.scores import write_table

LABELS = {"second": "another setting", "first": "the same setting"}


@pytest.fixture(scope="module")
def published():
    return study.scores()


@pytest.fixture(scope="module")
def variants(published):
    """The first variant changes nothing; the second makes GeF better by a known amount in each repetition."""
    rows = published[published["method"].isin(["gef", "gefp"]) & published["rate"].isin([0.3, 0.9])]
    gain = rows["repetition"].map({1: 0.01, 2: 0.03, 3: 0.05}) + rows["fold"].map({1: -0.002, 2: 0.002})
    gain = gain.where(rows["method"] == "gef", -0.04)
    return pd.concat([rows.assign(variant="first"), rows.assign(variant="second", accuracy=rows["accuracy"] + gain)])


@pytest.fixture(scope="module")
def table(variants, published):
    return differences(variants, published, LABELS)


def test_an_unchanged_variant_makes_no_difference_at_all(table):
    same = table[table["variant"] == "first"]
    assert (same["difference"] == 0).all() and (same["interval"] == 0).all()
    assert (same["published"] == same["mean"]).all()


def test_differences_by_hand(table, published):
    row = table.query("variant == 'second' and method == 'gef' and dataset == 'breast' and rate == 0.3").iloc[0]
    plain = published.query("method == 'gef' and dataset == 'breast' and rate == 0.3")["accuracy"]
    assert row["published"] == pytest.approx(100 * plain.mean())
    assert row["mean"] == pytest.approx(100 * plain.mean() + 3) and row["difference"] == pytest.approx(3)
    low, high = stats.t.interval(0.95, 2, loc=3, scale=stats.sem([1, 3, 5]))  # over repetitions, not over folds
    assert row["interval"] == pytest.approx((high - low) / 2) and row["n"] == 3
    # the interval excludes 0 where the paired t-test is significant
    assert stats.ttest_rel([1, 3, 5], [0, 0, 0]).statistic == pytest.approx(
        row["difference"] / row["interval"] * stats.t.ppf(0.975, 2)
    )


def test_a_difference_that_is_the_same_everywhere_has_no_interval(table):
    lost = table.query("variant == 'second' and method == 'gefp'")
    np.testing.assert_allclose(lost["difference"], -4)
    np.testing.assert_allclose(lost["interval"], 0, atol=1e-9)


def test_a_single_repetition_is_compared_over_its_folds(variants, published):
    once = differences(variants[variants["repetition"] == 2], published, LABELS)
    row = once.query("variant == 'second' and method == 'gef' and dataset == 'vehicle' and rate == 0.9").iloc[0]
    low, high = stats.t.interval(0.95, 1, loc=3, scale=stats.sem([2.8, 3.2]))
    assert row["n"] == 2 and row["difference"] == pytest.approx(3)
    assert row["interval"] == pytest.approx((high - low) / 2)


def test_order_and_columns(table):
    assert list(table["variant"].unique()) == list(LABELS)
    assert (table["label"] == table["variant"].map(LABELS)).all()
    assert table.columns.tolist() == ["variant", "label", "method", "dataset", "rate", "published", "mean",
                                      "difference", "interval", "n"]  # fmt: skip
    assert len(table) == 2 * 2 * 3 * 2


def test_the_order_of_rows_does_not_matter(variants, published, table):
    shuffled = differences(variants, published.sample(frac=1, random_state=0), LABELS)
    pd.testing.assert_frame_equal(shuffled, table, check_exact=True)


def test_a_score_that_the_study_lacks(variants, published):
    some = published[published["repetition"] < 3]
    with pytest.raises(JointsError, match=r"no score of dataset breast, method gef, repetition 3, fold 1, rate 0\.3"):
        differences(variants, some, LABELS)


def test_the_name_of_a_file_is_that_of_its_variant(variants, tmp_path):
    for name, rows in variants.groupby("variant"):
        write_table(rows.drop(columns="variant"), tmp_path / f"{name}.csv")
    found = read_variants([tmp_path / "first.csv", tmp_path / "second.csv"])
    pd.testing.assert_frame_equal(found, variants.reset_index(drop=True), check_exact=True)


def test_the_table_is_bold_where_the_interval_excludes_zero(table):
    shown = difference_table(table, 0.3, study.LABELS, study.DATASETS)
    assert shown.header == ["30 % missing", "Method", "wdbc", "diabetes", "vehicle"]
    assert [[cell.text for cell in row[:2]] for row in shown.rows] == [
        ["another setting", "GeF"],
        ["", "GeF+"],
        ["the same setting", "GeF"],
        ["", "GeF+"],
    ]
    # 3 ± 4.97, then -4 ± 0, then 0 ± 0 twice
    assert [[cell.bold for cell in row[2:]] for row in shown.rows] == [
        [False] * 3,
        [True] * 3,
        [False] * 3,
        [False] * 3,
    ]
    assert [round(row[2].mean, 2) for row in shown.rows] == [3.0, -4.0, 0.0, 0.0]


def test_files_have_a_table_a_rate(table, tmp_path):
    write_differences(table, study.LABELS, study.DATASETS, tmp_path / "a.html", tmp_path / "a.tex")
    html, tex = (tmp_path / "a.html").read_text(), (tmp_path / "a.tex").read_text()
    assert html.count("<table>") == tex.count(r"\begin{tabular}") == 2
    assert "90 % missing" in html and r"90 \% missing" in tex
    assert '<b>-4.00</b> <span class="interval">± 0.00</span>' in html and "GeF<sup>+</sup>" in html
    assert r"\textbf{-4.00} $\scriptstyle\pm$ 0.00" in tex and "GeF$^+$" in tex


def test_rounding_is_no_difference():
    assert not difference_cell(1e-15, 1e-17).bold and difference_cell(0.002, 0.001).bold


def test_zero_has_no_sign():
    row = {"variant": "v", "label": "V", "method": "gef", "dataset": "d", "rate": 0.3, "difference": -0.001,
           "interval": 0.1}  # fmt: skip
    shown = difference_table(pd.DataFrame([row]), 0.3, {"gef": "GeF"}, {"d": "D"})
    assert "-0.00" not in tables.to_latex([shown])
