"""Files that appear complete or not at all.

Everything the workflow writes goes to a temporary file first, which is renamed when it is complete, so that a killed
job never leaves behind a half-written result that looks like a good one.
"""

from __future__ import annotations

import contextlib
import glob
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joints.runtime.checksums import damaged, record_sum

if TYPE_CHECKING:
    import pandas as pd


def from_here(path: str | Path) -> str:
    """A path for messages: relative to the working directory if it lies inside it."""
    path, here = Path(path), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path that becomes `path` if the block succeeds, and is removed if it does not."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        record_sum(path, temporary)
        temporary.replace(path)
    except OSError as error:
        # the error of a full disk does not name the file, others name the temporary one
        if error.filename is None or str(error.filename) == str(temporary):
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):  # usually it is gone, and where it cannot be removed there is none
            temporary.unlink()


def remove_abandoned(path: Path) -> None:
    """Remove the temporary files of `path` whose process was killed before it could remove them itself."""
    for temporary in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        process = temporary.name.split(".")[-2]
        try:
            os.kill(int(process), 0)  # signal 0 only asks whether the process is there
        except (ProcessLookupError, ValueError):
            temporary.unlink(missing_ok=True)
        except OSError:  # it belongs to somebody else
            pass


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: str | Path, content: Any) -> None:
    """Write a JSON file atomically, indented for reading."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_csv(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as a CSV file atomically, numbers in full precision."""
    write_text(path, csv_text(table))


def csv_text(table: pd.DataFrame) -> str:
    """A table as the text of a CSV file."""
    return table.to_csv(index=False, lineterminator="\n")


def read_csv(path: str | Path) -> pd.DataFrame:
    """Read what `write_csv` wrote; a JointsError names a file that is not complete."""
    import pandas as pd

    try:
        text = Path(path).read_text(encoding="utf-8")
        if not text.endswith("\n"):
            raise damaged(path, "its last line is not complete" if text else "it is empty")
        return pd.read_csv(io.StringIO(text))
    except (OSError, ValueError) as error:
        raise damaged(path, error) from error
