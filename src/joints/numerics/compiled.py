"""How the package's numerical kernels are compiled: by numba, kept on disk, without Python's global lock.

The first call after an installation compiles, which takes a while; it says so, once.  What is kept on disk belongs to
the text of all kernels.  Where no folder that numba knows is writable, it is kept in a temporary folder of the user's.
Where the installed numba cannot be trusted to keep them (see `joints.patches.numba_numbering` and
`joints.patches.numba_cache`), nothing is kept and every process compiles.  With ``NUMBA_DISABLE_JIT=1`` kernels are
ordinary Python functions.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core import config, event

from joints.patches import numba_cache, numba_numbering


def _digest_of_kernels() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(text)
    return digest.hexdigest()


MARKER = "JOINTS_COMPILING"  # an environment variable
STAMP = _digest_of_kernels()


def kernel(function: Callable | None = None, counted: bool | None = None, **options: Any) -> Any:
    """``@kernel`` or ``@kernel(option=...)``: compile a function as the package does, with numba's further options.

    A small kernel that takes records of many arrays would spend most of its time counting references to them.  One that
    neither allocates nor returns arrays, nor gets one from a kernel that it calls, may say ``counted=False``; a kernel
    that it calls then does so as well, unless that one says ``counted=True``.
    """
    if function is None:
        return lambda function: kernel(function, counted, **options)
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)  # random numbers wrap around, as compiled ones do
    if counted is not None:
        options["_nrt"] = counted
    if numba_numbering.apply():
        dispatcher = _with_cache(function, options)
        if dispatcher is not None and numba_cache.keep(dispatcher, STAMP):
            return dispatcher
    return njit(nogil=True, **options)(function)


def _with_cache(function: Callable, options: dict[str, Any]) -> Any:
    """A kernel with numba's cache, or None if no folder is writable."""
    compiled = njit(nogil=True, cache=True, **options)
    try:
        return compiled(function)
    except RuntimeError:  # numba found no folder
        folder = temporary_cache()
    if folder is None:
        return None
    usual, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        return compiled(function)
    finally:
        config.CACHE_DIR = usual


@functools.cache
def temporary_cache() -> Path | None:
    """A temporary folder that nobody but this user can write to, since code is loaded from it; None without one."""
    try:
        user = os.getuid() if hasattr(os, "getuid") else None
        folder = Path(tempfile.gettempdir()) / f"joints-{'' if user is None else user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and (user is None or (found.st_uid == user and not found.st_mode & 0o022))
    return folder if own and os.access(folder, os.W_OK) else None


class _Notice(event.Listener):
    """Tell the user what the wait is for when a kernel of ours is compiled and not loaded from disk."""

    given = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if not self.given and dispatcher.py_func.__module__.split(".")[0] == "joints":
            self.given = True
            if _first_to_say_it():
                print(f"joints: compiling numerical code; this happens {_when(dispatcher)}", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


def _when(dispatcher: Any) -> str:
    folder = temporary_cache.cache_info().currsize and temporary_cache()
    if dispatcher.stats.cache_path and folder and Path(dispatcher.stats.cache_path).is_relative_to(folder):
        return f"once, into {folder}, since no other folder is writable (NUMBA_CACHE_DIR may name one)"
    if dispatcher.stats.cache_path:
        return "once after an installation"
    return "in every process" + (", since no folder is writable" if folder is None else " with this numba")


def _first_to_say_it() -> bool:
    """Whether no other job of the run has said it: the workflow names a file that the first one makes."""
    marker = os.environ.get(MARKER)
    if not marker:
        return True
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    except OSError:
        pass
    return True


event.register("numba:compile", _Notice())
