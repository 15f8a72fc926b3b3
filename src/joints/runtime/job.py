"""What every script of the workflow does first: open its log, and check that nothing has changed under the run.

A run is planned with the code and the files that are there when it starts.  A job stops if its code has been edited
since then, since its result would pass for one of the planned code, or if a file that it reads is no longer what a job
of the workflow wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joints.errors import JointsError
from joints.runtime import log
from joints.runtime.checksums import RUN, check_sums
from joints.runtime.fingerprint import PACKAGE, Code, script_digest, source_stamp
from joints.runtime.one_run import register_job

RECORD = "code.json"


def begin(snakemake: Any) -> None:
    """Begin a job; `snakemake` is the object that Snakemake gives to scripts."""
    log.start(snakemake.log[0])
    folder = os.environ.get(RUN)
    if folder:
        register_job(Path(folder))
    for code in _codes(list(snakemake.params)):
        check_code(code, Path(snakemake.scriptdir), Path(folder or ".") / RECORD)
    check_sums(snakemake.input)


def _codes(params: Any) -> Iterator[Code]:
    """The fingerprints among the parameters of a job."""
    if isinstance(params, Code):
        yield params
    elif isinstance(params, list | tuple):
        for inner in params:
            yield from _codes(inner)


def check_code(code: Code, scripts: Path, record: Path) -> None:
    """Raise a JointsError unless a script and its imports are still what the run was planned with."""
    own = all(module.split(".")[0] == PACKAGE for module in code.modules)
    if own and read_record(record).get("stamp") == source_stamp(scripts):
        return  # no file has changed at all
    if script_digest(scripts / f"{code.script}.py", *code.modules) != code.digest:
        raise JointsError(f"the code of {code.script} has been edited since the run was started: start it again")


def read_record(path: Path) -> dict[str, Any]:
    """What the main process recorded about the code of a run: a stamp of all files, and the digests of rules."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
