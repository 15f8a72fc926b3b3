"""One run of a name at a time in a folder, whatever has happened to earlier ones.

A run holds the system's lock on a file of its own, which ends with the process.  Whoever holds it may clean up after a
killed run of the same name: end the jobs that go on without their master, here or in Slurm's queue, and remove its
locks.  Runs of other names write to other folders, and go on beside it.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from joints.errors import JointsError
from joints.runtime.slurm import cancel_submissions

LOCKS = "locks"  # the file with the locks that Snakemake has made for a run
KEPT = Path(".snakemake") / "joints"  # what the runs in a folder must remember, in a folder per run
LEAST_MEMORY = 1_000_000_000  # bytes
SECONDS_TO_LEAVE = 30.0  # then a job that was asked to end is killed

_held: list[IO[str]] = []  # open until the process ends


def check_machine(base: str | Path) -> None:
    """Raise a JointsError where no run can work: in a path with a space, or with too little memory."""
    if len(f"{base} {Path.cwd()}".split()) > 2:
        raise JointsError(f"a path with a space cannot be used ({base}): move the folder")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= limit < LEAST_MEMORY:
        raise JointsError(
            f"processes may have {limit // 1_000_000} MB of memory, and jobs need 1,000 MB or more: raise the limit "
            "(ulimit -v)"
        )


def notice_of_compiling(folder: Path = Path(".snakemake")) -> dict[str, str]:
    """The environment in which the first job that has to compile makes a file, and says so, and no other."""
    marker = folder.absolute() / "joints.compiling"
    with suppress(OSError):  # a folder that cannot be written to is named when the run starts
        marker.unlink(missing_ok=True)
    return {"JOINTS_COMPILING": str(marker)}


def take_run(run: str, kept: Path = KEPT) -> None:
    """Become the one process that works on a run; JointsError if there is another.

    A lock that another host holds may not be seen where locks are local to a host; then Snakemake's own tell.
    """
    folder = kept / run
    folder.mkdir(parents=True, exist_ok=True)
    handle = open_lock(folder / "lock")
    handle.seek(0)
    owner = handle.read().strip()
    host = socket.gethostname()
    left = _locks_left(folder)
    if not _lock(handle):
        raise JointsError(f"the run {run!r} is already active in this folder ({owner}): wait until it ends")
    if left and owner and owner.rpartition(" on ")[2] != host:
        raise JointsError(
            f"the run {run!r} was started elsewhere ({owner}) and may still be active: end it there, or run "
            "`snakemake --unlock` if it no longer exists"
        )
    _held.append(handle)
    handle.truncate(0)
    handle.write(f"process {os.getpid()} on {host}\n")
    handle.flush()
    cancel_submissions(folder)
    end_jobs(folder)
    for path in left:
        path.unlink(missing_ok=True)


def remember_locks(folder: Path, locks: Sequence[Path]) -> None:
    """Note which locks of Snakemake's are those of this run: the next one removes them if this one is killed."""
    (folder / LOCKS).write_text("".join(f"{_identity(path)} {path.absolute()}\n" for path in locks))


def _locks_left(folder: Path) -> list[Path]:
    """The locks that an earlier run has noted and left; not those of the same names that somebody else has made."""
    record = folder / LOCKS
    noted = [line.split(" ", 1) for line in record.read_text().splitlines()] if record.is_file() else []
    return [Path(path) for identity, path in noted if identity == _identity(Path(path))]


def _identity(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "gone"
    return f"{found.st_ino}.{found.st_mtime_ns}"


def register_job(folder: Path) -> None:
    """Leave the id of this process where `end_jobs` finds it for as long as it lives."""
    (folder / "jobs").mkdir(parents=True, exist_ok=True)
    handle = open_lock(folder / "jobs" / f"{socket.gethostname()}.{os.getpid()}")
    if _lock(handle):
        _held.append(handle)


def end_jobs(folder: Path) -> None:
    """End the jobs that a killed run has left on this machine: their results would be discarded."""
    ours = f"{socket.gethostname()}."
    left = [path for path in (folder / "jobs").glob("*") if path.name.startswith(ours)]
    ended = [path for path in left if not _end(path, int(path.name.rpartition(".")[2]))]
    for path in left:
        path.unlink(missing_ok=True)
    if ended:
        print(f"joints: ended {len(ended)} jobs that a killed run had left", file=sys.stderr)


def _end(path: Path, process: int) -> bool:
    """Whether the job that locks a file was gone; otherwise end it."""
    with open_lock(path) as handle:
        if _lock(handle):
            return True
        give_up = time.monotonic() + SECONDS_TO_LEAVE
        try:
            os.kill(process, signal.SIGTERM)
            while not _lock(handle):
                if time.monotonic() > give_up:
                    os.kill(process, signal.SIGKILL)
                time.sleep(0.1)
        except ProcessLookupError:
            pass
    return False


def open_lock(path: Path) -> IO[str]:
    """Open a file to lock it, keeping its content; JointsError for a symbolic link, whose target is not ours."""
    if path.is_symlink():
        raise JointsError(f"{path} is a symbolic link, which is not followed: remove it")
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666), "a+")


def _lock(handle: IO[str]) -> bool:
    """Take the lock of a file unless another process has it; where the file system has no locks, nobody else has."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
