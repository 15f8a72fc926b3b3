"""A progress line for Snakemake: jobs done and running, and an estimate of the time left (`--logger joints`).

Snakemake finds the plugin by the name of this package.  On a terminal one line is updated in place; elsewhere a line is
printed every so often.  Jobs report their own errors, in one sentence each; here failures are counted, and named where
the job could not do so: it was killed, could not start, or ran on another machine.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import Counter
from pathlib import Path
from time import monotonic, time
from typing import Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

SECONDS_BETWEEN_LINES = 20.0  # when the output is not a terminal
SAID = " CRITICAL joints: "  # in the log of a job that stopped, before the sentence (see joints.runtime.log)
SECONDS_TO_SETTLE = 0.5  # a job that ended is soon followed by the next: until then one too few would be running


class Progress:
    """What is known about a run: counts, and how long jobs of each rule take."""

    def __init__(self) -> None:
        self.planned: Counter[str] = Counter()
        self.running: dict[Any, tuple[str, float]] = {}
        self.seconds: dict[str, list[float]] = {}
        self.failed = 0
        self.most_running = 1

    @property
    def done(self) -> int:
        return sum(len(seconds) for seconds in self.seconds.values())

    @property
    def total(self) -> int:
        return sum(self.planned.values())

    def started(self, job: Any, rule: str, now: float) -> None:
        self.running[job] = (rule, now)
        self.most_running = max(self.most_running, len(self.running))

    def ended(self, job: Any, now: float, failed: bool = False) -> None:
        if job in self.running:
            rule, start = self.running.pop(job)
            if failed:
                self.failed += 1
            else:
                self.seconds.setdefault(rule, []).append(now - start)

    def seconds_left(self) -> float | None:
        """Remaining jobs times the average time of their rule (or of all rules), divided by the most jobs at once."""
        if not self.done:
            return None
        overall = sum(map(sum, self.seconds.values())) / self.done
        left = 0.0
        for rule, planned in self.planned.items():
            seen = self.seconds.get(rule, [])
            left += max(0, planned - len(seen)) * (sum(seen) / len(seen) if seen else overall)
        return left / self.most_running

    def line(self) -> str:
        """The progress line."""
        parts = [f"{self.done} of {self.total} jobs done", f"{len(self.running)} running"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        left = self.seconds_left()
        if left is not None and self.done < self.total:
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as a readable duration.

    >>> duration(42), duration(200), duration(8000)
    ('42 s', '3 min', '2.2 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def reason(event: dict[str, Any], wildcards: dict[str, str], start: float) -> str:
    """Why a job failed, from Snakemake's event, in one line; nothing if the job itself has said so on this terminal."""
    logs = [Path(path) for path in event.get("log") or []]
    said = next((sentence for path in logs[:1] if (sentence := last_words(path, start))), "")
    remote = "external_jobid" in (event.get("aux") or {})
    if said:
        return said if remote else ""
    about = ", ".join(f"{name} {value}" for name, value in wildcards.items() if value)
    job = f"the job {event.get('rule_name')}" + (f" ({about})" if about else "")
    found = [path for path in logs if path.is_file() and path.stat().st_mtime >= start - 1]
    where = f" (More in {found[-1]}.)" if found else ""
    why = first_line(str(event.get("rule_msg") or "")) or "it was killed, ran out of memory, or could not start"
    return f"Error: {job} ended without a message: {why.rstrip('.')}.{where}"


def last_words(log: Path, start: float) -> str:
    """The sentence that a job, started at `start`, has left in its log when it stopped."""
    try:
        if log.stat().st_mtime < start - 1:
            return ""
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(SAID)[2] for line in reversed(lines) if SAID in line), "")


def first_line(text: str) -> str:
    """The first line of a message that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


class LogHandler(LogHandlerBase):
    """Snakemake's side of the progress line."""

    def __post_init__(self) -> None:
        self.progress = Progress()
        self.jobs: dict[Any, tuple[dict[str, str], float]] = {}  # wildcards, and when they started
        self.stream: TextIO = sys.stderr
        self.shown = -SECONDS_BETWEEN_LINES
        self.width = 0
        self.timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Handle one of Snakemake's events."""
        try:
            self._take(vars(record))
        except Exception:
            self.handleError(record)

    def _take(self, event: dict[str, Any]) -> None:
        if self.common_settings.dryrun:
            return
        now = monotonic()
        match event.get("event"):
            case LogEvent.RUN_INFO:
                stats = {name: count for name, count in event["stats"].items() if name != "total"}
                self.progress.planned = Counter(stats)
            case LogEvent.JOB_INFO:
                self.jobs[event["jobid"]] = (event.get("wildcards") or {}, time())
                self.progress.started(event["jobid"], event["rule_name"], now)
                self._show_soon()
            case LogEvent.JOB_FINISHED:
                self.progress.ended(event["job_id"], now)
                if self.progress.done == self.progress.total:
                    self._show(now)
                else:
                    self._show_soon()
            case LogEvent.JOB_ERROR:
                self.progress.ended(event["jobid"], now, failed=True)
                wildcards, start = self.jobs.get(event["jobid"], ({}, 0.0))
                self._say(reason(event, wildcards, start))
                self._show(now, at_once=True)
            case LogEvent.ERROR:
                self._say(f"Error: {first_line(str(event.get('msg', '')))}")

    def _say(self, sentence: str) -> None:
        if sentence:
            self.stream.write(("\n" if self.width else "") + sentence + "\n")
            self.width = 0

    def _show_soon(self) -> None:
        if self.timer is None or not self.timer.is_alive():
            self.timer = threading.Timer(SECONDS_TO_SETTLE, self._show_settled)
            self.timer.daemon = True
            self.timer.start()

    def _show_settled(self) -> None:
        with self.lock or threading.RLock():
            self._show(monotonic())

    def _show(self, now: float, at_once: bool = False) -> None:
        line = self.progress.line()
        if self.stream.isatty():
            self.stream.write("\r" + line.ljust(self.width))
            self.width = len(line)
        elif at_once or now - self.shown >= SECONDS_BETWEEN_LINES or self.progress.done == self.progress.total:
            self.stream.write(line + "\n")
            self.shown = now
        self.stream.flush()

    def close(self) -> None:
        """Leave the cursor on a line of its own."""
        if self.timer is not None:
            self.timer.cancel()
        if self.width:
            self.stream.write("\n")
            self.width = 0
        super().close()

    @property
    def writes_to_stream(self) -> bool:
        return False  # in addition to Snakemake's own lines, not instead of them

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return True

    @property
    def has_formatter(self) -> bool:
        return True

    @property
    def needs_rulegraph(self) -> bool:
        return False
