"""Which versions a patch was tested with, and that the project's bounds say the same."""

import re
import tomllib
import warnings
from importlib import import_module
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import joints.patches
from joints.patches import versions

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(joints.patches.__file__).parent
PATCHES = sorted({path.stem for path in FOLDER.glob("*.py")} - {"__init__", "versions"})
TESTED = sorted(
    {
        tested
        for name in PATCHES
        for tested in vars(import_module(f"joints.patches.{name}")).values()
        if isinstance(tested, versions.Tested)
    }
)


@pytest.mark.parametrize(
    ("installed", "known"),
    [
        ("1.2.0", True),
        ("1.2", True),
        ("1.10.3", True),
        ("1.9", True),
        ("1.1.9", False),
        ("1.10.4", False),
        ("2", False),
        ("1.5rc1", False),
        ("1.5+local", False),
        ("unknown", False),
    ],
)
def test_a_version_is_tested_or_doubted(monkeypatch, installed, known):
    monkeypatch.setattr(versions, "version", lambda library: installed)
    doubt = versions.Tested("library", "1.2.0", "1.10.3").doubt()
    assert doubt == (None if known else f"library {installed} was not tested (tested: 1.2.0 to 1.10.3)")


def test_warns_once():
    with pytest.warns(versions.PatchWarning, match=r"^Something changed\.$"):
        versions.warn("Something changed.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        versions.warn("Something changed.")


def test_every_patch_has_a_test_file_and_says_what_it_was_tested_with():
    tests = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert tests == {*PATCHES, "versions"}
    for name in PATCHES:
        module = import_module(f"joints.patches.{name}")
        stated = [tested for tested in vars(module).values() if isinstance(tested, versions.Tested)]
        assert stated, name
        for tested in stated:
            assert tested.first in module.__doc__ and tested.last in module.__doc__, name


def test_patches_import_nothing_of_the_rest():
    for path in FOLDER.glob("*.py"):
        for module in re.findall(r"^\s*(?:from|import) (joints\S*)", path.read_text(), flags=re.MULTILINE):
            assert module.startswith("joints.patches"), path.name


def locked():
    """The versions that the lock has of a library, on whichever Python."""
    found = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


@pytest.mark.parametrize("tested", TESTED, ids=lambda tested: tested.library)
def test_the_lock_has_tested_versions_only(tested):
    assert locked()[tested.library] and all(version in tested for version in locked()[tested.library])


@pytest.mark.parametrize("tested", TESTED, ids=lambda tested: tested.library)
def test_the_bounds_begin_with_the_first_tested_version(tested):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["study"], *extras["missingpy"]]  # the library alone may have older ones
    found = [r.specifier for r in map(Requirement, lines) if canonicalize_name(r.name) == tested.library]
    bounds = SpecifierSet(",".join(map(str, found)))
    assert tested.first in bounds and tested.last in bounds
    lowest = [versions._release(s.version) for s in bounds if s.operator in (">=", "==")]
    first = min(versions._release(other.first) for other in TESTED if other.library == tested.library)
    assert max(lowest) == first
