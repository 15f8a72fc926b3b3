"""Means, intervals, the paper's files, and agreement with its numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import study
from joints.study import summarise


@pytest.fixture(scope="module")
def means():
    return study.means_of(study.scores())


def small(values, method="knn", dataset="d", rate=0.3):
    """Scores from values[repetition][fold]."""
    rows = [
        (dataset, method, "mcar", rate, r, f, value, 1 - value, 0.2, 0.5, 0.1)
        for r, folds in enumerate(values, 1)
        for f, value in enumerate(folds, 1)
    ]
    return pd.DataFrame(rows, columns=study.scores().columns)


def accuracy(scores, methods):
    return summarise.means(scores, methods, [study.ACCURACY])


def test_interval_over_the_means_of_five_repetitions():
    table = accuracy(small([[0.5, 0.7], [0.6, 0.6], [0.9, 0.7], [0.5, 0.5], [0.7, 0.7]]), ["knn"])
    low, high = stats.t.interval(0.95, 4, loc=64, scale=stats.sem([60, 60, 80, 50, 70]))
    assert table["mean"].item() == pytest.approx(64) and table["repetitions"].item() == 5
    assert table["interval"].item() == pytest.approx((high - low) / 2)


@pytest.mark.parametrize("values", [[[0.5, 0.7, 0.9]], [[0.5, 0.7], [0.6, 0.6], [0.9, 0.7]]])
def test_interval_over_the_folds_of_fewer(values):
    table = accuracy(small(values), ["knn"])
    folds = 100 * np.ravel(values)
    low, high = stats.t.interval(0.95, len(folds) - 1, loc=folds.mean(), scale=stats.sem(folds))
    assert table["mean"].item() == pytest.approx(folds.mean())
    assert (table["repetitions"].item(), table["folds"].item()) == np.shape(values)
    assert table["interval"].item() == pytest.approx((high - low) / 2)


def test_two_repetitions_that_happen_to_agree_are_not_certain():
    """Over two means, these intervals would be 0 and 25 points."""
    table = accuracy(pd.concat([small([[0.6, 0.64], [0.64, 0.6]]), small([[0.6, 0.6], [0.64, 0.64]], "gef")]),
                     ["knn", "gef"])  # fmt: skip
    assert table["interval"].tolist() == pytest.approx([3.675] * 2, abs=0.01)


def test_files_for_the_papers_latex(means, shared_columns):
    table = summarise.dataset_table(study.accuracies(means, dataset="vehicle"), study.COLUMNS, study.ACCURACY)
    assert ",".join(table.columns) == shared_columns
    assert table["Missing"].tolist() == ["0", "10", "30", "90"]
    best = table.filter(regex="^(?!.*ci$|Missing|lower)").to_numpy()
    for i in range(len(table)):
        column = [c for c in table.columns if not c.endswith("ci") and c not in ("Missing", "lower")][best[i].argmax()]
        interval = next(entry.columns[1] for entry in study.COLUMNS if entry.columns[0] == column)
        assert table["lower"][i] == pytest.approx(table[column][i] - table[interval][i])


@pytest.fixture
def shared_columns():
    return (
        "Missing,Surr,Sci,Friedman,Fci,Mean,Mci,KNN,Kci,MissForest,MFci,GeF,GeFci,GeF(LSPN),GeF(LSPN)ci,GeFp,GeFpci,"
        "GeFp(LSPN),GeFp(LSPN)ci,LSPN,LSPNci,lower"
    )


def test_a_method_that_did_not_run_has_empty_columns(means):
    some = means[means["method"].isin(["knn", "mean"])]
    table = summarise.dataset_table(study.accuracies(some, dataset="breast"), study.COLUMNS, study.ACCURACY)
    assert table["GeF"].isna().all() and table["KNN"].notna().all() and table["lower"].notna().all()
    assert len(table.columns) == 22


def test_table1_has_the_papers_columns_and_order(means):
    table = summarise.table1(study.accuracies(means, rate=0.3), study.details(), study.IN_FILE, study.ACCURACY)
    assert table.columns.tolist() == study.PAPER.columns.tolist()
    assert table["Dataset"].tolist() == ["wdbc", "diabetes", "vehicle"]  # smallest first
    theirs = study.PAPER.set_index("Dataset").loc[table["Dataset"]].reset_index()
    pd.testing.assert_frame_equal(table.iloc[:, :6], theirs.iloc[:, :6])


def test_the_papers_own_table_obeys_our_rule_for_lower():
    ours = summarise.bold_bound(study.PAPER, [entry.columns for entry in study.IN_FILE], study.ACCURACY)
    np.testing.assert_allclose(ours, study.PAPER["lower"], atol=0.0101)


def test_the_papers_numbers_are_those_of_the_paper(shared, root):
    assert (root / "config/paper_table1.csv").read_bytes() == (shared / "paper/table1.csv").read_bytes()


def test_gains_over_knn(means):
    gains = summarise.gains(study.scores(), ["knn"], [study.ACCURACY])
    assert (gains.query("method == 'knn'")["gain"] == 0).all()
    at = study.accuracies(means, rate=0.9).pivot(index="dataset", columns="method", values="mean")
    row = gains.query("method == 'gef' and rate == 0.9").iloc[0]
    assert row["gain"] == pytest.approx((at["gef"] - at["knn"]).mean()) and row["n"] == 3
    assert row["interval"] == pytest.approx(summarise.half_width((at["gef"] - at["knn"]).to_numpy()))


def test_gains_are_over_the_repetitions_that_both_methods_have():
    both = pd.concat([small([[0.5], [0.9]]), small([[0.6]], "gef"), small([[0.4], [0.4]], "mean")])
    gains = summarise.gains(both, ["knn", "mean"], [study.ACCURACY]).set_index(["over", "method"])["gain"]
    assert gains["knn"].to_dict() == pytest.approx({"knn": 0, "gef": 10, "mean": -30})
    assert gains["mean"].to_dict() == pytest.approx({"knn": 30, "gef": 20, "mean": 0})


def test_a_gain_is_positive_where_the_method_is_better():
    both = pd.concat([small([[0.5], [0.6]]), small([[0.7], [0.8]], "gef")])
    gains = summarise.gains(both, ["knn"], study.METRICS).query("method == 'gef'").set_index("metric")["gain"]
    assert gains["accuracy"] == pytest.approx(20) and gains["log_loss"] == pytest.approx(0.2)  # lower by 0.2


def test_means_have_all_metrics_in_their_units(means):
    cell = means.query("dataset == 'breast' and method == 'knn' and rate == 0.3").set_index("metric")["mean"]
    assert list(cell.index) == list(study.PLAN.metrics)
    assert cell["log_loss"] == pytest.approx(1 - cell["accuracy"] / 100)
    assert cell["roc_auc"] == pytest.approx(50 + cell["accuracy"] / 2)


def test_where_lower_is_better_the_bound_is_above_the_best():
    table = pd.DataFrame({"a": [0.5, 0.2], "a_ci": [0.1, 0.3], "b": [0.4, 0.9], "b_ci": [0.2, 0.1]})
    metric = study.PLAN.metrics["log_loss"]
    assert summarise.bold_bound(table, [("a", "a_ci"), ("b", "b_ci")], metric).tolist() == [0.6, 0.5]


def as_means(table1):
    """A table like the paper's in the form of `means` at one rate, and the datasets that it names."""
    rows = [
        (row["Dataset"], entry.name, row[entry.columns[0]], row[entry.columns[1]], 10, 5)
        for row in table1.to_dict("records")
        for entry in study.TABLE1
    ]
    names = ["dataset", "method", "mean", "interval", "repetitions", "folds"]
    datasets = pd.DataFrame({"dataset": table1["Dataset"], "label": table1["Dataset"], "n": table1["n"]})
    return pd.DataFrame(rows, columns=names), datasets


def test_the_paper_agrees_with_itself():
    table = summarise.agreement(*as_means(study.PAPER), study.PAPER, study.IN_FILE)
    assert len(table) == 147 and (table["z"] == 0).all() and (table["verdict"] == "within").all()
    assert summarise.agreement_sentence(table).startswith("147 of 147 cells of Table 1 within the intervals")


def test_agreement_by_hand():
    ours = study.PAPER[study.PAPER["Dataset"] == "wdbc"].copy()
    ours["GeF"] += 1.5 * np.hypot(0.47, 0.3)
    ours["GeFci"] = 0.3
    ours["Mean"] -= 10
    table = summarise.agreement(*as_means(ours), study.PAPER, study.IN_FILE).set_index("method")
    assert table.loc["gef", "z"] == pytest.approx(1.5, abs=0.01) and table.loc["gef", "verdict"] == "near"
    assert table.loc["mean", "verdict"] == "off" and table.loc["knn", "verdict"] == "within"
    assert table.loc["gef", ["repetitions", "folds"]].tolist() == [10, 5]


def test_datasets_that_the_paper_lacks_have_no_agreement():
    means, datasets = as_means(study.PAPER)
    table = summarise.agreement(means, datasets.assign(label="mine"), study.PAPER, study.IN_FILE)
    assert table.empty and "none of the paper's cells" in summarise.agreement_sentence(table)


def test_methods_with_fewer_repetitions_say_so():
    scores = pd.concat([small([[0.5, 0.7]] * 4), small([[0.5, 0.7]], "missforest"), small([[0.5, 0.7]] * 2, "gef")])
    table = accuracy(scores, ["knn", "missforest", "gef"])
    assert table.set_index("method")["repetitions"].to_dict() == {"knn": 4, "missforest": 1, "gef": 2}
    labels = {"knn": "KNN", "missforest": "MissForest", "gef": "GeF"}
    counts = "4 x 2, except 2 x 2 for D (GeF); 1 x 2 for D (MissForest)."
    sentence = summarise.repetitions_sentence(table, labels, {"d": "D"})
    assert sentence == f"Repetitions x folds: {counts}  Intervals are over the folds."
    table.loc[0, "repetitions"] = 5
    sentence = summarise.repetitions_sentence(table, labels, {"d": "D"})
    assert sentence.endswith("over the means of the repetitions, or over the folds of fewer than 5 repetitions.")
