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


def test_a_job_that_could_not_say_why_it_failed(handler, tmp_path):
    """Killed, or unable to start: rule, wildcards and log are named; a job that spoke is not repeated."""
    log = tmp_path / "one.log"
    about = {"rule_name": "score", "jobid": 1, "log": [str(log)], "aux": {}}
    tell(handler, LogEvent.JOB_INFO, jobid=1, rule_name="score", wildcards={"dataset": "one", "view": ""})
    tell(handler, LogEvent.JOB_ERROR, **about)
    log.write_text("2026-01-01 INFO joints: at work\n")
    tell(handler, LogEvent.JOB_ERROR, **about, rule_msg="SLURM-job '7' failed, SLURM status is: 'OUT_OF_MEMORY'\nmore")
    log.write_text("2026-01-01 CRITICAL joints: Error: the file is gone.\nTraceback\n")
    tell(handler, LogEvent.JOB_ERROR, **about)
    tell(handler, LogEvent.JOB_ERROR, **{**about, "aux": {"external_jobid": "7"}})
    tell(handler, LogEvent.ERROR, msg="\nOSError: read-only\nmore")
    said = [line for line in handler.stream.getvalue().splitlines() if line.startswith("Error")]
    job = "Error: the job score (dataset one) ended without a message: "
    assert said == [
        job + "it was killed, ran out of memory, or could not start.",
        job + f"SLURM-job '7' failed, SLURM status is: 'OUT_OF_MEMORY'. (More in {log}.)",
        "Error: the file is gone.",
        "Error: OSError: read-only",
    ]


def test_an_older_log_is_not_the_last_word_of_a_job(handler, tmp_path):
    log = tmp_path / "one.log"
    log.write_text("2026-01-01 CRITICAL joints: Error: the file is gone.\n")
    assert plugin.last_words(log, time.time()) and not plugin.last_words(log, time.time() + 60)
