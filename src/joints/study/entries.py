"""The catalogues of methods, mechanisms and metrics: what an entry says, and the object that it names.

`config/methods.yaml`, `config/mechanisms.yaml` and `config/metrics.yaml` are the catalogues; schemas of the same names
in `workflow/schemas` describe every key.  Everything specific to a method, a mechanism or a metric is in its
entry: no other code names one.  Entries are tuples, because Snakemake notices changes in tuples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from joints.errors import JointsError
from joints.interface import ONLY_ANSWER
from joints.runtime.config import suggestion


class MethodEntry(NamedTuple):
    """One method; the schema says what each field means."""

    name: str
    label: str
    cls: str = ""
    parameters: Mapping[str, Any] = {}
    of: str = ""
    answer: str = ONLY_ANSWER
    family: str = "other"
    colour: str = "green"
    paper: Mapping[str, Any] = {}
    seconds: float = 1.0
    shown: bool = True
    requires: Sequence[str] = ()

    @property
    def absent(self) -> list[str]:
        """What the method requires and this machine lacks: modules, and files that environment variables name."""
        return [name for name in self.requires if not _is_here(name)]

    @property
    def described(self) -> MethodEntry:
        """The part that tables and figures depend on, without how the method is computed and what that costs."""
        return self._replace(cls="", parameters={}, seconds=1.0, requires=())

    @property
    def model(self) -> str:
        """The name of the entry whose fitted model answers for this method."""
        return self.of or self.name

    @property
    def columns(self) -> tuple[str, str]:
        """The columns of its mean and interval: those that the paper's LaTeX reads, or else named after the method."""
        mean, interval = self.paper.get("columns", (self.name, f"{self.name}_ci"))
        return mean, interval

    @property
    def in_table1(self) -> bool:
        """Whether it has a column in Table 1: the paper's methods as in the paper, and all others."""
        return self.shown and bool(self.paper.get("table1", not self.paper))

    @property
    def in_figure2(self) -> bool:
        """Whether it has a panel in Figure 2, likewise."""
        return self.shown and bool(self.paper.get("figure2", not self.paper))


class MechanismEntry(NamedTuple):
    """One mechanism by which values go missing; the schema says what each field means."""

    name: str
    label: str
    cls: str
    parameters: Mapping[str, Any] = {}
    paper: bool = False
    training: bool = False  # whether values are missing in training too

    @property
    def in_training(self) -> MechanismEntry:
        """The same mechanism for training rows as well, at the same rate: a study of its own."""
        return self._replace(
            name=f"{self.name}_training", label=f"{self.label}, in training too", paper=False, training=True
        )


class MetricEntry(NamedTuple):
    """One metric; the schema says what each field means."""

    name: str
    label: str
    function: str
    unit: str = ""
    better: str = "higher"
    decimals: int = 2
    paper: bool = False

    @property
    def scale(self) -> int:
        """The factor for scores in tables and figures; scores themselves are fractions."""
        return 100 if self.unit == "%" else 1

    @property
    def sign(self) -> int:
        """1 where higher is better, else -1: a difference times this is a gain."""
        return 1 if self.better == "higher" else -1

    @property
    def title(self) -> str:
        """The label with the unit.

        >>> MetricEntry("accuracy", "Accuracy", "", unit="%").title
        'Accuracy (%)'
        """
        return f"{self.label} ({self.unit})" if self.unit else self.label


class View(NamedTuple):
    """What a set of tables and figures is about: one mechanism and one metric."""

    mechanism: MechanismEntry
    metric: MetricEntry
    folder: str  # the prefix of its file names: empty for the first view of a run

    @property
    def keys(self) -> dict[str, str]:
        """What selects its rows in a long table."""
        return {"mechanism": self.mechanism.name, "metric": self.metric.name}


Entry = TypeVar("Entry", MethodEntry, MechanismEntry, MetricEntry)


def read_entries(kind: type[Entry], catalogue: Mapping[str, Mapping[str, Any]]) -> dict[str, Entry]:
    """All entries of a validated catalogue."""
    return {
        name: kind(name=name, **{"cls" if key == "class" else key: value for key, value in content.items()})
        for name, content in catalogue.items()
    }


def check_methods(found: Mapping[str, MethodEntry], source: str) -> None:
    """Raise a JointsError unless every method has a model; the entries come from the file `source`."""
    for entry in found.values():
        if bool(entry.cls) == bool(entry.of):
            raise JointsError(f"{source}: {entry.name!r} must have either 'class' or 'of'")
        if entry.of and not (entry.of in found and found[entry.of].cls):
            raise JointsError(
                f"{source}: {entry.name!r} is 'of' {entry.of!r}, "
                f"which is not an entry with a class{suggestion(entry.of, found)}"
            )


def check_named(names: Iterable[str], found: Mapping[str, Any], key: str, config_file: str, source: str) -> None:
    """Raise a JointsError unless every name under `key` of a configuration is in the catalogue `source`."""
    for name in names:
        if name not in found:
            raise JointsError(f"{config_file}: {key!r} has {name!r}, which is not in {source}{suggestion(name, found)}")


def _is_here(name: str) -> bool:
    if name.isupper():
        return Path(os.environ.get(name, "")).is_file()
    return find_spec(name) is not None


def find(full_name: str) -> Any:
    """The class or function with this full name."""
    module, _, name = full_name.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise JointsError(f"{full_name} cannot be imported: {error}") from error


def make(cls: str, parameters: Mapping[str, Any]) -> Any:
    """An object of the class with this full name."""
    try:
        return find(cls)(**parameters)
    except (TypeError, ValueError) as error:
        raise JointsError(f"{cls} cannot be made with the parameters {dict(parameters)}: {error}") from error


def make_all(entries: Iterable[MechanismEntry]) -> dict[str, Any]:
    """The objects of some entries, by name."""
    return {entry.name: make(entry.cls, entry.parameters) for entry in entries}


def find_all(functions: Mapping[str, str]) -> dict[str, Any]:
    """The functions with these full names, by their own names."""
    return {name: find(full_name) for name, full_name in functions.items()}
