"""Jobs in parts: what a job had finished, or an earlier job has computed, is not computed again.

A job keeps each finished part, such as a repetition of one model, in a folder next to the output, under a key derived
from everything that the part depends on.  When all parts are there, they are joined into the output.  They stay:
Snakemake removes the whole output of a job that starts again, for example because it has to score one more model.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from joints.runtime.checksums import is_as_written, sha256
from joints.runtime.files import csv_text, write_text

logger = logging.getLogger(__name__)


def for_all(write: Callable[..., None], tasks: Iterable[tuple], *outputs: Iterable[str]) -> None:
    """Call `write` with each task and its outputs; if one fails, the others go on, and its error is raised last."""
    errors = []
    for task, *paths in zip(tasks, *outputs, strict=True):
        try:
            write(*task, *paths)
        except Exception as error:
            logger.info("%s fails; the others go on", paths[0], exc_info=error)
            errors.append(error)
    if errors:
        raise errors[0]


def write_in_parts(
    outputs: Sequence[str | Path],
    compute: Callable[..., Any],
    parts: Mapping[Any, tuple],
    depends_on: Any,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Write CSV files whose rows are computed part by part.

    Parameters
    ----------
    outputs : sequence of paths
    compute : function
        Returns a table, or one for each output.
    parts : mapping
        From names of the parts, such as repetitions, to the arguments of `compute`.
    depends_on : object
        Its `repr` is part of the key; parts with another key are removed.
    inputs : paths
        Files or folders whose content is part of the key.
    """
    paths = [Path(path) for path in outputs]
    folder = paths[0].with_suffix(".parts")
    key = _key(depends_on, inputs)
    for old in folder.glob("*"):
        if old.name != key:
            shutil.rmtree(old)
    texts: list[list[str]] = [[] for _ in paths]
    for part, arguments in parts.items():
        kept = [folder / key / f"{part}.{i}" for i in range(len(paths))]
        if not all(path.is_file() and is_as_written(path) is not False for path in kept):
            found = compute(*arguments)
            tables = found if isinstance(found, tuple) else (found,)
            for path, table in zip(kept, tables, strict=True):
                write_text(path, csv_text(table))
        for path, found in zip(kept, texts, strict=True):
            found.append(path.read_text(encoding="utf-8"))
    for path, found in zip(paths, texts, strict=True):
        header = found[0].partition("\n")[0]
        write_text(path, "\n".join([header, *(text.partition("\n")[2].rstrip("\n") for text in found)]) + "\n")


def _key(depends_on: Any, inputs: Iterable[str | Path]) -> str:
    digest = hashlib.sha256(repr(depends_on).encode())
    for path in map(Path, inputs):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(_content(file, file.stat().st_mtime_ns).encode())
    return digest.hexdigest()[:16]


@functools.cache
def _content(file: Path, changed: int) -> str:
    return sha256(file)  # many outputs of a job have the same inputs
