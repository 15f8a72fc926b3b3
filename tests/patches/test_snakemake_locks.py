"""Locks of Snakemake's: those of killed runs, and those of others."""

import os
import signal
import subprocess
import sys
import time

import pytest

from joints.patches import snakemake_locks, versions

SNAKEFILE = """
rule make:
    output: config.get("name", "made") + "/it.txt"
    shell: "test -e quick || sleep 60; touch {output}"
"""
PATCHED = """
from joints.patches.snakemake_locks import ask_before_locking
ask_before_locking(lambda: print("asked"), lambda locks: print("made", *(lock.name for lock in locks)))
"""


def snakemake(folder, *arguments):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes)


def wait_for(path, process, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert path.exists()


def test_snakemake_itself_refuses_to_go_on_after_a_killed_run(tmp_path):
    """And it goes on when the locks about its files are removed."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    locks = tmp_path / ".snakemake" / "locks"
    with snakemake(tmp_path) as run:
        wait_for(locks / "0.output.lock", run)
        os.killpg(run.pid, signal.SIGKILL)
    (tmp_path / "quick").touch()
    with snakemake(tmp_path) as refused:
        assert "kill signal" in refused.communicate()[0] and refused.returncode != 0
    (locks / "0.output.lock").unlink()
    with snakemake(tmp_path) as done:
        assert done.communicate() and done.returncode == 0 and (tmp_path / "made/it.txt").exists()


def test_a_run_that_ends_leaves_the_locks_of_others(tmp_path):
    (tmp_path / "Snakefile").write_text(PATCHED + SNAKEFILE)
    (tmp_path / "quick").touch()
    other = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    other.parent.mkdir(parents=True)
    other.write_text("other/it.txt\n")
    with snakemake(tmp_path) as run:
        out = run.communicate()[0]
        assert "asked\nmade 1.output.lock\n" in out and run.returncode == 0, out
    assert [path.name for path in other.parent.iterdir()] == ["0.output.lock"]
    with snakemake(tmp_path, "--dry-run", "--forceall") as dry:
        assert "asked" not in dry.communicate()[0]
    with snakemake(tmp_path, "--unlock") as unlocked:
        assert unlocked.communicate() and not other.exists()


@pytest.mark.parametrize("installed", ["9.19.0", "10.0.0", None])
def test_an_unknown_version_is_left_alone(monkeypatch, installed):
    def version(library):
        if installed is None:
            raise versions.PackageNotFoundError(library)
        return installed

    monkeypatch.setattr(versions, "version", version)
    versions.warn.cache_clear()
    with pytest.warns(versions.PatchWarning, match=r"locks of killed runs are left.*snakemake --unlock") as said:
        assert not snakemake_locks.ask_before_locking(lambda: None, lambda locks: None)
    assert len(said) == 1
