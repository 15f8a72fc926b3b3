"""No lock of Snakemake's outlives its run.

Upstream: Snakemake locks the working directory by files that do not say who made them, and that a killed run leaves
behind.  The next run refuses to start until somebody calls `snakemake --unlock`; its message says that the lock was
"likely caused by a kill signal or a power loss" (see snakemake/snakemake#2919).

Seen: a run that is ended by SIGKILL leaves `.snakemake/locks/0.input.lock` and `0.output.lock`, and the next one stops.

Here the system's own lock on one more file ends with the process that holds it: whoever gets that one may remove the
others.  Locks in a database (`--persistence-backend db`) are left to Snakemake.

Tested with Snakemake 9.20.0 to 9.27.1.  With another version, or with files in the folder of locks that are not known,
nothing is removed, with a warning; `snakemake --unlock` is the way out.
"""

from __future__ import annotations

import fcntl
import re
from pathlib import Path
from typing import IO

from joints.patches.versions import Tested, warn

TESTED = Tested("snakemake", "9.20.0", "9.27.1")
LOCK = re.compile(r"\d+\.(input|output)\.lock")

_held: list[IO[str]] = []  # open until the process ends


def forget_killed_runs(folder: str | Path = ".snakemake") -> bool:
    """Remove what killed runs have left of Snakemake's locks in its `folder`; False if another run is at work."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    handle = (folder / "joints.lock").open("a")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.close()
        return not isinstance(error, BlockingIOError)  # a file system without locks cannot tell
    _held.append(handle)
    _remove(folder / "locks")
    return True


def _remove(locks: Path) -> None:
    doubt = TESTED.doubt()
    left = sorted(locks.iterdir()) if locks.is_dir() else []
    unknown = [path.name for path in left if not (LOCK.fullmatch(path.name) and path.is_file())]
    if not doubt and unknown:
        doubt = f"{locks} holds {unknown[0]}, which is not one of Snakemake's known locks"
    if doubt:
        warn(f"{doubt}: locks of killed runs are left; remove them by `snakemake --unlock`.")
        return
    for path in left:
        path.unlink(missing_ok=True)
