"""Compiled kernels: kept on disk, never stale, announced once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import joints
from joints.numerics.compiled import _Kept

PROGRAM = """
import numpy as np
from joints.forest.grow import draw_feature
pool = np.arange(1000)
print([int(draw_feature(np.uint64(1), 0, i, pool)) for i in range(5)])
"""


def test_an_edit_of_a_kernel_reaches_the_kernels_that_call_it(tmp_path):
    """`draw_feature` calls `mix` of another module; numba alone would go on with what it has on disk."""
    shutil.copytree(Path(joints.__file__).parent, tmp_path / "joints", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout, done.stderr

    first, notice = run()
    assert notice.count("compiling") == 1
    again, notice = run()
    assert again == first
    assert notice == ""
    module = tmp_path / "joints" / "numerics" / "random.py"
    module.write_text(module.read_text().replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"))
    changed, notice = run()
    assert changed != first
    assert notice.count("compiling") == 1


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


def test_processes_that_compile_at_the_same_time_never_mix_up_their_code(tmp_path, monkeypatch):
    """The second one looked at the index before the first one wrote it."""
    first, second = (_Kept(str(tmp_path), "kernel", "text") for _ in range(2))
    first.save("int64", "code for int64")
    with monkeypatch.context() as patch:
        patch.setattr(second, "_load_index", dict)
        second.save("float64", "code for float64")
    assert first.load("float64") == "code for float64"
    assert first.load("int64") in (None, "code for int64")  # None: it is compiled again
    first.save("int64", "code for int64")
    assert second.load("int64") == "code for int64" and second.load("float64") == "code for float64"


def test_the_index_names_nothing_that_is_not_there_yet(tmp_path, monkeypatch):
    older, newer = (_Kept(str(tmp_path), "kernel", text) for text in ("old", "new"))
    older.save("int64", "old code")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(newer, "_save_data", killed)
        with pytest.raises(KeyboardInterrupt):
            newer.save("int64", "new code")
    assert newer.load("int64") is None
    newer.save("int64", "new code")
    assert newer.load("int64") == "new code" and len(list(tmp_path.glob("*.nbc"))) == 1
