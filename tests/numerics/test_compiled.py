"""Compiled kernels: kept on disk, never stale, announced once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import joints

PROGRAM = """
import numpy as np
from joints.forest.grow import draw_feature
pool = np.arange(1000)
print([int(draw_feature(np.uint64(1), 0, i, pool)) for i in range(5)])
"""


def test_an_edit_of_a_kernel_reaches_the_kernels_that_call_it(tmp_path):
    """`draw_feature` calls `mix` of another module; numba alone would go on with what it has on disk."""
    shutil.copytree(Path(joints.__file__).parent, tmp_path / "joints", ignore=shutil.ignore_patterns("__pycache__"))
    python_path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": python_path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

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


UNTRUSTED = {
    "numbering": "import numba.core.bytecode as b; b.FunctionIdentity.renamed = b.FunctionIdentity._unique_ids; "
    "del b.FunctionIdentity._unique_ids; b.FunctionIdentity.from_function = classmethod(lambda *_: None)",
    "cache": "import numba.core.caching as c; c.IndexDataCacheFile._write_index = c.IndexDataCacheFile._save_index; "
    "del c.IndexDataCacheFile._save_index",
}


@pytest.mark.parametrize("kind", UNTRUSTED)
def test_without_the_internals_that_are_patched_nothing_is_kept(tmp_path, kind):
    """Kernels are then compiled in every process, with one warning; nothing stops."""
    program = tmp_path / "program.py"
    broken = UNTRUSTED[kind]
    body = "def double(x):\n    return 2 * x\n"
    if kind == "numbering":  # what is left of numba cannot compile: look at the dispatcher only
        use = "print(double.py_func(4), double.stats.cache_path, type(double._cache).__name__)"
    else:
        use = "print(double(4), double.stats.cache_path, type(double._cache).__name__)"
    program.write_text(f"{broken}\nfrom joints.numerics.compiled import kernel\n@kernel\n{body}\n@kernel\n"
                       f"{body.replace('double', 'twice')}\n{use}\n")  # fmt: skip
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "8 None NullCache\n"
    assert done.stderr.count("PatchWarning") == 1 and "kernels are compiled in every process" in done.stderr
    assert not list(tmp_path.rglob("*.nb?"))


def test_the_notice_says_when_nothing_is_kept(tmp_path):
    program = f"{UNTRUSTED['cache']}\n{PROGRAM}"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.count("compiling numerical code; this happens in every process") == 1


def run_program(environment, program=PROGRAM):
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)


EVERYTHING = """
import numpy as np
from sklearn.datasets import load_iris
from joints import ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier
from joints.impute import KNNImputer, MissForestImputer
X, y = load_iris(return_X_y=True)
X, y = X[::2], y[::2]
holes = X.copy()
holes[:60, 1] = np.nan
forest = ForestClassifier(2, random_state=0).fit(X, y)
lspn = GenerativeForestClassifier.from_forest(forest, leaves="lspn", min_rows=5)
answers = [
    forest.predict_proba(holes), forest.predict_proba(holes, "surrogate"),
    lspn.predict_proba(holes), lspn.sample(3, random_state=0)[0],
    LearnSPNClassifier(random_state=0).fit(X, y).predict_proba(holes), KNNImputer().fit(X).transform(holes[::9]),
    MissForestImputer(2, random_state=0).fit(X).transform(holes[::9]),
]
print([np.round(answer, 9).tolist() for answer in answers])
"""


def test_without_the_compiler_kernels_are_python():
    plain = run_program({**os.environ, "NUMBA_DISABLE_JIT": "1"}, EVERYTHING)
    assert plain.stdout == run_program(os.environ, EVERYTHING).stdout


NOWHERE = """
from numba.core.caching import _SourceFileBackedLocatorMixin as mixin, _CacheLocator as locator
ensure = locator.ensure_cache_path
def refused(self):
    if not self.get_cache_path().startswith({allowed!r}):
        raise PermissionError("read-only")
    ensure(self)
locator.ensure_cache_path = refused
"""  # a user without any writable folder; file modes do not stop a superuser


def test_without_a_writable_folder_code_is_kept_in_a_temporary_one(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path), "HOME": "/nonexistent"}
    program = NOWHERE.format(allowed=str(tmp_path)) + PROGRAM
    first, again = (run_program(environment, program) for _ in range(2))
    assert first.stderr.count("\n") == 1 and f"into {tmp_path / 'joints-'}" in first.stderr
    assert again.stdout == first.stdout and again.stderr == ""
    (tmp_path / f"joints-{os.getuid()}").chmod(0o777)  # others could put code there
    memory = run_program(environment, program)
    assert memory.stdout == first.stdout
    assert memory.stderr == (
        "joints: compiling numerical code; this happens in every process, since no folder is writable\n"
    )


def test_one_job_of_a_run_says_that_it_compiles(tmp_path):
    marker = tmp_path / "marker"
    said = [
        run_program({**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / name), "JOINTS_COMPILING": str(marker)}).stderr
        for name in "ab"
    ]
    assert [text.count("compiling") for text in said] == [1, 0]
