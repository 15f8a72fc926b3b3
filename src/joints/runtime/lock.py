"""No lock outlives its run.

Snakemake locks the working directory by files, which a run that is killed leaves behind.  The system's own lock on one
more file ends with the process that holds it: whoever gets that one may remove the others.
"""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

_held: list[IO[str]] = []  # open until the process ends


def forget_killed_runs(folder: str | Path = ".snakemake") -> bool:
    """Remove what killed runs have left of Snakemake's locks in its `folder`; False if another run is at work."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    handle = (folder / "joints.runtime.lock").open("a")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.close()
        return not isinstance(error, BlockingIOError)  # a file system without locks cannot tell
    _held.append(handle)
    for path in (folder / "locks").glob("*.lock"):
        path.unlink(missing_ok=True)
    return True
