"""How the package's numerical kernels are compiled: by numba, kept on disk, without Python's global lock.

The first call after an installation compiles, which takes a while; it says so, once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit
from numba.core import event


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """``@kernel`` or ``@kernel(option=...)``: compile a function as the package does, with numba's further options."""
    compiler = partial(njit, cache=True, nogil=True, **options)
    return compiler if function is None else compiler(function)


class _Notice(event.Listener):
    """Tell the user what the wait is for when a kernel of ours is compiled and not loaded from disk."""

    given = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.given and module.split(".")[0] == "joints":
            self.given = True
            print("joints: compiling numerical code; this happens once after an installation", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())
