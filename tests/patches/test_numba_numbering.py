"""Numbers of functions that numba draws."""

import itertools
import os
import subprocess
import sys

import pytest
from numba.core.bytecode import FunctionIdentity

from joints.patches import numba_numbering as patch
from joints.patches import versions

SORTING = """
import numpy as np
from joints.numerics.compiled import kernel

@kernel
def order(x):
    return np.argsort(x)

order(np.ones(3))
(compiled,) = order.overloads.values()
print(*(f.name for f in compiled.library.get_defined_functions()), sep="\\n")
"""


def test_no_two_processes_give_functions_the_same_name(tmp_path):
    """Sorting and ordering are made of functions with the same names and arguments, which must not be mixed up."""
    (tmp_path / "sorting.py").write_text(SORTING)
    found = []
    for folder in ("one", "two"):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / folder)}
        run = [sys.executable, "sorting.py"]
        done = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        found.append({name for name in done.stdout.split() if "quicksort" in name})
    assert found[0] and found[1] and not found[0] & found[1]


def named():
    return FunctionIdentity.from_function(named).unique_name


@pytest.fixture
def plain(monkeypatch):
    """Numba as it is installed, and the patch as it is before its first use."""
    monkeypatch.setattr(FunctionIdentity, "_unique_ids", itertools.count(1))
    for remembered in (patch.apply, versions.warn):
        remembered.cache_clear()
    yield
    patch.apply.cache_clear()


def test_numba_itself_counts_in_every_process(plain):
    assert named() == "named$1"


@pytest.mark.parametrize("installed", ["0.68.1", "0.99.0"])
def test_numbers_are_drawn_and_an_unknown_version_is_named(plain, monkeypatch, recwarn, installed):
    monkeypatch.setattr(versions, "version", lambda library: installed)
    assert patch.apply() and patch.apply()
    numbers = {int(named().partition("$")[2]) for _ in range(100)}
    assert len(numbers) == 100 and min(numbers) > 1000
    said = [str(warning.message) for warning in recwarn]
    new = ["numba 0.99.0 was not tested (tested: 0.60.0 to 0.68.1): its functions get random numbers, as in the tested "
           "versions."]  # fmt: skip
    assert said == (new if installed == "0.99.0" else [])


@pytest.mark.parametrize("installed", ["0.68.1", "0.99.0"])
@pytest.mark.parametrize("change", ["no attribute", "another attribute", "no class"])
def test_another_way_of_numbering_is_noticed(plain, monkeypatch, installed, change):
    monkeypatch.setattr(versions, "version", lambda library: installed)
    if change == "no attribute":
        monkeypatch.delattr(FunctionIdentity, "_unique_ids")
    elif change == "another attribute":  # the old one stays, but nothing takes its numbers
        counted = itertools.count(1)

        def from_function(cls, function):
            identity = cls()
            identity.unique_id = next(counted)
            identity.unique_name = f"{function.__name__}${identity.unique_id}"
            return identity

        monkeypatch.setattr(FunctionIdentity, "from_function", classmethod(from_function))
    else:
        monkeypatch.delattr(sys.modules["numba.core.bytecode"], "FunctionIdentity")
    with pytest.warns(versions.PatchWarning, match="kernels are compiled in every process") as said:
        assert not patch.apply() and not patch.apply()
    assert len(said) == 1
