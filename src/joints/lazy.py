"""Public names that are imported on first use, so that `import joints` costs next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_of(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a package whose public names live in other modules; `home` maps names to modules."""

    def find(name: str) -> Any:
        if name in home:
            try:
                return getattr(import_module(home[name]), name)
            except AttributeError as error:  # `from joints import name` would say only that there is no such name
                raise ImportError(f"{home[name]} cannot be imported: {error}") from error
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
