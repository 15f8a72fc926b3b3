"""Calls with a hard timeout: a function of this package runs in its own process, which is killed when time is up.

The openml client waits for ever on a server that hangs, and has no option to change that.  Arguments and results are
passed as JSON: ``call("module:function", {...}, seconds)``.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from joints.data.sources.base import SourceError, SourceTimeout


def call(
    function: str,
    arguments: Mapping[str, Any],
    seconds: float,
    environment: Mapping[str, str] | None = None,
    most_bytes: int | None = None,
) -> Any:
    """Run ``module:function(**arguments)`` in a child process; SourceError if it raises one or takes too long."""
    source = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    status, out, err = run_limited(
        [sys.executable, "-m", __name__, function, str(seconds)],
        seconds,
        stdin=json.dumps(dict(arguments)),
        environment={"PYTHONPATH": path, **(environment or {})},
        most_bytes=most_bytes,
    )
    answer = out.rpartition("\n")[2]
    if status or not answer:
        lines = err.strip().splitlines() or [f"it ended with status {status}"]
        raise SourceError(f"the download stopped unexpectedly: {lines[-1]}")
    reply = json.loads(answer)
    if "error" in reply:
        raise SourceError(reply["error"], retry=reply["retry"])
    return reply["result"]


def run_limited(
    command: Sequence[str],
    seconds: float,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    most_bytes: int | None = None,
) -> tuple[int, str, str]:
    """Status, output and error output of a command; it and all its children are killed after `seconds`.

    None of them can write a file of more than `most_bytes`: an endless answer ends as an error of writing.
    """

    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        text=True,
        preexec_fn=limit,
        start_new_session=True,  # its own process group, so that the whole group can be killed
    )
    try:
        out, err = process.communicate(stdin, timeout=max(seconds, 0.1))
    except subprocess.TimeoutExpired:
        raise SourceTimeout(f"no complete answer within {seconds:g} seconds") from None
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return process.returncode, out, err


def _main(function: str, seconds: str) -> None:
    # If the parent itself is killed, this process must not outlive its time limit.
    signal.setitimer(signal.ITIMER_REAL, float(seconds) + 5)
    module, _, name = function.partition(":")
    arguments = json.load(sys.stdin)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            reply = {"result": getattr(importlib.import_module(module), name)(**arguments)}
    except SourceError as error:
        reply = {"error": str(error), "retry": error.retry}
    sys.stdout.write("\n" + json.dumps(reply))


if __name__ == "__main__":
    _main(*sys.argv[1:])
