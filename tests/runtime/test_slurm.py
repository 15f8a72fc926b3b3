"""What a run asks of Slurm, with a queue of files."""

import os
from types import SimpleNamespace

import pytest

from joints.errors import JointsError
from joints.runtime import slurm
from joints.runtime.slurm import cancel_submissions, fate, longest_minutes, remember_submissions


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path


def command(here, name, script):
    path = here / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_submissions_of_a_killed_run_are_cancelled(here, capsys):
    """A queue of two files; those of other names stay."""
    command(here, "squeue", """case "$*" in *--name=mine*) ls queue;; esac""")
    command(here, "scancel", "cd queue && rm -f 7 8")
    (here / "queue").mkdir()
    for job in ("7", "8"):
        (here / "queue" / job).touch()
    for name in ("another", "mine"):
        remember_submissions(here, SimpleNamespace(_executor=SimpleNamespace(run_uuid=name)))
        cancel_submissions(here)
        assert len(list((here / "queue").iterdir())) == (2 if name == "another" else 0)
    assert capsys.readouterr().err == "joints: cancelled 2 submissions that a killed run had left\n"


def test_a_queue_that_does_not_answer_is_not_an_empty_one(here, monkeypatch):
    command(here, "squeue", "exit 1")
    remember_submissions(here, SimpleNamespace(_executor=SimpleNamespace(run_uuid="mine")))
    for mode in (0o644, 0o755):  # as if there were none, and one that fails
        (here / "bin" / "squeue").chmod(mode)
        monkeypatch.setenv("PATH", str(here / "bin"))
        with pytest.raises(JointsError, match=r"squeue does not answer here: start where it does, or delete .*slurm"):
            cancel_submissions(here)
    assert (here / slurm.SUBMITTED).exists()


def test_a_run_on_this_machine_has_no_submissions(here):
    remember_submissions(here, SimpleNamespace(_executor=object()))
    cancel_submissions(here)
    assert not (here / slurm.SUBMITTED).exists()


@pytest.mark.parametrize(("left", "kept"), [("", False), ("7", True), ("unknown", True)])
def test_an_interrupted_run_cancels_what_it_had_just_submitted(here, left, kept):
    """The record stays for the next start to wait until it is gone, or where the queue does not answer."""
    command(here, "squeue", "exit 1" if left == "unknown" else f"echo {left}")
    command(here, "scancel", "echo $* > cancelled")
    remember_submissions(here, SimpleNamespace(_executor=SimpleNamespace(run_uuid="mine")))
    slurm._leave(here / slurm.SUBMITTED, "mine")
    assert (here / slurm.SUBMITTED).exists() == kept
    assert (here / "cancelled").exists() == (left == "7")


@pytest.mark.parametrize(
    ("lines", "partition", "limit"),
    [
        ("long 2-00:00:00\nshort* 4:00:00", "", 240),
        ("long 2-00:00:00", "long", 2880),
        ("a 30:00\nb 1:30:00", "a,b", 90),
        ("a 30:00\nb infinite", "a,b", None),
        ("all* infinite", "", None),
        ("", "", None),
        ("odd* n/a", "", None),
    ],
)
def test_the_limit_of_a_partition(here, lines, partition, limit):
    command(here, "sinfo", f"printf '{lines}\n'")
    assert longest_minutes(partition) == limit
    command(here, "sinfo", "exit 1")
    assert longest_minutes(partition) is None


def test_what_a_submission_asked_for_and_used(here):
    log = here / "7.log"
    log.write_text("slurmstepd: error: StepId=7.batch exceeded memory limit (615464960 > 209715200), being killed\n")
    command(here, "scontrol", "echo JobId=7 RunTime=00:00:09 TimeLimit=00:20:00 TRES=cpu=1,mem=200M,n=1")
    command(here, "sacct", "printf '\n198.51M\n302M\n'")
    asked = "it asked for 200M of memory and 00:20:00 of time and used"
    assert fate("7", log) == f"{asked} 587M of memory and 00:00:09 of time"
    log.unlink()
    assert fate("7", log) == f"{asked} 302M of memory and 00:00:09 of time"
    command(here, "sacct", "exit 1")
    assert fate("7", log) == f"{asked} 00:00:09 of time"
    command(here, "scontrol", "exit 1")
    assert fate("7", log) == ""
