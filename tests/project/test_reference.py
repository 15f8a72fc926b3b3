"""The committed reference: complete, consistent with itself, and what the documents say."""

import re

import pandas as pd
import pytest

from joints.render.documents import Run, fill
from joints.runtime.config import read_yaml
from joints.study import summarise
from joints.study.methods import entries
from joints.study.protocol import Protocol


@pytest.fixture
def reference(root):
    return root / "results/reference"


@pytest.fixture
def agreement(reference):
    return pd.read_csv(reference / "agreement.csv")


def columns(root):
    catalogue = entries(read_yaml(root / "config/methods.yaml"), "config/methods.yaml")
    return {entry.name: [entry.column, entry.interval] for entry in catalogue.values() if entry.column}


def test_its_configuration_is_the_papers_with_fewer_repetitions(root):
    paper, ours = read_yaml(root / "config/config.yaml"), read_yaml(root / "config/reference.yaml")
    assert set(paper["methods"]) < set(ours["methods"]) and set(ours["datasets"]) <= set(paper["datasets"])
    exceptions = ours["protocol"].pop("exceptions")
    assert not paper["protocol"].pop("exceptions")
    assert all(set(entry) <= {"repetitions", "fewer"} for entry in exceptions.values())
    for config in (paper, ours):
        del config["run"], config["methods"], config["datasets"]
    assert ours == paper


def test_every_cell_of_table_1(root, agreement):
    datasets = read_yaml(root / "config/reference.yaml")["datasets"]
    assert len(agreement) == 7 * len(datasets)
    assert (agreement["repetitions"] >= 1).all() and (agreement["folds"] == 5).all()
    assert (agreement["verdict"] == "within").mean() >= 130 / 147


def test_tables_follow_from_the_means(root, reference, agreement):
    means, datasets = (pd.read_csv(reference / name) for name in ("means.csv", "datasets.csv"))
    paper = pd.read_csv(root / "config/paper_table1.csv")
    pd.testing.assert_frame_equal(summarise.agreement(means, datasets, paper, columns(root)), agreement)
    pd.testing.assert_frame_equal(
        summarise.table1(means, datasets, columns(root)), pd.read_csv(reference / "table1.csv"), check_dtype=False
    )
    for dataset, rows in means.groupby("dataset"):
        expected = summarise.dataset_table(rows, columns(root)).astype({"Missing": float})
        found = pd.read_csv(reference / "ci" / f"{dataset}.csv").astype({"Missing": float})
        pd.testing.assert_frame_equal(expected, found, check_dtype=False)


def test_all_datasets_methods_and_rates(root, reference):
    config = read_yaml(root / "config/reference.yaml")
    means = pd.read_csv(reference / "means.csv")
    assert len(means) == len(config["datasets"]) * len(config["methods"]) * len(config["protocol"]["rates"])
    assert not means[["mean", "interval"]].isna().any().any()


def test_repetitions_are_those_of_the_configuration(root, reference):
    settings = read_yaml(root / "config/reference.yaml")["protocol"]
    catalogue = entries(read_yaml(root / "config/methods.yaml"), "config/methods.yaml")
    means = pd.read_csv(reference / "means.csv").drop_duplicates(["dataset", "method"])
    for row in means.to_dict("records"):
        protocol = Protocol.read(settings, row["dataset"], catalogue[row["method"]].model)
        assert (row["repetitions"], row["folds"]) == (protocol.repetitions, protocol.folds)


@pytest.mark.parametrize("name", ["README.md", "REPRODUCTION.md"])
def test_documents_have_the_numbers_of_the_reference(name, root, reference):
    text = (root / name).read_text(encoding="utf-8")
    assert "<!-- end of table1 -->" in text
    assert fill(text, reference) == text, "run `make reference`"


def test_every_cell_outside_of_the_intervals_has_a_cause(root, reference, agreement):
    labels = Run.read(reference).labels
    text = (root / "REPRODUCTION.md").read_text(encoding="utf-8")
    causes = text.partition("## Cells outside of the intervals\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"^- \*\*(.+?), (.+?)\*\*", causes, flags=re.MULTILINE))
    outside = agreement[agreement["verdict"] != "within"]
    assert named == {(row["dataset"], labels[row["method"]]) for row in outside.to_dict("records")}


def test_figures(root):
    names = [*read_yaml(root / "config/reference.yaml")["datasets"], "againstKNN", "agreement", "ranks"]
    for name in names:
        for kind in ("pdf", "pgf"):
            assert (root / "figures/reference" / f"{name}.{kind}").stat().st_size > 1000
