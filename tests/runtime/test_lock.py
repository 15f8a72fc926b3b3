"""Locks of killed runs."""

import subprocess
import sys

from joints.runtime.lock import forget_killed_runs

PROGRAM = (
    "import sys; from joints.runtime.lock import forget_killed_runs; print(forget_killed_runs(sys.argv[1]), flush=True)"
)


def test_a_killed_run_leaves_no_lock(tmp_path):
    folder = tmp_path / ".snakemake"
    left = folder / "locks" / "0.output.lock"
    left.parent.mkdir(parents=True)
    left.write_text("results/table1.csv")
    command = [sys.executable, "-c", PROGRAM + "; import time; time.sleep(60)", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "True\n" and not left.exists()
        left.write_text("results/table1.csv")
        assert not forget_killed_runs(folder) and left.exists()  # it is at work
        run.kill()
        run.wait()
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder)], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n" and not left.exists()
