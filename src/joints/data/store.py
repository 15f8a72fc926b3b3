"""The folder of downloads, shared by all runs: nothing is fetched twice.

A download is a folder with the table and a record of its origin and checksum.  It is prepared under a private name and
renamed when complete, and its checksum is verified whenever it is read, so that a partial download is never mistaken
for a complete one, even if several processes fetch at the same time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from joints.data.raw import FORMAT, read_raw, write_raw
from joints.runtime.checksums import sha256
from joints.runtime.files import write_json
from joints.runtime.one_run import open_lock

logger = logging.getLogger(__name__)

TABLE, RECORD = "table.parquet", "source.json"


def place(folder: Path, kind: str, identity: Mapping[str, Any]) -> Path:
    """Where the download with this identity is kept."""
    named = json.dumps({**identity, "format": FORMAT}, sort_keys=True)
    key = hashlib.sha256(named.encode()).hexdigest()[:16]
    return folder / kind / key


def kept_table(path: Path) -> tuple[pd.DataFrame, dict[str, Any]] | None:
    """The table and the record of a download, or None if there is none or it is damaged."""
    try:
        record = json.loads((path / RECORD).read_text(encoding="utf-8"))
        if sha256(path / TABLE) == record["table_sha256"]:
            return read_raw(path / TABLE), record
        reason = "its checksum is wrong"
    except FileNotFoundError as error:
        if not path.exists():
            return None
        reason = f"{Path(error.filename).name} is missing"
    except (OSError, ValueError, KeyError) as error:
        reason = f"it cannot be read ({error})"
    logger.warning("The download in %s is damaged (%s) and is not used.", path, reason)
    return None


def keep_table(path: Path, frame: pd.DataFrame, record: Mapping[str, Any]) -> dict[str, Any]:
    """Store a table and its record as the download `path`; returns the record with the table's checksum added."""
    with workspace(path.parent) as folder:
        new = folder / path.name
        new.mkdir()
        write_raw(frame, new / TABLE)
        complete = {**record, "table_sha256": sha256(new / TABLE)}
        write_json(new / RECORD, complete)
        if path.exists():  # damaged, or another process stored the same data first
            path.rename(folder / "old")
        new.rename(path)
    return complete


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a download, so that only one process fetches it.

    The lock belongs to the process: if that is killed, the lock is released.  On a file system without locks, two
    processes may do the same work, but nothing breaks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_lock(path.parent / f".{path.name}.lock") as handle:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def workspace(folder: Path) -> Iterator[Path]:
    """A private folder inside `folder`, removed afterwards; leftovers of killed processes are removed as well."""
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    private = Path(tempfile.mkdtemp(prefix=f".incoming-{os.getpid()}-", dir=folder))
    try:
        with (private / ".alive").open("w") as alive:
            with contextlib.suppress(OSError):
                fcntl.flock(alive, fcntl.LOCK_EX)
            yield private
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _sweep(folder: Path) -> None:
    for left in folder.glob(".incoming-*"):
        with contextlib.suppress(OSError), (left / ".alive").open() as alive:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its owner is alive
            shutil.rmtree(left, ignore_errors=True)
