"""What jobs cost: measured, guessed, and measured again."""

import contextlib
from pathlib import Path

import pandas as pd
import pytest
import yaml

from joints.errors import JointsError
from joints.study.costs import ANY_JOB, measure, update
from joints.study.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def plan(tmp_path):
    costs = {"breast": {"forest": 0.5, "gef": 2.0, "mean": 1.0}, "wine_red_keel": {"outliers": 3.0}}
    (tmp_path / "costs.yaml").write_text(yaml.safe_dump(costs))
    content = {"extends": "config/quick.yaml", "catalogues": {"costs": str(tmp_path / "costs.yaml")}}
    content |= {"protocol": {"repetitions": 5}, "methods": ["mean", "knn", "gef", "gefp"]}
    (tmp_path / "my.yaml").write_text(yaml.safe_dump({**content, "protocol": {"repetitions": 5, "fewer": None}}))
    with contextlib.chdir(ROOT):
        return Plan.read([tmp_path / "my.yaml"])


def test_jobs(plan):
    costs = plan.costs
    assert costs.job("fetch_dataset", {"dataset": "breast"}) == ANY_JOB
    assert costs.job("grow_forests", {"dataset": "breast", "repetitions": "1-5"}) == ANY_JOB + 25 * 0.5
    guessed = costs.job("grow_forests", {"dataset": "splice", "repetitions": "1-5"})
    assert guessed > costs.job("grow_forests", {"dataset": "vowel", "repetitions": "1-5"}) > ANY_JOB
    knn = 25 * plan.methods["knn"].seconds * plan.size("breast")
    assert costs.job("score_breast_mcar_1", {}) == pytest.approx(ANY_JOB + 25 * 3 + knn)
    assert costs.job("score_wine", {"reading": "text"}) > ANY_JOB + 3 * plan.config["outliers"]["wine"]["repetitions"]
    assert costs.job("score_images", {}) > ANY_JOB and costs.job("build_report", {}) > ANY_JOB


def test_the_ablation_costs_its_forests_and_its_models():
    with contextlib.chdir(ROOT):
        plan = Plan.read(["config/smoke.yaml"])
    fold = plan.costs.per_fold
    models = fold("breast", "mean") + 2 * fold("breast", "gef")
    expected = 2 * 2 * (2 * fold("breast", "forest") + models * (1 + 1 / 10) / 2)
    assert plan.costs.job("score_variants_breast", {}) == pytest.approx(ANY_JOB + expected)


def test_a_finished_run_replaces_what_it_has_measured(plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JointsError, match=r"there is no results/quick/seconds\.csv: finish the run 'quick' first"):
        measure(plan)
    keys = {"dataset": "breast", "model": "gef", "mechanism": "mcar", "repetition": 1}
    rows = [
        {**keys, "rate": r / 10, "fold": f, "fit_seconds": 3.0, "predict_seconds": f} for r in range(10) for f in (1, 2)
    ]
    logs = Path("results/quick/logs")
    for folder in (logs / "forests" / "breast", logs / "outliers"):
        folder.mkdir(parents=True)
    pd.DataFrame(rows).to_csv("results/quick/seconds.csv", index=False)
    (logs / "forests/breast/1-5.log").write_text("some line\nINFO joints: ended after 50.0 CPU seconds\n")
    (logs / "outliers/wine_text.log").write_text("INFO joints: ended after 40.0 CPU seconds\n")
    found = measure(plan)
    assert found["breast"] == {"gef": 3 + 15, "forest": 2.0}
    repetitions = plan.config["outliers"]["wine"]["repetitions"]
    assert found["wine_red_keel"] == found["wine_white_keel"] == {"outliers": 40 / repetitions / 2}
    update(tmp_path / "costs.yaml", found, plan.measured)
    kept = yaml.safe_load((tmp_path / "costs.yaml").read_text())
    assert kept["breast"] == {"forest": 2.0, "gef": 18.0, "mean": 1.0}


def test_every_dataset_and_model_of_the_paper_is_measured():
    with contextlib.chdir(ROOT):
        plan = Plan.read(["config/config.yaml"])
    assert {name: set(plan.measured[name]) >= {"forest", *plan.models} for name in plan.names} == dict.fromkeys(
        plan.names, True
    )
