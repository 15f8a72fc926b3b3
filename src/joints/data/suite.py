"""A suite of OpenML as a configuration and a catalogue: ``python -m joints.data.suite 99 config/quick.yaml``.

All datasets of the suite are fetched and encoded by the type rule (see `joints.data.encode`), and each gets an entry in
a catalogue of its own, with what was found as its numbers.  A dataset that cannot be fetched, or that is not one of
classification, is left out with a sentence.  Downloads are kept, and the run that follows uses them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pandas.api.types import is_numeric_dtype

from joints.data import store
from joints.data.catalogue import DatasetEntry
from joints.data.encode import encode, numbers
from joints.data.fetch import fetch
from joints.data.sources import Settings
from joints.data.sources.openml import ask_client, list_suite
from joints.errors import JointsError
from joints.runtime.config import read_run, read_yaml
from joints.runtime.files import write_text

SCHEMA = "workflow/schemas/config.schema.yaml"
MOST_CLASSES = 100  # a target of numbers with more values is one of regression


def ids_of(suite: int, settings: Settings) -> list[int]:
    """The ids of the datasets of a suite."""
    arguments = {"id": suite, "server": settings.openml_server}
    with store.workspace(settings.folder) as folder:
        return ask_client(list_suite, arguments, folder, settings.timeout, settings.most_bytes)


def describe(id: int, settings: Settings) -> tuple[str, dict[str, Any]]:
    """The name of a dataset and its entry in the catalogue; JointsError if it is not one of classification."""
    sources = [{"openml": {"id": id}}]
    frame, record = fetch(str(id), sources, [], settings)
    if "target" not in record:
        raise JointsError(f"its download in {settings.folder} is from an older version of joints: delete it there")
    target = record["target"]
    if not target or target not in frame:
        raise JointsError("OpenML does not say which column is its class")
    if is_numeric_dtype(frame[target]) and frame[target].nunique() > MOST_CLASSES:
        raise JointsError(f"its target {target!r} is a number, not a class")
    empty = [name for name in frame if frame[name].isna().all()]
    drop = [name for name in frame if name != target and name in {*record.get("not_features", []), *empty}]
    entry = {"label": record["name"], "sources": sources, "target": target, **({"drop": drop} if drop else {})}
    found = numbers(encode(DatasetEntry(name=record["name"], **entry), [frame]))
    return record["name"], {
        **entry,
        "numbers": {key: found[key] for key in ("n", "categorical", "continuous", "classes")},
    }


def key_of(name: str, id: int, taken: Mapping[str, Any]) -> str:
    """The key of a dataset in a catalogue.

    >>> key_of("kr-vs-kp", 3, {}), key_of("1st-order", 9, {}), key_of("CMC", 23, {"cmc": None})
    ('kr_vs_kp', 'd_1st_order', 'cmc_23')
    """
    key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    key = key if re.match("[a-z]", key) else f"d_{key}"
    return f"{key}_{id}" if key in taken else key


def write_suite(suite: int, extends: str, settings: Settings, folder: str | Path = "config") -> Path:
    """Write the catalogue and the configuration of a suite; returns the configuration's file."""
    entries: dict[str, dict[str, Any]] = {}
    for id in ids_of(suite, settings):
        try:
            name, entry = describe(id, settings)
        except JointsError as error:
            print(f"joints: dataset {id} is left out: {str(error).rstrip('.')}.", file=sys.stderr)
        else:
            entries[key_of(name, id, entries)] = entry
    if not entries:
        raise JointsError(f"no dataset of the suite {suite} at {settings.openml_server} can be used")
    run = f"suite_{suite}"
    catalogue, configuration = Path(folder, f"{run}_datasets.yaml"), Path(folder, f"{run}.yaml")
    content: dict[str, Any] = {
        "extends": extends,
        "run": run,
        "catalogues": {"datasets": catalogue.as_posix()},
        "datasets": list(entries),
        "fetch": {"sources": ["openml"]},
        "protocol": {"exceptions": {}},
        "developed_on": [],
        **dict.fromkeys(("outliers", "ablation", "theory")),
    }
    for path, what in ((catalogue, entries), (configuration, content)):
        text = yaml.safe_dump(what, sort_keys=False, allow_unicode=True, width=120)
        write_text(path, f"# The suite {suite} of OpenML; written by `make suite SUITE={suite}`.\n\n{text}")
    return configuration


def main(arguments: Sequence[str]) -> str | None:
    try:
        if len(arguments) != 2:
            raise JointsError("give a suite and the configuration that it extends, as in `99 config/quick.yaml`")
        suite, extends = arguments
        if not suite.isdecimal():
            raise JointsError(f"a suite has a number, not {suite!r}: for OpenML-CC18 it is 99")
        path = write_suite(int(suite), extends, Settings.read(read_run([extends], read_yaml(SCHEMA))))
    except JointsError as error:
        return f"Error: {error}."
    print(f"{path} is ready; run it with `snakemake --cores all --configfile {path}`.")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
