"""How the package's numerical kernels are compiled: by numba, kept on disk, without Python's global lock.

The first call after an installation compiles, which takes a while; it says so, once.  What is kept on disk belongs to
the text of all kernels: numba itself would miss an edit of a kernel that another module's kernels call.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import IndexDataCacheFile

# Numba tells functions with the same name and arguments apart, such as what sorts and what only finds the order, by
# numbers that every process counts from 1.  A kernel that one process compiles from parts that another one has kept
# would then hold two functions with the same full name, of which the linker takes either one.  So numbers are drawn.
FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(64), None)


def _digest_of_kernels() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(text)
    return digest.hexdigest()


STAMP = _digest_of_kernels()


class _Kept(IndexDataCacheFile):
    """What is kept of one kernel.

    Files are named after what they hold, and are complete before the index names them.  Numba numbers them instead and
    writes the index first, so that processes that compile at the same time may end with an index that gives one
    signature's code, or that of an older text, to another.
    """

    def save(self, key: Any, data: Any) -> None:
        overloads = self._load_index()
        base = self._index_name.removesuffix(".nbi")
        if not overloads:
            for path in Path(self._cache_path).glob(f"{base}.*.nbc"):
                path.unlink(missing_ok=True)  # of an older text; who needs it still will compile again
        name = f"{base}.{hashlib.sha256(repr((STAMP, key)).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        self._save_index({**overloads, key: name})


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """``@kernel`` or ``@kernel(option=...)``: compile a function as the package does, with numba's further options."""
    if function is None:
        return lambda function: kernel(function, **options)
    dispatcher = njit(cache=True, nogil=True, **options)(function)
    cache = dispatcher._cache
    cache._cache_file = _Kept(cache.cache_path, cache._impl.filename_base, STAMP)
    return dispatcher


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
