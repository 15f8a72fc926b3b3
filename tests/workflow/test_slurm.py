"""The smallest run on a Slurm of one node: the same bytes as here, and faults that only a cluster has."""

import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from one_node_slurm import NoSlurm, Slurm
from working_copy import Project, copy_project

pytestmark = pytest.mark.xdist_group("experiment")  # one after the other: each run takes all cores
PROFILE = ["--profile", "profiles/slurm", "--slurm-no-account"]
CHANGING = ("logs/", "seconds", "provenance", "report.html", ".parts/", "raw/breast.json")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    pytest.importorskip("snakemake_executor_plugin_slurm")
    try:
        cluster = Slurm(tmp_path_factory.mktemp("slurm"))
    except NoSlurm as reason:
        pytest.skip(f"no Slurm here: {reason}")
    yield cluster
    cluster.close()


def lasting(project):
    """All files that must be byte-identical: everything except times, dates and logs."""
    return {name: content for name, content in project.files().items() if not any(part in name for part in CHANGING)}


def on_slurm(project, *arguments):
    """The command of `make PROFILE=profiles/slurm`."""
    command = project.command("--quiet", "all", "--logger", "joints", configfile="config/smoke.yaml")
    command[command.index("--cores") : command.index("--cores") + 2] = PROFILE
    project.write()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([*command, *arguments], cwd=project.folder, start_new_session=True, **pipes)


def finish(process, seconds=1200):
    try:
        return process.communicate(timeout=seconds)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def here(request, tmp_path_factory):
    """The run on this machine."""
    root = request.config.rootpath
    project = Project(copy_project(root, tmp_path_factory.mktemp("here") / "project"), {"run": "smoke"}, {})
    project.succeed("--quiet", "all", configfile="config/smoke.yaml")
    return project


@pytest.fixture
def there(here, tmp_path):
    """A copy of the project before its run."""
    folder = copy_project(here.folder, tmp_path / "project")
    return Project(folder, {"run": "smoke"}, {})


def test_the_same_bytes_as_on_this_machine(slurm, here, there):
    process = on_slurm(there)
    out = finish(process)
    assert process.returncode == 0, out
    assert "Error" not in out and slurm.jobs() == []
    mine, theirs = lasting(there), lasting(here)
    assert set(mine) == set(theirs) and len(mine) > 40
    assert [name for name in mine if mine[name] != theirs[name]] == []


def wait_for_jobs(slurm, process, but=""):
    """The ids of the jobs that wait or run, once there are any but one."""
    end = time.monotonic() + 120
    while set(slurm.jobs()) <= {but} and process.poll() is None and time.monotonic() < end:
        time.sleep(0.2)
    found = set(slurm.jobs()) - {but}
    assert found, finish(process)
    return found


def test_killed_and_cancelled_runs_complete(slurm, here, there):
    """A run is interrupted, which cancels its job.

    The main process of another is killed; the next one cancels what it left, and loses a job itself.

    The last one completes, although a job runs out of memory, which is tried again with more.
    """
    shutil.copytree(here.folder / "results", there.folder / "results")
    shutil.copytree(here.folder / "figures", there.folder / "figures")
    shutil.copytree(here.folder / ".snakemake", there.folder / ".snakemake")
    for path in there.results.glob("means/*.csv"):
        path.unlink()
    process = on_slurm(there)
    (interrupted,) = wait_for_jobs(slurm, process)
    os.killpg(process.pid, signal.SIGINT)
    finish(process, 120)
    assert process.returncode and slurm.jobs() == []  # the job is cancelled
    process = on_slurm(there)
    (left,) = wait_for_jobs(slurm, process, but=interrupted)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    process = on_slurm(there, "--retries", "0")
    (job,) = wait_for_jobs(slurm, process, but=left)
    subprocess.run(["scancel", job], check=True)
    out = finish(process, 300)
    assert process.returncode and "joints: cancelled 1 submission that a killed run had left" in out, out
    assert (
        "Error: the batch tables_1 (compare_methods, draw_study, render_agreement and 3 more) ended without" in out
    ), out
    assert "SLURM status is: 'CANCELLED'" in out and len(out.splitlines()) < 10, out
    process = on_slurm(there, "--default-resources", "mem_mb=100 * attempt ** 4", "runtime=3")
    out = finish(process)
    assert process.returncode == 0, out
    asked, used = re.findall(r"it asked for (\d+)M of memory and 00:10:00 of time and used (\d+)M", out)[0]
    assert int(asked) < int(used) and " 2 failed" not in out.splitlines()[-1], out
    assert lasting(there) == lasting(here)
