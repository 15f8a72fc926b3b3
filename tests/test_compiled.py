"""Compiled kernels: kept on disk, never stale, announced once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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
    module = tmp_path / "joints" / "random.py"
    module.write_text(module.read_text().replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"))
    changed, notice = run()
    assert changed != first
    assert notice.count("compiling") == 1
