"""The methods of the study as objects behind `joints.interface.Method`, and the catalogue that names them.

`config/methods.yaml` is the catalogue and `workflow/schemas/methods.schema.yaml` describes its keys.  An entry names a
class and its parameters; one with `of` instead takes another answer of the same fitted model.  Each class is in a
module of its own, so that an edit of one method makes no other method's results stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from joints.errors import JointsError
from joints.interface import Method
from joints.runtime.config import suggestion


@dataclass(frozen=True)
class Entry:
    """One method of the catalogue; the schema says what each field means."""

    name: str
    label: str
    cls: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    of: str = ""
    answer: str = ""
    column: str = ""
    interval: str = ""
    seconds: float = 1.0
    shown: bool = True

    @classmethod
    def read(cls, name: str, content: Mapping[str, Any]) -> Entry:
        """An entry of the catalogue, as read from YAML and already validated."""
        renamed = {"cls" if key == "class" else key: value for key, value in content.items()}
        return cls(name=name, **renamed)

    @property
    def model(self) -> str:
        """The name of the entry whose fitted model answers for this method."""
        return self.of or self.name

    @property
    def module(self) -> str:
        return self.cls.rpartition(".")[0]


def entries(catalogue: Mapping[str, Mapping[str, Any]], source: str) -> dict[str, Entry]:
    """All entries of a validated catalogue, read from the file `source`."""
    found = {name: Entry.read(name, content) for name, content in catalogue.items()}
    for entry in found.values():
        if bool(entry.cls) == bool(entry.of):
            raise JointsError(f"{source}: {entry.name!r} must have either 'class' or 'of'")
        if entry.of and not (entry.of in found and found[entry.of].cls):
            raise JointsError(
                f"{source}: {entry.name!r} is 'of' {entry.of!r}, "
                f"which is not an entry with a class{suggestion(entry.of, found)}"
            )
    return found


def check_methods(names: Iterable[str], found: Mapping[str, Entry], config_file: str, catalogue_file: str) -> None:
    """Raise a JointsError unless every method of a run is in the catalogue."""
    for name in names:
        if name not in found:
            raise JointsError(
                f"{config_file}: 'methods' has {name!r}, which is not in {catalogue_file}{suggestion(name, found)}"
            )


def answers_of(model: str, found: Mapping[str, Entry]) -> dict[str, str]:
    """Method -> name of its answer, for all methods of the catalogue that share a model."""
    return {entry.name: entry.answer for entry in found.values() if entry.model == model}


def make(cls: str, parameters: Mapping[str, Any]) -> Method:
    """An object of the class with this full name."""
    module, _, name = cls.rpartition(".")
    try:
        return getattr(import_module(module), name)(**parameters)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise JointsError(f"the method {cls} cannot be made with parameters {dict(parameters)}: {error}") from error
