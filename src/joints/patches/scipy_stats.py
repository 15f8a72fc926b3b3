"""`scipy.stats` is imported at its first use.

A job of the workflow is a process of its own, and what scikit-learn imports takes longer than many a job.  Most of that
is `scipy.stats`, of which scikit-learn needs one function and most jobs need nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands in the list of imported modules until it is asked for anything."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_later(name: str) -> None:
    """Let the next imports of a module cost nothing; its first use imports it."""
    sys.modules.setdefault(name, _Later(name))
