"""Long jobs in parts: what a killed job had finished is not recomputed.

A job of several repetitions keeps each finished one in a folder next to its output, under a key derived from everything
that the job depends on.  When all parts are there, they are joined into the output and the folder is removed.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from joints.runtime.checksums import forget_sums, is_as_written, sha256
from joints.runtime.files import write_text


def write_in_parts(
    outputs: Sequence[str | Path],
    parts: Iterable[Any],
    compute: Callable[[Any], Sequence[str]],
    depends_on: Any,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Write CSV files whose rows are computed part by part.

    Parameters
    ----------
    outputs : sequence of paths
    parts : iterable
        Names of the parts, such as repetitions.
    compute : function
        From a part to one CSV text per output, with a header.
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
    for part in parts:
        kept = [folder / key / f"{part}.{i}" for i in range(len(paths))]
        if not all(path.is_file() and is_as_written(path) is not False for path in kept):
            for path, text in zip(kept, compute(part), strict=True):
                write_text(path, text)
        for path, found in zip(kept, texts, strict=True):
            found.append(path.read_text(encoding="utf-8"))
    for path, found in zip(paths, texts, strict=True):
        header = found[0].partition("\n")[0]
        write_text(path, "\n".join([header, *(text.partition("\n")[2].rstrip("\n") for text in found)]) + "\n")
    shutil.rmtree(folder)
    forget_sums(folder)


def _key(depends_on: Any, inputs: Iterable[str | Path]) -> str:
    digest = hashlib.sha256(repr(depends_on).encode())
    for path in map(Path, inputs):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(sha256(file).encode())
    return digest.hexdigest()[:16]
