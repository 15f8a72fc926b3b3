"""Numba's numbers of functions are drawn, not counted.

Upstream: numba tells functions with the same name and argument types apart by numbers, which every process counts from
1.  Code on disk keeps its numbers.  A kernel that one process compiles from parts that another process has kept may
then hold two different functions with the same full name, and the linker takes either one (numba/numba#10486).

Seen: `np.sort` and `np.argsort` are built from functions with the same names and arguments.  Two processes that compile
a kernel with one of them, each with an empty cache, give these functions the same names.

Tested with numba 0.60.0 to 0.68.1.  With another version, numbers are drawn too, with a warning, if numba still takes
them from the same place; if it does not, `apply` warns and returns False, and kernels must not be kept on disk.
"""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

from joints.patches.versions import Tested, warn

TESTED = Tested("numba", "0.60.0", "0.68.1")


@cache
def apply() -> bool:
    """Let numba draw its numbers from now on; False, with a warning, if it no longer takes them where it did."""
    doubt = TESTED.doubt()
    if not _numbers_are_taken_from_the_class():
        warn(f"{doubt or 'numba has changed'} and counts functions differently: kernels are compiled in every process.")
        return False
    if doubt:
        warn(f"{doubt}: its functions get random numbers, as in the tested versions.")
    _identity()._unique_ids = iter(lambda: secrets.randbits(64), None)
    return True


def _identity() -> Any:
    from numba.core.bytecode import FunctionIdentity

    return FunctionIdentity


def _numbers_are_taken_from_the_class() -> bool:
    """Offer one number and see whether it is the one that a function gets."""
    offered = 2**64 - 1
    try:
        identity = _identity()
        counted = vars(identity)["_unique_ids"]
        identity._unique_ids = iter([offered])
        try:
            named = identity.from_function(_numbers_are_taken_from_the_class)
        finally:
            identity._unique_ids = counted
        return named.unique_id == offered and str(offered) in named.unique_name
    except (ImportError, AttributeError, KeyError, TypeError):
        return False
