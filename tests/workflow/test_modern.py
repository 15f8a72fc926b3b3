"""The modern study from end to end on its smoke configuration: mechanisms that share models, training too, figures."""

from pathlib import Path

import pandas as pd
import pytest
from working_copy import Project, copy_project

from joints.study.plan import Plan

pytestmark = pytest.mark.xdist_group("experiment")  # one after the other: each run takes all cores


def test_the_modern_study_of_one_dataset(root, tmp_path, monkeypatch):
    folder = copy_project(root, tmp_path / "project")
    project = Project(folder, {"run": "modern_smoke"}, {}, targets=("modern",))
    out = project.succeed("--quiet", "all", configfile="config/modern_smoke.yaml")
    assert "joints: TabPFN is not run: there is no tabpfn and no TABPFN_WEIGHTS." in out
    monkeypatch.chdir(folder)
    plan = Plan.read([Path("config/modern_smoke.yaml")]).here()
    assert [path for path in plan.modern_files if not path.is_file()] == []
    scores = pd.read_parquet(project.results / "scores.parquet")
    # methods, mechanisms (one of them in training too), rates and folds
    assert len(scores) == len(plan.used) * 3 * 2 * 2
    assert scores.groupby(["mechanism", "training"], observed=True).ngroups == 3
    pairs = pd.read_csv(project.results / "pairs.csv")
    assert set(pairs["metric"]) == set(plan.metrics) and (pairs["datasets"] == 1).all()
    costs = pd.read_csv(project.results / "costs.csv").set_index("model")
    assert costs.loc["gef", "forest_seconds"] > 0 and costs["fit_seconds"].gt(0).all()
    again = project.succeed("--dry-run", "--quiet", "rules", configfile="config/modern_smoke.yaml")
    assert "Nothing to be done" in again
