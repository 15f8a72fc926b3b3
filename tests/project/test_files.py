"""What a newcomer finds: the files that belong here, and nothing that only works on one particular machine."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from joints import __version__

ROOT = Path(__file__).resolve().parents[2]


def tracked():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git repository")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


@pytest.mark.parametrize(
    "name",
    [
        "Snakefile",
        "config",
        "workflow",
        "src",
        "results",
        "figures",
        "environment.yml",
        "tests",
        "README.md",
        "pyproject.toml",
        "requirements.lock",
        "Makefile",
        ".ci/run",
        "LICENSE",
        "CITATION.cff",
        "CHANGELOG.md",
    ],
)
def test_the_top_level(name):
    assert (ROOT / name).exists()


def test_readme_starts_with_the_two_commands():
    commands = re.findall(r"^    (make.*)|^(make.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert [(a or b).split("#")[0].strip() for a, b in commands[:2]] == ["make", "make test"]


def test_the_citation_names_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    paper = citation["preferred-citation"]
    assert paper["title"] == "Joints in Random Forests" and paper["year"] == 2020
    assert [author["family-names"] for author in paper["authors"]] == ["Correia", "Peharz", "de Campos"]
    assert "2006.14937" in str(paper["identifiers"]) and citation["version"] == __version__


def test_the_licence_is_mit():
    text = (ROOT / "LICENSE").read_text()
    assert text.startswith("MIT License") and "The joints developers" in text


def test_nothing_belongs_to_one_machine():
    forbidden = re.compile(
        r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/|pypi\.org|files\.pythonhosted|" + r"index-url\s*[= ]\s*http"
    )
    found = []
    for path in tracked():
        if path == Path(__file__).resolve() or path.suffix in {".png", ".pdf", ".npz", ".parquet"}:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if forbidden.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_make_help_lists_every_target():
    text = (ROOT / "Makefile").read_text()
    out = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^make (\w+)", out, re.MULTILINE))
    assert listed == set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split())
    assert {"quick", "paper", "test", "lint", "bench", "help"} <= listed


def make(folder, *arguments, path):
    return subprocess.run(
        ["make", *arguments], cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def bare(tmp_path):
    """A folder with the Makefile and a stand-in for Python that records what it is asked to do."""
    for name in ("Makefile", "requirements.lock"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "make", "touch", "cat", "echo", "mkdir", "cp", "chmod", "env", "dirname", "awk"):
        found = next((Path(d) / name for d in os.environ["PATH"].split(os.pathsep) if (Path(d) / name).exists()), None)
        if found:
            (tools / name).symlink_to(found)
    return tmp_path


STAND_IN = """#!/bin/sh
echo "$@" >> "{note}"
case "$*" in
  -c*) exit {status} ;;
  "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""


def stand_in(folder, name, status):
    path = folder / "tools" / name
    path.write_text(STAND_IN.format(note=folder / "note", status=status))
    path.chmod(0o755)


def test_make_sets_up_the_environment_once_and_again_when_the_lock_is_newer(bare):
    stand_in(bare, "python3", 0)
    tools = str(bare / "tools")
    assert make(bare, "bench", path=tools).returncode == 0
    note = bare / "note"
    asked = note.read_text()
    assert "-m venv .venv" in asked and "--requirement requirements.lock" in asked and "--no-deps --editable ." in asked
    note.unlink()
    assert make(bare, "bench", path=tools).returncode == 0
    assert not note.exists()
    newer = (bare / ".venv/.installed").stat().st_mtime + 10
    os.utime(bare / "requirements.lock", (newer, newer))
    assert make(bare, "bench", path=tools).returncode == 0
    assert "--requirement requirements.lock" in note.read_text() and "-m venv" not in note.read_text()


def test_make_says_when_python_is_too_old(bare):
    stand_in(bare, "python3", 1)
    result = make(bare, "quick", path=str(bare / "tools"))
    assert result.returncode != 0
    assert "joints needs Python 3.11 or newer: install one" in result.stderr
    assert not (bare / ".venv").exists()


def test_an_old_python_is_passed_over(bare):
    stand_in(bare, "python3", 1)
    stand_in(bare, "python3.13", 0)
    assert make(bare, "bench", path=str(bare / "tools")).returncode == 0
    assert (bare / ".venv/bin/python").exists()


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "src/joints/py.typed").exists()
