"""The page of a run, as a file and in a browser."""

import contextlib
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from browser import browser

from joints.render.documents import page_of, study_of
from joints.render.results_page import results_page
from joints.study.plan import Plan

__all__ = ["browser"]
ROOT = Path(__file__).resolve().parents[2]

with contextlib.chdir(ROOT):
    PLAN = Plan.read(["config/reference.yaml"])

STUDY = study_of(PLAN)


def frames():
    return {path.stem: pd.read_csv(path) for path in (ROOT / PLAN.files.results).glob("*.csv")}


def page(study=STUDY, tables=None, figures=None):
    pictures = {name: ROOT / path for name, path in zip(PLAN.studies, PLAN.outlier_figures, strict=True)}
    provenance = json.loads((ROOT / PLAN.files.results / "provenance.json").read_text())
    shown = pictures if figures is None else figures
    return results_page(study, tables or frames(), shown, provenance, PLAN.linked_files)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The page of the reference as a file."""
    path = tmp_path_factory.mktemp("page") / "index.html"
    with contextlib.chdir(ROOT):
        text = page_of(PLAN)
    assert text == page()
    path.write_text(text, encoding="utf-8")
    return path


def content(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_message_comes_first_and_everything_is_inside(reference):
    text = reference.read_text(encoding="utf-8")
    assert "[[" not in text.partition("<script")[0]
    places = [text.index(part) for part in ("of 147", "Gain over KNN", 'id="curves"', 'id="table1"', 'id="outliers"')]
    assert places == sorted(places)
    assert re.findall(r'(?:src|href)="(https?:|//)', text) == [] and len(text) < 1_000_000


def test_curves_are_the_numbers_of_the_run(reference):
    data, means = content(reference.read_text(encoding="utf-8")), frames()["means"]
    assert [dataset["name"] for dataset in data["datasets"]] == frames()["datasets"]["dataset"].tolist()
    cell = means.query("dataset == 'vowel' and method == 'gef' and metric == 'accuracy' and rate == 0.3").iloc[0]
    mean, interval = data["means"]["mcar/accuracy"]["vowel"]["gef"]
    at = data["rates"].index(0.3)
    assert (mean[at], interval[at]) == (round(cell["mean"], 3), round(cell["interval"], 3))
    assert data["metrics"][0]["name"] == "accuracy" and len({m["name"] for m in data["metrics"]}) == 3


def test_methods_look_different(reference):
    data = content(reference.read_text(encoding="utf-8"))
    assert len({(method["colour"], method["dash"]) for method in data["methods"]}) == len(data["methods"]) == 10


def test_names_of_users_cannot_break_the_page():
    evil = "</script><b>&"
    methods = [STUDY.methods[0]._replace(label=evil), *STUDY.methods[1:]]
    text = page(STUDY._replace(run=evil, methods=methods), figures={})
    assert "</script><b>" not in text and content(text)["methods"][0]["label"] == evil


def test_a_run_without_outliers_or_cells_of_the_paper():
    tables = frames()
    tables["agreement"] = tables["agreement"].iloc[:0]
    text = page(tables=tables, figures={})
    assert 'id="outliers"' not in text and "No cell of this run is in the paper" in text


@pytest.mark.parametrize("width", [1400, 400])
def test_in_a_browser(reference, browser, width):
    browser.open(reference, width)
    assert browser.run("document.querySelectorAll('#chart polyline.curve').length") == 7
    assert browser.run("document.documentElement.scrollWidth") <= width
    curve = "document.querySelector('#chart polyline[data-method=gef]').getAttribute('points')"
    seen = {browser.run(curve)}
    for control, value in (("dataset", "vowel"), ("dataset", "splice"), ("metric", "log_loss")):
        browser.run(f"{control}.value = '{value}'; {control}.dispatchEvent(new Event('change', {{bubbles: true}}))")
        seen.add(browser.run(curve))
    assert len(seen) == 4
    browser.run("document.querySelector('#methods input[value=mean]').click()")
    assert browser.run("document.querySelectorAll('#chart polyline.curve').length") == 6
    box = browser.run("chart.scrollIntoView(), chart.getBoundingClientRect().toJSON()")
    browser.point(box["left"] + box["width"] / 2, box["top"] + box["height"] / 2)
    assert "% missing" in browser.run("document.querySelector('.tip').textContent")
    assert browser.errors == [] and browser.addresses == [reference.resolve().as_uri()]


def test_table_1_is_sorted_by_a_click(reference, browser):
    browser.open(reference)
    rows = "[...document.querySelector('table.sortable').tBodies[0].rows]"
    for index in (1, 3):
        column = f"{rows}.map(row => parseFloat(row.cells[{index}].textContent))"
        click = f"document.querySelectorAll('table.sortable th button')[{index}].click()"
        browser.run(click)
        down = browser.run(column)
        assert down == sorted(down, reverse=True) and len(down) == 21
        browser.run(click)
        assert browser.run(column) == sorted(down)
    assert browser.errors == []
