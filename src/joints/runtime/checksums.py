"""Checksums of what jobs write, so that a file that was cut or altered afterwards is never read as a result.

The workflow names a folder in the environment; there each file that a job writes leaves its SHA-256, under the file's
own path.  The jobs that read the file compare.  Files without a checksum, such as a user's own, are taken as they are.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from joints.errors import JointsError

RUN = "JOINTS_RUN"  # an environment variable: the folder where a run keeps what it must remember


def sha256(path: str | Path) -> str:
    """The SHA-256 checksum of a file, in hexadecimal."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def record_sum(path: Path, temporary: Path) -> None:
    """Note the checksum of a file that is about to be renamed to `path`."""
    place = _place(path)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(sha256(temporary))


def check_sums(paths: Iterable[str | Path]) -> None:
    """Raise a JointsError for the first of some files, or files in folders, that is not what was recorded."""
    for path in map(Path, paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if is_as_written(file) is False:
                raise damaged(file, "its checksum is not the one it was written with")


def is_as_written(path: Path) -> bool | None:
    """Whether a file has the checksum that was recorded; None if there is no record."""
    place = _place(path)
    if place is None or not place.is_file() or not path.is_file():
        return None
    return place.read_text() == sha256(path)


def damaged(path: str | Path, reason: object) -> JointsError:
    """The error for a file of the workflow that is not what the workflow wrote."""
    return JointsError(f"{path} is damaged ({reason}): delete it and run the workflow again")


def _place(path: Path) -> Path | None:
    folder = os.environ.get(RUN)
    here = Path.cwd()
    path = here / path
    return Path(folder) / "sums" / path.relative_to(here) if folder and path.is_relative_to(here) else None
