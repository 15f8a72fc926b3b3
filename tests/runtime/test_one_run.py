"""One run of a name at a time, and what it does about killed ones."""

import subprocess
import sys
import time

import pytest

from joints.errors import JointsError
from joints.runtime import one_run
from joints.runtime.one_run import end_jobs, remember_locks, take_run

TAKE = "from joints.runtime.one_run import *; take_run({run!r}, Path('kept'))"
JOB = "from joints.runtime.one_run import *; register_job(Path('kept/quick'))"
STAY = "; print('in', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """This process is not a run: what it holds ends with the test."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "locks").mkdir()
    yield tmp_path
    while one_run._held:
        one_run._held.pop().close()


def process(code):
    started = subprocess.Popen([sys.executable, "-c", code + STAY], stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "in\n"
    return started


def take(run="quick"):
    take_run(run, one_run.Path("kept"))


def lock(here, run="quick", number=0):
    """A lock of Snakemake's, on a file of a run that has noted it."""
    path = here / "locks" / f"{number}.output.lock"
    path.write_text(f"results/{run}/it.csv\n")
    (here / "kept" / run).mkdir(parents=True, exist_ok=True)
    remember_locks(here / "kept" / run, [path])
    return path


def test_a_second_run_of_the_name_is_refused_and_another_name_is_not(here):
    with process(TAKE.format(run="quick")) as first:
        for i, run in enumerate(("quick", "paper")):
            lock(here, run, i)
        with pytest.raises(JointsError, match=rf"'quick' is already active in this folder \(process {first.pid} on"):
            take()
        take("paper")
        assert [path.name for path in (here / "locks").iterdir()] == ["0.output.lock"]  # of the live run
        first.kill()
    take()
    assert list((here / "locks").iterdir()) == []


def test_a_run_on_another_machine_keeps_its_locks(here):
    """There the system's lock may not be seen here."""
    take()
    one_run._held.pop().close()
    (here / "kept" / "quick" / "lock").write_text("process 7 on elsewhere\n")
    take()  # it had ended
    one_run._held.pop().close()
    (here / "kept" / "quick" / "lock").write_text("process 7 on elsewhere\n")
    lock(here)
    with pytest.raises(JointsError, match=r"started elsewhere \(process 7 on elsewhere\).*snakemake --unlock"):
        take()
    assert (here / "locks" / "0.output.lock").exists()


def test_a_lock_that_another_snakefile_has_made_stays(here):
    """On files of this run, and under the name of a lock that this run once had."""
    old = lock(here)
    (here / "locks" / "1.input.lock").write_text("results/quick/it.csv\n")
    old.rename(here / "elsewhere")
    old.write_text("results/quick/it.csv\n")
    take()
    assert len(list((here / "locks").iterdir())) == 2


def test_jobs_without_a_master_are_ended(here, capfd):
    job = process(JOB)
    take()
    assert job.wait(10) == -15 and list((here / "kept/quick/jobs").iterdir()) == []
    assert capfd.readouterr().err == "joints: ended 1 jobs that a killed run had left\n"


def test_a_job_that_does_not_end_is_killed_and_another_process_of_its_id_is_not(here, monkeypatch):
    monkeypatch.setattr(one_run, "SECONDS_TO_LEAVE", 0.2)
    stubborn = process("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + JOB)
    innocent = process("import time")
    end_jobs(here / "kept" / "quick")
    assert stubborn.wait(10) == -9
    (here / "kept/quick/jobs" / f"{one_run.socket.gethostname()}.{innocent.pid}").touch()
    end_jobs(here / "kept" / "quick")
    time.sleep(0.1)
    assert innocent.poll() is None
    innocent.kill()
    innocent.wait()
