"""A check for options that are not parameters of an estimator: those declare theirs in `_parameter_constraints`."""

from __future__ import annotations

from typing import Any


def check_option(name: str, value: Any, options: tuple[str, ...]) -> None:
    """Refuse a value that is none of the options."""
    if value not in options:
        raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(repr, options))}.")
