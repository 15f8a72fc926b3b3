"""Logging of a workflow job: everything goes to the rule's log file, and errors also to the terminal, in one sentence.

Every script calls `start` before anything else.  From then on an uncaught exception is written to the log with its
traceback, and to the terminal as one sentence that names the log.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
from pathlib import Path
from types import FrameType, TracebackType

from joints.errors import JointsError
from joints.patches.scipy_stats import import_later

CPU_SECONDS = "ended after %.1f CPU seconds"  # the last line of a log: of the job and of what it called


def start(log_file: str | Path) -> None:
    """Log to `log_file`, and warnings also to the terminal; report uncaught exceptions to both."""
    path = Path(log_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    to_file = logging.FileHandler(path, mode="w", encoding="utf-8")
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    to_terminal = logging.StreamHandler(sys.stderr)
    to_terminal.setLevel(logging.WARNING)
    to_terminal.addFilter(_not_a_crash)
    logging.basicConfig(level=logging.INFO, handlers=[to_file, to_terminal], force=True)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a log that cannot be written, for example on a full disk, stops nothing
    import_later()  # only now, because it may write to the log

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return  # whoever interrupts a run knows why it stops
        said = sentence(error, path)
        logging.getLogger("joints").critical(said, exc_info=(kind, error, trace))
        print(said, file=sys.stderr, flush=True)

    sys.excepthook = report
    atexit.register(_end)
    # Snakemake stops jobs with SIGTERM; turned into an exception, it leaves time to remove temporary files.
    signal.signal(signal.SIGTERM, _leave)


def sentence(error: BaseException, log_file: Path) -> str:
    """One line for the terminal: the message of an expected failure, or the type and message of an unexpected one."""
    message = " ".join(str(error).split())
    if not isinstance(error, JointsError):
        message = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return f"Error: {message.rstrip('.')}. (More in {log_file}.)"


def _end() -> None:
    logging.getLogger("joints").info(CPU_SECONDS, sum(os.times()[:4]))


def _not_a_crash(record: logging.LogRecord) -> bool:
    return record.levelno < logging.CRITICAL


def _leave(signal_number: int, frame: FrameType | None) -> None:
    sys.exit(128 + signal_number)
