"""What a run asks of Slurm: how long jobs may be, what became of one, and to cancel those of a killed run."""

from __future__ import annotations

import atexit
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from joints.errors import JointsError

SUBMITTED = "slurm"  # the file with the name that all submissions of a run have
SECONDS_TO_LEAVE = 30.0
MINUTES = (24 * 60, 60, 1, 1 / 60)  # of days, hours, minutes and seconds


def longest_minutes(partition: str = "") -> int | None:
    """The limit of a partition, or of the default one; None if there is none, or no Slurm.

    Of several partitions, divided by commas, the longest limit counts: Slurm takes the one that a job fits into.
    """
    only = [f"--partition={partition}"] if partition else []
    lines = _answer("sinfo", "--noheader", "--format=%P %l", *only).splitlines()
    limits = [line.split() for line in lines if partition or line.partition(" ")[0].endswith("*")]
    found = [minutes(words[1]) for words in limits if len(words) == 2]
    known = [limit for limit in found if limit]
    return int(max(known)) if found and len(known) == len(found) else None


def limit_of(resources: Any) -> int | None:
    """The limit of the partition that Snakemake's default resources name, or of the default one."""
    named = resources is not None and "slurm_partition" in set(resources)
    return longest_minutes(str(resources.get("slurm_partition").raw).strip("\"'") if named else "")


def minutes(text: str) -> float | None:
    """A time as Slurm writes it; None for one that has no end.

    >>> minutes("2-12:00:00"), minutes("1:30:00"), minutes("2:00"), minutes("infinite")
    (3600.0, 90.0, 2.0, None)
    """
    if not re.fullmatch(r"(\d+-)?(\d+:)?\d+:\d+", text):
        return None
    days, _, clock = text.rpartition("-")
    numbers = [int(days or 0), *[0] * (2 - clock.count(":")), *map(int, clock.split(":"))]
    return float(sum(number * unit for number, unit in zip(numbers, MINUTES, strict=True)))


def fate(job: str, log: str | Path) -> str:
    """What a submission that ended had asked for and used, as far as Slurm tells; `log` is Slurm's own of it."""
    told: dict[str, str] = dict(re.findall(r"(\w+)=(\S+)", _answer("scontrol", "show", "job", "--oneliner", job)))
    memory = re.search(r"\bmem=([^,]+)", told.get("ReqTRES", told.get("TRES", "")))
    asked = [f"{memory[1]} of memory"] if memory else []
    asked += [f"{told['TimeLimit']} of time"] if "TimeLimit" in told else []
    used = [f"{most} of memory"] if (most := _most_memory(job, Path(log))) else []
    used += [f"{told['RunTime']} of time"] if "RunTime" in told else []
    if not asked:
        return ""
    return f"it asked for {' and '.join(asked)}" + (f" and used {' and '.join(used)}" if used else "")


def _most_memory(job: str, log: Path) -> str:
    """The memory that a submission used at most, from Slurm's accounting or from what it wrote when it killed it."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    found = [int(used[1]) for line in lines if (used := re.search(r"exceeded memory limit \((\d+) >", line))]
    if found:
        return f"{max(found) / 2**20:.0f}M"
    steps = _answer("sacct", "--noheader", "--parsable2", "--format=MaxRSS", f"--jobs={job}", "--units=M").split()
    accounted = [float(step.rstrip("M")) for step in steps if re.fullmatch(r"[\d.]+M", step)]
    return f"{max(accounted):.0f}M" if accounted else ""


def remember_submissions(folder: Path, scheduler: Any) -> None:
    """Leave the name of a run's submissions to Slurm, if there are any, where `cancel_submissions` finds it.

    A process that is not killed takes it away again once nothing is left in the queue, and cancels what is.
    """
    name = getattr(getattr(scheduler, "_executor", None), "run_uuid", None)
    if name:
        record = (folder / SUBMITTED).absolute()
        record.write_text(name)
        atexit.register(_leave, record, name)


def _leave(record: Path, name: str) -> None:
    """An interrupt may have come while a job was being submitted, so that Snakemake did not know its id yet."""
    try:
        left = _queued(name, record)
    except JointsError:
        return
    if left:
        subprocess.run(["scancel", *left], capture_output=True, check=False)
    else:
        record.unlink(missing_ok=True)


def cancel_submissions(folder: Path) -> None:
    """Cancel the jobs that a killed run has left in Slurm's queue, and wait until the last one is gone."""
    record = folder / SUBMITTED
    if not record.is_file():
        return
    name = record.read_text().strip()
    left = _queued(name, record)
    if left:
        # killed at once: Snakemake on a node would remove results that the new run has already seen
        for how in (["--signal=KILL", "--full"], []):
            subprocess.run(["scancel", *how, *left], capture_output=True, check=False)
        give_up = time.monotonic() + SECONDS_TO_LEAVE
        while _queued(name, record):
            if time.monotonic() > give_up:
                raise JointsError(f"Slurm does not cancel what a killed run has left: try `scancel --name={name}`")
            time.sleep(0.5)
        many = f"{len(left)} submission{'s' if len(left) > 1 else ''}"
        print(f"joints: cancelled {many} that a killed run had left", file=sys.stderr)
    record.unlink()


def _queued(name: str, record: Path) -> list[str]:
    """The ids of the submissions with a name that wait or run; JointsError if Slurm does not answer."""
    command = ["squeue", "--noheader", "--format=%A", f"--name={name}"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        raise JointsError(
            "a killed run may have left submissions in Slurm's queue, and squeue does not answer here: start where it "
            f"does, or delete {record} once `squeue --name={name}` lists nothing"
        ) from None


def _answer(*command: str) -> str:
    """What a command prints; nothing where it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
