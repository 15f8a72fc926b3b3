"""How the package's numerical kernels are compiled: by numba, kept on disk, without Python's global lock.

The first call after an installation compiles, which takes a while; it says so, once.  What is kept on disk belongs to
the text of all kernels.  Where the installed numba cannot be trusted to keep them (see `joints.patches.numba_numbering`
and `joints.patches.numba_cache`), nothing is kept and every process compiles.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event

from joints.patches import numba_cache, numba_numbering


def _digest_of_kernels() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(text)
    return digest.hexdigest()


STAMP = _digest_of_kernels()


def kernel(function: Callable | None = None, counted: bool | None = None, **options: Any) -> Any:
    """``@kernel`` or ``@kernel(option=...)``: compile a function as the package does, with numba's further options.

    A small kernel that takes records of many arrays would spend most of its time counting references to them.  One that
    neither allocates nor returns arrays, nor gets one from a kernel that it calls, may say ``counted=False``; a kernel
    that it calls then does so as well, unless that one says ``counted=True``.
    """
    if function is None:
        return lambda function: kernel(function, counted, **options)
    if counted is not None:
        options["_nrt"] = counted
    if numba_numbering.apply():
        dispatcher = njit(cache=True, nogil=True, **options)(function)
        if numba_cache.keep(dispatcher, STAMP):
            return dispatcher
    return njit(nogil=True, **options)(function)


class _Notice(event.Listener):
    """Tell the user what the wait is for when a kernel of ours is compiled and not loaded from disk."""

    given = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if not self.given and dispatcher.py_func.__module__.split(".")[0] == "joints":
            self.given = True
            when = "once after an installation" if dispatcher.stats.cache_path else "in every process with this numba"
            print(f"joints: compiling numerical code; this happens {when}", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())
