"""A user's own dataset, method, mechanism and metric: one file and one entry each, and they appear everywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from working_copy import Project, copy_project, small_config

pytestmark = pytest.mark.xdist_group("experiment")  # one after the other: each run takes all cores

MODULE = '''
import numpy as np

from joints.interface import Mechanism, Method


class Majority(Method):
    """The most frequent class, whatever the row."""

    def fit(self, fold):
        self.frequencies_ = np.unique(fold.y, return_counts=True)[1] / len(fold.y)
        return self

    def predict_proba(self, X):
        return np.tile(self.frequencies_, (len(X), 1))


class FromTheRight(Mechanism):
    """The last columns go first."""

    def order(self, X, n_categories, random):
        return np.argsort(-np.tile(np.arange(X.shape[1]), len(X)), kind="stable")


def error_rate(truth, proba):
    return float((proba.round(10).argmax(axis=1) != truth).mean())
'''


def extend(path: Path, entries: dict) -> None:
    path.write_text(path.read_text() + "\n" + yaml.safe_dump(entries))


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    """A finished run of breast cancer data and a user's file, with a method, a mechanism and a metric of the user."""
    root = Path(__file__).resolve().parents[2]
    folder = copy_project(root, tmp_path_factory.mktemp("own") / "project")
    rng = np.random.default_rng(0)
    kind = np.arange(80) % 2
    table = pd.DataFrame({"length": rng.normal(kind, 1).round(3), "width": rng.normal(-kind, 1).round(3), "kind": kind})
    table.to_csv(folder / "mine.csv", index=False)
    (folder / "my_study.py").write_text(MODULE)
    config = folder / "config"
    extend(config / "methods.yaml", {"majority": {"label": "Majority", "class": "my_study.Majority"}})
    extend(config / "mechanisms.yaml", {"right": {"label": "from the right", "class": "my_study.FromTheRight"}})
    error = {"label": "Errors", "function": "my_study.error_rate", "unit": "%", "better": "lower"}
    extend(config / "metrics.yaml", {"errors": error})
    catalogue = yaml.safe_load((config / "datasets.yaml").read_text())
    catalogue["mine"] = {"sources": [{"csv": {"path": "mine.csv"}}], "target": "kind", "title": "My own data"}
    settings = small_config(
        ["mine", "breast"],
        methods=["majority", "gef", "knn"],
        metrics=["accuracy", "errors"],
        protocol={"repetitions": 2, "folds": 2, "rates": [0, 0.3], "mechanisms": ["mcar", "right"]},
        fetch={"sources": ["sklearn", "csv"]},
    )
    made = Project(folder, settings, catalogue)
    made.succeed("--quiet", "all")
    return made


def test_tables(project):
    table1 = pd.read_csv(project.results / "table1.csv")
    assert table1["Dataset"].tolist() == ["mine", "wdbc"]
    assert [name for name in table1.columns[6:] if not name.lower().endswith("ci")] == [
        "KNN",
        "GeF",
        "majority",
        "lower",
    ]
    html = (project.results / "tables" / "table1.html").read_text()
    assert re.findall(r"<th[^>]*>([^<]+)</th>", html) == ["Dataset", "n", "KNN", "GeF", "Majority"]
    assert "<td>mine</td>" in html and "<td>wdbc</td>" in html
    for name in ("ranks", "tally", "mine", "breast"):
        assert "Majority" in (project.results / "tables" / f"{name}.html").read_text(), name


def test_figures(project):
    figures = project.folder / "figures" / "test"
    for name in ("againstKNN", "ranks", "mine", "breast"):
        assert "Majority" in (figures / f"{name}.pgf").read_text(), name
    assert "Gain over KNN" in (figures / "againstKNN.pgf").read_text()


def test_numbers(project):
    ranks = pd.read_csv(project.results / "ranks.csv")
    assert "majority" in set(ranks["method"]) and set(ranks["metric"]) >= {"accuracy", "log_loss", "errors"}
    means = pd.read_csv(project.results / "means.csv")
    keys = ["dataset", "method", "mechanism", "rate"]
    wide = means.pivot(index=keys, columns="metric", values="mean")
    np.testing.assert_allclose(wide["errors"], 100 - wide["accuracy"], atol=1e-9)
    assert set(means["mechanism"]) == {"mcar", "right"} and set(means["dataset"]) == {"mine", "breast"}
    agreement = pd.read_csv(project.results / "agreement.csv")
    assert set(agreement["dataset"]) == {"wdbc"} and set(agreement["method"]) == {"knn", "gef"}


def test_summary(project):
    text = (project.results / "summary.txt").read_text()
    rows = [line.split() for line in text.splitlines()]
    mine = next(row for row in rows if row and row[0] == "mine")
    assert len(mine) == 4 and "(" not in "".join(mine)  # three methods, and no number of the paper
    assert "Majority" in text and "of 2 cells of Table 1 within the intervals" in text


def test_report_and_provenance(project):
    report = (project.results / "report.html").read_text()
    for name in ("mine.png", "againstKNN.png", "right/errors/mine.png", "tables/table1.html"):
        assert name in report, name
    provenance = json.loads((project.results / "provenance.json").read_text())
    assert "majority" in provenance["seconds"]["mine"] and provenance["metrics"] == ["accuracy", "errors"]


def test_other_mechanisms_and_metrics_have_folders_of_their_own(project):
    figures = {path.relative_to(project.folder).as_posix() for path in (project.folder / "figures").rglob("*.pgf")}
    for view in ("", "mcar/errors/", "right/accuracy/", "right/errors/"):
        assert {f"figures/test/{view}{name}.pgf" for name in ("mine", "breast", "againstKNN", "ranks")} <= figures
    assert "Errors" in (project.folder / "figures/test/mcar/errors/mine.pgf").read_text()
    masked = pd.read_csv(project.results / "ci" / "right/accuracy/mine.csv")
    assert masked["KNN"].notna().all()


def test_another_answer_of_a_model_costs_nothing(project):
    extend(project.folder / "config" / "methods.yaml", {"plus": {"label": "Plus", "of": "gef", "answer": "mixture"}})
    project.config["methods"] = ["majority", "gef", "knn", "plus"]
    stale = project.stale()
    assert "summarise_dataset" in stale and "grow_forests" not in stale
    assert not [name for name in stale if name.startswith("score_")]


def test_retuned_costs_compute_nothing_again(project):
    """Jobs are cut in another way, and find everything that they need."""
    project.config["methods"] = ["majority", "gef", "knn"]
    path = project.folder / "config" / "methods.yaml"
    path.write_text(path.read_text().replace("seconds: 4", "seconds: 40000"))
    before = parts(project)
    assert "score_mine_mcar_1_gef" in project.stale()
    project.succeed("scores", "--quiet", "all")
    assert parts(project) == before


def parts(project):
    return {path: path.stat().st_mtime_ns for path in project.results.glob("scores/*/*/*/*.parts/*/*")}


def test_an_edit_of_ones_own_module(project):
    path = project.folder / "my_study.py"
    path.write_text(path.read_text() + "\nX = 1\n")
    assert any(name.startswith("score_mine") for name in project.stale())
