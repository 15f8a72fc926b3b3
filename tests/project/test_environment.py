"""pyproject.toml, the lock and environment.yml say the same."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
PYTHONS = ["3.11", "3.12", "3.13"]


def pins(lines):
    """Name, marker -> version of pinned requirements."""
    requirements = [Requirement(line) for line in lines]
    for requirement in requirements:
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), f"{requirement} is not pinned"
    return {(canonicalize_name(r.name), str(r.marker or "")): str(r.specifier).removeprefix("==") for r in requirements}


def lock_lines():
    joined = LOCK.replace("\\\n", " ")
    return [
        re.split(r"\s--hash=", line)[0].strip() for line in joined.splitlines() if line and not line.startswith("#")
    ]


def chosen(python):
    """What the lock installs on a machine with this Python."""
    system = {"python_version": python, "python_full_version": f"{python}.0"}
    return {
        name: version
        for (name, marker), version in pins(lock_lines()).items()
        if not marker or Marker(marker).evaluate(system)
    }


def conda_python():
    (line,) = [d for d in ENVIRONMENT["dependencies"] if isinstance(d, str) and d.startswith("python ")]
    return line.removeprefix("python ").strip()


def test_environment_has_the_pins_of_the_lock():
    (pip,) = [d["pip"] for d in ENVIRONMENT["dependencies"] if isinstance(d, dict)]
    assert pins(pip) == pins(lock_lines())


def test_environment_is_what_make_environment_writes(tmp_path):
    out = tmp_path / "environment.yml"
    subprocess.run([sys.executable, ROOT / ".ci/environment.py", ROOT / "requirements.lock", out], check=True)
    assert out.read_text() == (ROOT / "environment.yml").read_text()


def test_environment_has_a_python_that_the_project_allows():
    version = conda_python().lstrip("=")
    assert re.fullmatch(r"3\.\d+", version) and SpecifierSet(PROJECT["requires-python"]).contains(f"{version}.0")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_satisfies_every_dependency(python):
    versions = chosen(python)
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    for line in [*PROJECT["dependencies"], *extras]:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        assert name in versions, f"{name} is not in the lock"
        assert requirement.specifier.contains(versions[name]), f"{line}, but the lock has {versions[name]}"


def test_every_pin_has_hashes():
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(lock_lines()) > 50
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_the_releases_that_the_project_is_about():
    versions = chosen("3.11")
    wanted = {"scikit-learn": "1.9", "numpy": "2.4", "pandas": "3", "snakemake": "9", "numba": "0.68", "openml": "0.15"}
    for name, version in {**wanted, "matplotlib": "3.11"}.items():
        assert versions[name].startswith(f"{version}."), name
