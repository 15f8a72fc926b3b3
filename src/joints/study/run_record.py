"""What a run has made under its name, so that a run with another configuration does not leave stale tables behind.

A run lists the tables and figures that its configuration makes.  A later run of the same name removes those of the list
that it does not make itself.  Scores, forests and data are kept: they took long, and may be needed again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from joints.errors import JointsError
from joints.runtime.config import read_run, read_yaml
from joints.runtime.files import write_json
from joints.runtime.one_run import take_run
from joints.study.plan import SCHEMAS, Plan

REFERENCE = Path("config/reference.yaml")
PLACES = ("fetch", "openml", "url")  # where data comes from has no effect on results


def check_reference(
    plan: Plan, files: Sequence[str | Path], added: Mapping[str, Any], schemas: str | Path = SCHEMAS
) -> None:
    """Raise a JointsError if another configuration would overwrite the committed reference without saying so."""
    if plan.run != "reference" or added.get("run") == "reference":
        return
    if REFERENCE.is_file():
        committed = read_run([REFERENCE], read_yaml(Path(schemas) / "config.schema.yaml"))
        own, theirs = ({key: c[key] for key in c if key not in PLACES} for c in (plan.config, committed))
        if own == theirs:
            return
    raise JointsError(
        f"{files[-1]}: the run 'reference' belongs to {REFERENCE}, whose results are part of the repository: choose "
        "another name, or add `--config run=reference` to overwrite them"
    )


def begin_run(plan: Plan, record: Path, stamp: str, digests: Mapping[str, str]) -> None:
    """What happens when a run is about to start; not in a dry run, and not in jobs.

    `record` is where the `stamp` and the `digests` of the code are kept for jobs.
    """
    try:
        take_run(plan.run)
        remove_stale(plan)
        write_json(record, {"stamp": stamp, "digests": digests})
    except (JointsError, OSError) as error:
        sys.exit(f"Error: {error}.")


def remove_stale(plan: Plan) -> list[Path]:
    """Remove the tables and figures of an earlier configuration that this one does not make, and say which."""
    path = plan.files.results / "artefacts.json"
    made = {file.as_posix() for file in plan.artefacts}
    stale = [Path(name) for name in sorted(set(_listed(path)) - made) if _within(Path(name), plan)]
    removed = [file for file in stale if file.is_file()]
    for file in removed:
        file.unlink()
    write_json(path, sorted(made))
    if removed:
        names = ", ".join(map(str, removed[:3])) + (", ..." if len(removed) > 3 else "")
        print(
            f"joints: removed {len(removed)} files that the run {plan.run!r} no longer makes ({names}); "
            "scores and forests are kept",
            file=sys.stderr,
        )
    return removed


def _listed(path: Path) -> list[str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _within(file: Path, plan: Plan) -> bool:
    """Whether a listed file lies in the folders of the run, whoever wrote the list."""
    return any(file.resolve().is_relative_to(folder.resolve()) for folder in (plan.files.results, plan.files.figures))
