"""Snakemake's own report, by a call of Snakemake from inside a job."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from joints.errors import JointsError
from joints.runtime.files import replacing

logger = logging.getLogger(__name__)


def write_report(path: str | Path, configuration: Sequence[str]) -> None:
    """Write the report of a finished run; `configuration` has the arguments of Snakemake that choose the run."""
    path = Path(path)
    # a folder of its own, because Snakemake goes by the file's extension and leaves half of a report behind
    with (
        replacing(path) as temporary,
        tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder,
    ):
        made = Path(folder) / "report.html"
        command = [sys.executable, "-m", "snakemake", "artefacts", "--report", str(made), "--nolock", "--cores", "1"]
        done = subprocess.run([*command, *configuration], capture_output=True, text=True, check=False)
        if done.returncode:
            logger.info("%s", done.stdout + done.stderr)
            raise JointsError(f"Snakemake could not make {path}: {last_error(done.stdout + done.stderr)}")
        made.replace(temporary)


def last_error(output: str) -> str:
    """The line of Snakemake's output that says most about a failure.

    >>> last_error("Building DAG\\nOSError: [Errno 28] No space left on device\\nShutting down\\n")
    'OSError: [Errno 28] No space left on device'
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["it gave no reason"]
    return next((line for line in reversed(lines) if re.match(r"[\w.]*(Error|Exception)\b", line)), lines[-1])
