"""The catalogue of datasets: each entry has its sources, its types and the paper's five numbers.

`config/datasets.yaml` is the catalogue and `workflow/schemas/datasets.schema.yaml` describes its keys.  No other
code or file is specific to a particular dataset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from joints.errors import JointsError
from joints.runtime.config import suggestion

REST = "rest"  # in place of a list of columns: all that the other list does not name


class DatasetEntry(NamedTuple):
    """One dataset; the schema says what each field means.  A tuple, because Snakemake notices changes in tuples."""

    name: str
    label: str
    target: str
    title: str = ""
    citation: str = ""
    sources: Sequence[Mapping[str, Any]] = ()
    parts: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] | Literal["rest"] = ()
    continuous: Sequence[str] | Literal["rest"] = ()
    values: Mapping[str, Mapping[Any, Any]] = {}
    numbers: Mapping[str, Any] = {}

    def named_columns(self) -> list[str]:
        """The columns that the entry names, which any table of this dataset must have."""
        named = [self.target, *self.drop, *self.values, *listed(self.categorical), *listed(self.continuous)]
        return list(dict.fromkeys(named))

    def kinds(self) -> list[str]:
        """The kinds of source it has, in the order in which they are tried."""
        return [kind for source in self.sources for kind in source]


def listed(columns: Sequence[str] | Literal["rest"]) -> Sequence[str]:
    """The columns that a list names; none if it is "rest"."""
    return () if columns == REST else columns


def read_datasets(catalogue: Mapping[str, Mapping[str, Any]], source: str) -> dict[str, DatasetEntry]:
    """All entries of a validated catalogue, read from the file `source`."""
    found = {name: DatasetEntry(name=name, **{"label": name, **content}) for name, content in catalogue.items()}
    for entry in found.values():
        if bool(entry.sources) == bool(entry.parts):
            raise JointsError(f"{source}: {entry.name!r} must have either 'sources' or 'parts'")
        if entry.categorical == REST and entry.continuous == REST:
            raise JointsError(f"{source}: {entry.name!r} cannot have 'rest' as both categorical and continuous")
        both = set(listed(entry.categorical)) & set(listed(entry.continuous))
        if both:
            raise JointsError(f"{source}: {entry.name!r} lists {min(both)!r} as both categorical and continuous")
        if entry.target in entry.drop:
            raise JointsError(f"{source}: {entry.name!r} drops {entry.target!r}, which is its target")
        for part in entry.parts:
            if part not in found or found[part].parts:
                raise JointsError(
                    f"{source}: {entry.name!r} has the part {part!r}, "
                    f"which is not an entry with sources{suggestion(part, found)}"
                )
    return found


def check_datasets(
    names: Iterable[str],
    kinds: Sequence[str],
    found: Mapping[str, DatasetEntry],
    config_file: str,
    catalogue_file: str,
    key: str = "datasets",
) -> None:
    """Raise a JointsError unless every dataset of a run is in the catalogue and has a source that the run allows.

    `key` is the key of the configuration that names these datasets, for messages.
    """
    for name in names:
        if name not in found:
            raise JointsError(
                f"{config_file}: {key!r} has {name!r}, which is not in {catalogue_file}{suggestion(name, found)}"
            )
        for part in found[name].parts or [name]:
            has = found[part].kinds()
            if not set(has) & set(kinds):
                raise JointsError(
                    f"{config_file}: 'fetch.sources' allows {', '.join(kinds)}, "
                    f"but {part!r} only comes from {', '.join(has)}"
                )
