"""The committed run of the modern study, and the page about it."""

import contextlib
import json
from pathlib import Path

import pandas as pd
import pytest

from joints.render.documents import fill_document
from joints.study.plan import Plan
from joints.study.scores import read_published
from joints.study.summarise import means

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "MODERN.md").read_text(encoding="utf-8")

with contextlib.chdir(ROOT):
    PLAN = Plan.read(["config/modern.yaml"])
    RESULTS = ROOT / PLAN.files.results


@pytest.fixture(scope="module")
def scores():
    return read_published(RESULTS / "scores.parquet")


def test_every_method_dataset_mechanism_and_rate_is_there(scores):
    protocol = PLAN.config["protocol"]
    assert set(PLAN.used) - set(scores["method"]) <= {"tabpfn"}  # whose weights were not at hand
    assert set(scores["dataset"]) == set(PLAN.names) and set(scores["mechanism"]) == set(PLAN.mechanism_names)
    cells = scores.groupby(["dataset", "method", "mechanism", "rate"], observed=True).size()
    assert set(cells) == {protocol["repetitions"] * protocol["folds"]}
    assert len(cells) == len(PLAN.names) * scores["method"].nunique() * len(PLAN.mechanism_names) * len(
        protocol["rates"]
    )


def test_the_means_are_those_of_the_scores(scores):
    keys = ["dataset", "method", "mechanism", "rate", "metric"]
    published = pd.read_csv(RESULTS / "means.csv").set_index(keys)["mean"]
    names = [name for name in PLAN.used if name in set(scores["method"])]
    again = means(scores, names, PLAN.all_metrics).set_index(keys)["mean"]
    assert len(again) == len(published) and (again - published).abs().max() < 1e-4


def test_figures_and_provenance_are_there():
    assert json.loads((RESULTS / "provenance.json").read_text(encoding="utf-8"))["run"] == "modern"
    for figure in PLAN.modern_figures:
        assert (ROOT / figure).is_file(), figure


def test_the_page_has_the_numbers_of_the_run():
    with contextlib.chdir(ROOT):
        assert fill_document(PAGE, PLAN) == PAGE, "run `make modern`"
