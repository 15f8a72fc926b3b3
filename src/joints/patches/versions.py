"""Whether an installed library is one that a patch was tested with, and how a patch says that it is not."""

from __future__ import annotations

import re
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple


class PatchWarning(UserWarning):
    """A library has a version that its patch was not tested with."""


class Tested(NamedTuple):
    """A library and the releases that a patch of it was tested with: all from `first` to `last`."""

    library: str
    first: str
    last: str

    def doubt(self) -> str | None:
        """Why the installed version may differ, as the beginning of a sentence; None for a tested version.

        >>> Tested("no-such-library", "1.0", "1.2").doubt()
        'no-such-library is of an unknown version (tested: 1.0 to 1.2)'
        """
        tested = f"tested: {self.first}" + (f" to {self.last}" if self.last != self.first else "")
        try:
            installed = version(self.library)
        except PackageNotFoundError:
            return f"{self.library} is of an unknown version ({tested})"
        if installed in self:
            return None
        return f"{self.library} {installed} was not tested ({tested})"

    def __contains__(self, installed: object) -> bool:
        # pre-releases and other people's builds are not what was tested
        plain = re.fullmatch(r"\d+(\.\d+)*", str(installed)) is not None
        return plain and _release(self.first) <= _release(str(installed)) <= _release(self.last)


@cache
def warn(sentence: str) -> None:
    """Warn with one sentence, once per process."""
    warnings.warn(sentence, PatchWarning, stacklevel=3)


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, where 1.0 is 1.0.0.

    >>> _release("0.68") == _release("0.68.0") < _release("0.68.1") < _release("0.100")
    True
    """
    numbers = [int(number) for number in version.split(".")]
    return tuple(numbers + [0] * (4 - len(numbers)))
