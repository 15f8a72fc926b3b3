"""Numba's cache on disk, safe with many processes and with edits in other modules.

Upstream: numba numbers the files with compiled code and writes the index before the code.  Processes that compile at
the same time may end with an index that gives one signature's code, or code of an older text, to another signature.  A
related race, between the two files of a universal function, is numba/numba#10128.  Also, numba looks only at a kernel's
own file, and so misses edits of kernels that it calls in other modules (numba/numba#1833).

Seen: in `IndexDataCacheFile.save`, by letting a second process save between the two writes of a first: the first one's
code is then loaded for the second one's signature.

Also seen: an index holds the types of arguments, so it cannot be read once a record among them has another name; numba
then fails instead of compiling again.

Here files are named after what they hold, are complete before the index names them, and belong to a stamp that the
caller gives, such as a digest of all kernels.

Tested with numba 0.60.0 to 0.68.1.  With another version the cache is replaced too, with a warning, if the classes and
methods are still the expected ones; if they are not, `keep` warns and returns False, and the kernel must be compiled
without a cache, which is correct but slower.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from functools import cache
from pathlib import Path
from typing import Any

from joints.patches.versions import Tested, warn

TESTED = Tested("numba", "0.60.0", "0.68.1")

try:
    from numba.core.caching import IndexDataCacheFile
except ImportError:
    IndexDataCacheFile = object

METHODS = {
    "__init__": ["self", "cache_path", "filename_base", "source_stamp"],
    "save": ["self", "key", "data"],
    "load": ["self", "key"],
    "_load_index": ["self"],
    "_save_index": ["self", "overloads"],
    "_save_data": ["self", "name", "data"],
}
ATTRIBUTES = {"_cache_path", "_index_name", "_source_stamp", "_version"}


def keep(dispatcher: Any, stamp: str) -> bool:
    """Give a function that was made with `cache=True` this cache; False, with a warning, if that is not possible."""
    doubt = _doubt()
    if not _is_as_expected(dispatcher):
        warn(f"{doubt or 'numba has changed'} and caches in another way: kernels are compiled in every process.")
        return False
    if doubt:
        warn(f"{doubt}: its cache on disk is replaced, as in the tested versions.")
    theirs = dispatcher._cache
    theirs._cache_file = KeptCode(theirs.cache_path, theirs._impl.filename_base, stamp)
    return True


class KeptCode(IndexDataCacheFile):
    """The files of one kernel: an index, and one file per signature."""

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            return {}  # of an older text, whose records may have had other names

    def save(self, key: Any, data: Any) -> None:
        overloads = self._load_index()
        base = self._index_name.removesuffix(".nbi")
        if not overloads:
            for path in Path(self._cache_path).glob(f"{base}.*.nbc"):
                path.unlink(missing_ok=True)  # of an older text; any process still using it will compile again
        content = repr((self._version, self._source_stamp, key))
        name = f"{base}.{hashlib.sha256(content.encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        self._save_index({**overloads, key: name})


@cache
def _doubt() -> str | None:
    return TESTED.doubt()  # asked for every kernel, and reading metadata takes time


def _is_as_expected(dispatcher: Any) -> bool:
    try:
        theirs = dispatcher._cache
        file, _, _ = theirs._cache_file, theirs.cache_path, theirs._impl.filename_base
    except AttributeError:
        return False
    return type(file) is IndexDataCacheFile and vars(file).keys() >= ATTRIBUTES and _methods_are_as_expected()


@cache
def _methods_are_as_expected() -> bool:
    try:
        found = {name: [*inspect.signature(vars(IndexDataCacheFile)[name]).parameters] for name in METHODS}
    except (KeyError, TypeError, ValueError):
        return False
    return found == METHODS
