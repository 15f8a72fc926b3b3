"""The committed reference: complete, consistent with itself, and what the documents say."""

import contextlib
import re
from pathlib import Path

import pandas as pd
import pytest

from joints.render.documents import fill_document
from joints.runtime.config import read_yaml
from joints.study import summarise
from joints.study.plan import Plan

ROOT = Path(__file__).resolve().parents[2]

with contextlib.chdir(ROOT):
    PLAN = Plan.read(["config/reference.yaml"])


@pytest.fixture
def reference():
    return ROOT / PLAN.files.results


@pytest.fixture
def means(reference):
    return pd.read_csv(reference / "means.csv")


@pytest.fixture
def accuracies(means):
    return summarise.at(means, **PLAN.paper_view.keys)


@pytest.fixture
def agreement(reference):
    return pd.read_csv(reference / "agreement.csv")


def test_its_configuration_is_the_papers_with_fewer_repetitions():
    own = read_yaml(ROOT / "config/reference.yaml")
    assert own.pop("extends") == "config/config.yaml"
    assert set(own) == {"run", "methods", "protocol"} and set(own["protocol"]) == {"exceptions"}
    assert set(read_yaml(ROOT / "config/config.yaml")["methods"]) < set(own["methods"])
    assert all(set(entry) <= {"repetitions", "fewer"} for entry in own["protocol"]["exceptions"].values())


def test_every_cell_of_table_1(agreement):
    assert len(agreement) == 7 * len(PLAN.names) == 147
    assert (agreement["repetitions"] >= 1).all() and (agreement["folds"] == 5).all()
    assert (agreement["verdict"] == "within").mean() >= 130 / 147


def test_tables_follow_from_the_means(reference, accuracies, agreement):
    datasets, paper = pd.read_csv(reference / "datasets.csv"), pd.read_csv(ROOT / "config/paper_table1.csv")
    cells = summarise.at(accuracies, rate=PLAN.config["table_rate"])
    methods, metric = summarise.in_file_order(PLAN.table1_methods, paper.columns), PLAN.paper_view.metric
    pd.testing.assert_frame_equal(summarise.agreement(cells, datasets, paper, methods), agreement)
    pd.testing.assert_frame_equal(
        summarise.table1(cells, datasets, methods, metric), pd.read_csv(reference / "table1.csv"), check_dtype=False
    )
    for dataset, rows in accuracies.groupby("dataset"):
        expected = summarise.dataset_table(rows, PLAN.paper_columns, metric).astype({"Missing": float})
        found = pd.read_csv(reference / "ci" / f"{dataset}.csv").astype({"Missing": float})
        pd.testing.assert_frame_equal(expected, found, check_dtype=False)


def test_all_datasets_methods_and_rates(means, accuracies):
    cells = len(PLAN.names) * len(PLAN.used) * len(PLAN.config["protocol"]["rates"])
    assert len(accuracies) == cells and not accuracies[["mean", "interval"]].isna().any().any()
    assert means.groupby("metric").size().to_dict() == {"accuracy": cells, "brier": cells, "log_loss": cells}
    assert not means["mean"].isna().any()


def test_repetitions_are_those_of_the_configuration(accuracies):
    for row in accuracies.drop_duplicates(["dataset", "method"]).to_dict("records"):
        protocol = PLAN.protocol(row["dataset"], PLAN.methods[row["method"]].model)
        assert (row["repetitions"], row["folds"]) == (protocol.repetitions, protocol.folds)


@pytest.mark.parametrize(("name", "block"), [("README.md", "agreement"), ("REPRODUCTION.md", "table1")])
def test_documents_have_the_numbers_of_the_reference(name, block):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert f"<!-- end of {block} -->" in text
    with contextlib.chdir(ROOT):
        assert fill_document(text, PLAN) == text, "run `make reference`"


def test_table_1_stands_once():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "REPRODUCTION.md")]
    assert [text.count("| dresses | 45.9") for text in texts] == [0, 1]


def test_every_cell_outside_of_the_intervals_has_a_cause(agreement):
    labels = PLAN.labels
    text = (ROOT / "REPRODUCTION.md").read_text(encoding="utf-8")
    causes = text.partition("## Cells outside of the intervals\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"^- \*\*(.+?), (.+?)\*\*", causes, flags=re.MULTILINE))
    outside = agreement[agreement["verdict"] != "within"]
    assert named == {(row["dataset"], labels[row["method"]]) for row in outside.to_dict("records")}


def test_figures():
    for path in PLAN.figure_files:
        if path.suffix != ".png":
            assert (ROOT / path).stat().st_size > 1000
