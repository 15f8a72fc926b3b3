"""`scipy.stats` is imported at its first use.

Upstream: scikit-learn's lowest modules import `scipy.stats` for one function.  Its developers have deferred the import
(scikit-learn/scikit-learn#34265), but scikit-learn 1.9.1 does not have that yet.

Seen: a job of the workflow is a process of its own, and importing scikit-learn takes longer than many jobs do.  With
`python -X importtime`, more than a quarter of that time is spent on `scipy.stats`.

Tested with SciPy 1.17.0 to 1.18.1.  With another version `scipy.stats` is imported as usual, which is only slower; the
log says so.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from joints.patches.versions import Tested

logger = logging.getLogger(__name__)

TESTED = Tested("scipy", "1.17.0", "1.18.1")
MODULE = "scipy.stats"


class _Later(ModuleType):
    """Stands in the list of imported modules until it is asked for anything."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_later() -> None:
    """Let the next imports of `scipy.stats` cost nothing; its first use imports it."""
    doubt = TESTED.doubt()
    if doubt:
        logger.info("%s: scipy.stats is imported at once.", doubt)
        return
    sys.modules.setdefault(MODULE, _Later(MODULE))
