"""A progress line for Snakemake: jobs done and running, and an estimate of the time left (`--logger joints`).

The workflow tells what its jobs are expected to cost (`expect`).  A dry run prints the sum.

Snakemake finds the plugin by the name of this package.  On a terminal one line is updated in place; elsewhere a line is
printed every so often.  Jobs report their own errors, in one sentence each; here failures are counted, and named where
the job could not do so: it was killed, could not start, or ran on another machine.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic, time
from typing import Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

SECONDS_BETWEEN_LINES = 20.0  # when the output is not a terminal
MOST_CHARACTERS = 300  # of an error of Snakemake's own
EXIT_CODE = "CalledProcessError in file"  # followed by the failure of the job, which says more
COULD_NOT_START = "RuleException"  # likewise, when Snakemake itself fails before or after a job
ANY_FAILED = "At least one job did not complete"  # after the jobs that did not
SAID = " CRITICAL joints: "  # in the log of a job that stopped, before the sentence (see joints.runtime.log)
SECONDS_TO_SETTLE = 0.5  # a job that ended is soon followed by the next: until then one too few would be running


KNOWN_SECONDS = 60.0  # how much the expected costs count against those of finished jobs, on this machine


class Expectation:
    """What the workflow tells about its jobs."""

    jobs: Callable[[], Mapping[Any, float]] = staticmethod(dict)  # id -> CPU seconds, once the jobs are known
    submissions: Callable[[], Sequence[Any]] = staticmethod(tuple)
    found: Sequence[Any] = ()  # the submissions of a dry run
    fate: Callable[[str, str], str] = staticmethod(lambda job, log: "")
    cores: int | None = None


def expect(
    costs: Callable[[Any], Mapping[Any, float]],
    workflow: Any,
    submissions: Callable[[Any, Mapping[Any, float]], Sequence[Any]] | None = None,
    fate: Callable[[str, str], str] | None = None,
) -> None:
    """Tell what the jobs of a workflow will cost and, where there is a cluster, how they are submitted.

    The first are functions of Snakemake's graph of jobs, which is not there yet, and of the costs; `fate` tells what a
    submission, by its id and its log, has asked for and used.
    """
    Expectation.jobs = staticmethod(lambda: costs(workflow.dag))
    if submissions is None:
        Expectation.cores = workflow.resource_settings.cores
    else:
        Expectation.submissions = staticmethod(lambda: submissions(workflow.dag, costs(workflow.dag)))
    if fate is not None:
        Expectation.fate = staticmethod(fate)


class Progress:
    """What is known about a run: the jobs, how long each was expected to take, and how long the finished ones took."""

    def __init__(self, expected: Mapping[Any, float] | None = None, cores: int | None = None) -> None:
        self.waiting = dict(expected or {})
        self.running: dict[Any, tuple[float, float]] = {}  # what it should take, and when it started
        self.total, self.done = len(self.waiting), 0
        self.failed: set[Any] = set()  # until they succeed when tried again
        self.cores, self.most_running = cores, 1
        self.expected_seconds, self.actual_seconds = KNOWN_SECONDS, KNOWN_SECONDS

    def started(self, job: Any, now: float) -> None:
        self.running[job] = (self.waiting.pop(job, 0.0), now)
        self.most_running = max(self.most_running, len(self.running))

    def ended(self, job: Any, now: float, failed: bool = False) -> None:
        expected, start = self.running.pop(job, (self.waiting.pop(job, 0.0), now))
        if failed:
            self.failed.add(job)
        else:
            self.failed.discard(job)
            self.done += 1
            self.expected_seconds += expected
            self.actual_seconds += now - start

    def seconds_left(self, now: float) -> float:
        """What is left, in units of how long the finished jobs took, divided among the cores; or the longest job."""
        speed = self.actual_seconds / self.expected_seconds
        running = [max(0.0, speed * expected - (now - start)) for expected, start in self.running.values()]
        left = [*running, *(speed * expected for expected in self.waiting.values())]
        return max(sum(left) / (self.cores or self.most_running), *left) if left else 0.0

    def line(self, now: float) -> str:
        """The progress line."""
        parts = [f"{self.done} of {self.total} jobs done", f"{len(self.running)} running"]
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        left = self.seconds_left(now)
        if left and self.done < self.total:
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


def summary(submissions: Sequence[Any]) -> str:
    """How many submissions a run has, how long they take, and what the longest asks for."""
    if not submissions:
        return ""
    seconds = sorted(submission.seconds for submission in submissions)
    asked = max(submission.minutes for submission in submissions)
    count = f"{len(seconds)} submission{'s' if len(seconds) > 1 else ''}"
    span = " to ".join(dict.fromkeys((duration(seconds[0]), duration(seconds[-1]))))
    return f" in {count} of {span} that ask for at most {duration(60 * asked)}"


def reason(event: dict[str, Any], wildcards: dict[str, str], start: float, before: str = "") -> str:
    """Why a job failed, from Snakemake's event, in one line; nothing if the job itself has said so on this terminal.

    `before` is what Snakemake said before the event.
    """
    logs = [Path(path) for path in event.get("log") or []]
    said = next((sentence for path in logs[:1] if (sentence := last_words(path, start))), "")
    remote = "external_jobid" in (event.get("aux") or {})
    if said:
        return said if remote else ""
    about = ", ".join(f"{name} {value}" for name, value in wildcards.items() if value)
    job = f"the job {event.get('rule_name')}" + (f" ({about})" if about else "")
    found = [path for path in logs if path.is_file() and path.stat().st_mtime >= start - 1]
    where = f" (More in {found[-1]}.)" if found else ""
    return f"Error: {job} ended without a message: {before or why(event)}.{where}"


def why(event: dict[str, Any]) -> str:
    """What Snakemake, or the cluster, knows about a failure."""
    told = str(event.get("rule_msg") or "").partition("For further error details")[0]
    told = first_line(told.partition("Detailed failure reason")[0]).rstrip(". ")
    job = re.search(r"SLURM-job '(\d+)'", told)
    logs = list(event.get("aux_logs") or [])
    fate = Expectation.fate(job[1], str(logs[0]) if logs else "") if job else ""
    return "; ".join(filter(None, [told, fate])) or "it was killed, ran out of memory, or could not start"


def last_words(log: Path, start: float) -> str:
    """The sentence that a job, started at `start`, has left in its log when it stopped."""
    try:
        if log.stat().st_mtime < start - 1:
            return ""
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(SAID)[2] for line in reversed(lines) if SAID in line), "")


def what_failed(text: str) -> str:
    """What went wrong inside of Snakemake, from its message.

    >>> what_failed('RuleException:\\nOSError in file "a.smk", line 2:\\n[Errno 28] No space left on device')
    'OSError: [Errno 28] No space left on device'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kind = lines[1].partition(" in file ")[0] if len(lines) > 2 else ""
    return f"{kind}: {lines[2]}".rstrip(".") if kind else ""


def first_line(text: str) -> str:
    """The first line of a message that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


class LogHandler(LogHandlerBase):
    """Snakemake's side of the progress line."""

    def __post_init__(self) -> None:
        self.progress = Progress()
        self.before = ""  # what Snakemake said about a job that is about to fail
        self.told: set[Any] = set()  # failed jobs that Snakemake will repeat
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
        now = monotonic()
        match event.get("event"):
            case LogEvent.RUN_INFO if self.common_settings.dryrun:
                self.progress = Progress(Expectation.jobs() or self.progress.waiting)
                Expectation.found = Expectation.submissions() or Expectation.found
            case _ if self.common_settings.dryrun:
                return
            case LogEvent.RUN_INFO:
                self.progress = Progress(Expectation.jobs(), Expectation.cores)
            case LogEvent.JOB_INFO:
                self.jobs[event["jobid"]] = (event.get("wildcards") or {}, time())
                self.progress.started(event["jobid"], now)
                self._show_soon()
            case LogEvent.JOB_FINISHED:
                self.progress.ended(event["job_id"], now)
                if self.progress.done == self.progress.total:
                    self._show(now)
                else:
                    self._show_soon()
            case LogEvent.GROUP_ERROR:
                infos = event["job_error_info"]
                self.told.update(info["jobid"] for info in infos)
                for info in infos:
                    self.progress.ended(info["jobid"], now, failed=True)
                for sentence in self._reasons(event, infos):
                    self._say(sentence)
                self._show(now, at_once=True)
            case LogEvent.JOB_ERROR if event["jobid"] in self.told:
                self.told.remove(event["jobid"])  # Snakemake repeats each job of a group
            case LogEvent.JOB_ERROR:
                self.progress.ended(event["jobid"], now, failed=True)
                wildcards, start = self.jobs.get(event["jobid"], ({}, 0.0))
                self._say(reason(event, wildcards, start, self.before))
                self.before = ""
                self._show(now, at_once=True)
            case LogEvent.ERROR:
                told = " ".join(str(event.get("msg", "")).split())
                if told.startswith(COULD_NOT_START) and EXIT_CODE not in told:
                    self.before = what_failed(str(event["msg"]))
                elif EXIT_CODE not in told and not (self.progress.failed and ANY_FAILED in told):
                    self._say(f"Error: {told[:MOST_CHARACTERS]}")

    def _reasons(self, event: dict[str, Any], infos: list[dict[str, Any]]) -> list[str]:
        """Why jobs that travelled together failed: what some of them said, or one sentence about all."""
        logs = [(Path(log), self.jobs.get(info["jobid"], ({}, 0.0))[1]) for info in infos for log in info["log"][:1]]
        said = [sentence for log, start in logs if (sentence := last_words(log, start))]
        if said:
            return said
        names = sorted({info["rule_name"] for info in infos})
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return [
            f"Error: the batch {event['groupid']} ({', '.join(names[:3])}{more}) ended without a message: {why(event)}."
        ]

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
        line = self.progress.line(now)
        if self.stream.isatty():
            self.stream.write("\r" + line.ljust(self.width))
            self.width = len(line)
        elif at_once or now - self.shown >= SECONDS_BETWEEN_LINES or self.progress.done == self.progress.total:
            self.stream.write(line + "\n")
            self.shown = now
        self.stream.flush()

    def close(self) -> None:
        """Leave the cursor on a line of its own; sum up a dry run, below Snakemake's list of jobs."""
        if self.timer is not None:
            self.timer.cancel()
        if self.width:
            self.stream.write("\n")
            self.width = 0
        if self.common_settings.dryrun and self.progress.waiting:
            hours = sum(self.progress.waiting.values()) / 3600
            sent = summary([submission for submission in Expectation.found if not submission.local])
            self.stream.write(f"{self.progress.total} jobs{sent}, about {hours:.2g} core-hours\n")
            self.progress = Progress()
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
