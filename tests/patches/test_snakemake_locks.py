"""Locks of killed runs."""

import os
import signal
import subprocess
import sys
import time

import pytest

from joints.patches import snakemake_locks, versions
from joints.patches.snakemake_locks import forget_killed_runs

PROGRAM = (
    "import sys; from joints.patches.snakemake_locks import forget_killed_runs; "
    "print(forget_killed_runs(sys.argv[1]), flush=True)"
)


@pytest.fixture(autouse=True)
def released():
    """This process is not a run of Snakemake's: what it holds ends with the test."""
    yield
    while snakemake_locks._held:
        snakemake_locks._held.pop().close()


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


SNAKEFILE = """
rule make:
    output: "made.txt"
    shell: "test -e quick || sleep 60; touch {output}"
"""


def test_snakemake_itself_refuses_to_go_on_after_a_killed_run(tmp_path):
    """And it goes on when the locks are forgotten."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    settings = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    locks = tmp_path / ".snakemake" / "locks"
    with subprocess.Popen(command, start_new_session=True, **settings) as run:
        end = time.monotonic() + 60
        while not (locks / "0.output.lock").exists() and run.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGKILL)
    (tmp_path / "quick").touch()
    refused = subprocess.run(command, check=False, **settings)
    assert refused.returncode != 0 and "kill signal" in refused.stdout and list(locks.iterdir())
    assert forget_killed_runs(tmp_path / ".snakemake") and not list(locks.iterdir())
    done = subprocess.run(command, check=False, **settings)
    assert done.returncode == 0 and (tmp_path / "made.txt").exists(), done.stdout


@pytest.mark.parametrize("installed", ["9.19.0", "10.0.0", None])
def test_an_unknown_version_keeps_its_locks(tmp_path, monkeypatch, installed):
    def version(library):
        if installed is None:
            raise versions.PackageNotFoundError(library)
        return installed

    monkeypatch.setattr(versions, "version", version)
    versions.warn.cache_clear()
    left = tmp_path / "locks" / "0.output.lock"
    left.parent.mkdir()
    left.touch()
    with pytest.warns(versions.PatchWarning, match=r"locks of killed runs are left.*snakemake --unlock") as said:
        assert forget_killed_runs(tmp_path)
    assert len(said) == 1 and left.exists()


@pytest.mark.parametrize("name", ["0.output.lock.json", "output.lock", "locks.db", "1.input.lock/owner"])
def test_another_layout_keeps_all_of_its_locks(tmp_path, name):
    versions.warn.cache_clear()
    known, other = tmp_path / "locks" / "0.output.lock", tmp_path / "locks" / name
    other.parent.mkdir(parents=True)
    for path in (known, other):
        path.touch()
    with pytest.warns(versions.PatchWarning, match=r"locks of killed runs are left.*snakemake --unlock"):
        assert forget_killed_runs(tmp_path)
    assert known.exists() and other.exists()
