"""The progress line of a run."""

import io
import logging
import time
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_joints as plugin


@pytest.fixture
def handler(monkeypatch):
    monkeypatch.setattr(plugin, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(plugin, "SECONDS_TO_SETTLE", 0.05)
    made = plugin.LogHandler.__new__(plugin.LogHandler)
    logging.Handler.__init__(made)
    made.common_settings = SimpleNamespace(dryrun=False)
    made.__post_init__()
    made.stream = io.StringIO()
    yield made
    made.close()


def tell(handler, event, **about):
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", (), None)
    vars(record).update(event=event, **about)
    handler.handle(record)


def test_a_line_is_about_the_jobs_that_go_on(handler):
    """Jobs end and start one after the other, in an instant; the line is about what comes of it."""
    tell(handler, LogEvent.RUN_INFO, stats={"score": 3, "total": 3})
    for job in (1, 2):
        tell(handler, LogEvent.JOB_INFO, jobid=job, rule_name="score")
    time.sleep(0.2)
    tell(handler, LogEvent.JOB_FINISHED, job_id=1)
    tell(handler, LogEvent.JOB_INFO, jobid=3, rule_name="score")
    time.sleep(0.2)
    lines = [line.partition(", about")[0] for line in handler.stream.getvalue().splitlines()]
    assert lines == ["0 of 3 jobs done, 2 running", "1 of 3 jobs done, 2 running"]
    for job in (2, 3):
        tell(handler, LogEvent.JOB_FINISHED, job_id=job)
    assert handler.stream.getvalue().endswith("\n3 of 3 jobs done, 0 running\n")
