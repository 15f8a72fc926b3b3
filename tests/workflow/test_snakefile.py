"""What the workflow's files promise: targets, logs, thin scripts, and the configurations that are shipped."""

import ast
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from working_copy import copy_project

from joints.study.plan import Plan

RUNS = ["config", "quick", "reference", "smoke", "auto", "modern", "modern_smoke", "modern_training"]
CONFIGS = [f"config/{name}.yaml" for name in RUNS]


def snakemake(root, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments], cwd=root, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", CONFIGS)
def test_configurations_make_a_plan(root, name, monkeypatch):
    monkeypatch.chdir(root)
    assert Plan.read([name]).all_scores


def test_make_shows_a_configuration_with_all_that_it_extends(root, capsys, monkeypatch):
    monkeypatch.chdir(root)
    command = [sys.executable, "-m", "joints.runtime.config", "config/quick.yaml"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shown = yaml.safe_load(out)
    assert shown["run"] == "quick" and shown["protocol"]["seed"] == 2020 and "ablation" not in shown
    wrong = subprocess.run([*command[:-1], "config/gone.yaml"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and wrong.stderr.startswith("Error: config/gone.yaml cannot be read")


def test_every_configuration_is_tested(root):
    others = {f"config/{name}.yaml" for name in ("datasets", "methods", "mechanisms", "metrics", "costs")}
    found = {str(path.relative_to(root)) for path in (root / "config").glob("*.yaml")} - others
    assert found == set(CONFIGS)


def test_every_key_of_the_paper_has_a_comment(root):
    lines = (root / "config/config.yaml").read_text().splitlines()
    keys = [i for i, line in enumerate(lines) if re.match(r"( *)[a-z_]+:", line)]
    groups = [i for i in keys if re.fullmatch(r"[a-z_]+:", lines[i]) and not lines[i + 1].strip().startswith("- ")]
    bare = [
        lines[i]
        for i in keys
        if i not in groups and not re.match(r" {4,}", lines[i]) and not lines[i - 1].lstrip().startswith("#")
    ]
    assert bare == []


@pytest.mark.xdist_group("experiment")
def test_the_smallest_run_works_without_a_network(project):
    """config/smoke.yaml as it is shipped: from nothing to tables, figures and report."""
    out = project.succeed("--quiet", "all", configfile="config/smoke.yaml")
    assert [line for line in out.splitlines() if "profile" not in line and "compiling" not in line] == []
    results, figures = project.folder / "results" / "smoke", project.folder / "figures" / "smoke"
    summary = (results / "summary.txt").read_text()
    assert "wdbc" in summary and "of 7 cells of Table 1 within the intervals" in summary
    assert (results / "report.html").stat().st_size > 100_000
    assert {path.name for path in figures.iterdir()} == {
        f"{name}.{kind}" for name in ("breast", "againstKNN", "agreement", "ranks") for kind in ("pgf", "pdf", "png")
    }
    # Theorem 1: on complete rows, all of these are the forest itself
    complete = (results / "ci" / "breast.csv").read_text().splitlines()[1].split(",")
    assert len(set(complete[1:12:2])) == 1


@pytest.mark.parametrize("name", ["my clone", "Übung 1"])
def test_a_path_with_a_space_is_refused_before_anything_runs(root, tmp_path, name):
    folder = copy_project(root, tmp_path / name)
    shutil.copy(root / "Makefile", folder)
    out = snakemake(folder, "--quiet", "all", "--cores", "1", "--configfile", "config/smoke.yaml")
    assert out.returncode and out.stderr.splitlines()[-1].startswith("Error: a path with a space cannot be used"), out
    made = subprocess.run(["make"], cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode and "The path of this folder has a space" in made.stderr
    assert made.stderr.count("\n") == 1 and not (folder / "results").exists() and not (folder / ".venv").exists()


def test_a_memory_limit_is_one_sentence(root):
    command = ["sh", "-c", 'ulimit -v 900000 && exec "$0" -m snakemake --dry-run --cores 1 --quiet all', sys.executable]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    last = "Error: processes may have 921 MB of memory, and jobs need 1,000 MB or more: raise the limit (ulimit -v)."
    assert done.returncode and done.stderr.splitlines()[-1] == last, done.stderr


def test_targets(root):
    rules = snakemake(root, "--list-rules").stdout.split()
    expected = {
        "all",
        "fetch",
        "datasets",
        "scores",
        "tables",
        "figures",
        "agreement",
        "summary",
        "page",
        "report",
        "pdf",
    }
    assert expected <= set(rules)


def test_scripts_are_thin_and_start_their_log_first(root):
    scripts = sorted((root / "workflow" / "scripts").glob("*.py"))
    assert scripts
    for path in scripts:
        text = path.read_text()
        assert len(text.splitlines()) <= 25, path.name
        first = [ast.unparse(node) for node in ast.parse(text).body[1:3]]
        assert first == ["from joints.runtime import job", "job.begin(snakemake)"], path.name


def test_rules_have_logs_and_no_hidden_code(root):
    for path in [root / "Snakefile", *(root / "workflow" / "rules").glob("*.smk")]:
        text = path.read_text()
        assert "lambda" not in text and not re.search(r"^ +run:", text, re.MULTILINE), path.name
        defined = re.findall(r"^def (\w+)", text, re.MULTILINE)
        assert len(defined) <= (9 if path.name == "common.smk" else 0), path.name
        assert len(text.splitlines()) <= 160 or path.name != "common.smk"
        for rule in re.split(r"^(?=rule )", text, flags=re.MULTILINE)[1:]:
            if "script:" in rule or "shell:" in rule:
                assert re.search(r"^    log:", rule, re.MULTILINE), rule.splitlines()[0]
