"""A run's name: nothing stale stays under it, and the reference is not overwritten by accident."""

import dataclasses
from pathlib import Path

import pytest

import study
from joints.errors import JointsError
from joints.study.plan import Plan
from joints.study.run_record import check_reference, remove_stale


@pytest.fixture
def in_project(root, monkeypatch):
    monkeypatch.chdir(root)


def changed(**changes):
    plan = study.PLAN
    config = {**plan.config, "run": "mine", **changes}
    return dataclasses.replace(plan, config=config)


def test_artefacts_of_another_configuration_are_removed_and_scores_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before, after = changed(datasets=["bank", "wine"]), changed(datasets=["wine"])
    assert remove_stale(before) == [] and capsys.readouterr().err == ""
    kept = [*before.scores("bank"), Path("results/mine/tables/notes.html"), *after.artefacts]
    for path in {*before.artefacts, *kept}:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    removed = remove_stale(after)
    assert {path.stem for path in removed} == {"bank"} and Path("results/mine/ci/bank.csv") in removed
    assert not any(path.exists() for path in removed) and all(path.exists() for path in kept)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"removed {len(removed)} files that the run 'mine' no longer makes" in said
    assert remove_stale(after) == []


def test_a_list_from_elsewhere_removes_nothing_outside_of_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = changed(datasets=["wine"])
    plan.files.results.mkdir(parents=True)
    Path("precious").write_text("")
    (plan.files.results / "artefacts.json").write_text('["precious", "results/mine/../../precious", 3]')
    assert remove_stale(plan) == [] and Path("precious").exists()
    (plan.files.results / "artefacts.json").write_text("not JSON")
    assert remove_stale(plan) == []


def test_only_the_committed_configuration_may_be_the_reference(in_project):
    files = ["config/reference.yaml"]
    check_reference(Plan.read(files), files, {})
    mirror = {"openml": {"server": "http://127.0.0.1:1/api/v1/xml"}}
    check_reference(Plan.read(files, mirror), files, mirror)
    other = changed(run="reference")
    with pytest.raises(JointsError, match=r"my.yaml: the run 'reference' belongs to config/reference.yaml, .* choose"):
        check_reference(other, ["my.yaml"], {})
    fewer = {"protocol": {"repetitions": 2}}
    with pytest.raises(JointsError, match="belongs to"):
        check_reference(Plan.read(files, {**fewer, "ablation": None}), files, fewer)
    check_reference(other, ["my.yaml"], {"run": "reference"})
    check_reference(changed(), ["my.yaml"], {})


def test_sections_of_the_report_have_no_gaps():
    titles = ["Datasets", "Outliers", "Ablation", "Theory", "Provenance"]
    assert [study.PLAN.section(title) for title in titles] == [f"{i} {t}" for i, t in enumerate(titles, 4)]
    without = {key: value for key, value in study.PLAN.config.items() if key != "outliers"}
    plan = dataclasses.replace(study.PLAN, config=without)
    assert plan.section("Ablation") == "5 Ablation" and plan.section("Provenance") == "7 Provenance"
