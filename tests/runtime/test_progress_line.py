"""The progress line of a run."""

import io
import logging
import time
from types import SimpleNamespace

import numpy as np
import pytest
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_joints as plugin
from joints.study.submissions import Submission


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


def test_a_line_is_about_the_jobs_that_go_on(handler, monkeypatch):
    """Jobs end and start one after the other, in an instant; the line is about what comes of it."""
    monkeypatch.setattr(plugin.Expectation, "jobs", lambda: {1: 5.0, 2: 5.0, 3: 5.0})
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


def test_a_dry_run_ends_with_the_core_hours(handler, monkeypatch):
    monkeypatch.setattr(plugin.Expectation, "jobs", lambda: {1: 3600.0, 2: 5400.0})
    handler.common_settings.dryrun = True
    tell(handler, LogEvent.RUN_INFO, stats={"score": 2, "total": 2})
    tell(handler, LogEvent.JOB_INFO, jobid=1, rule_name="score")
    monkeypatch.setattr(plugin.Expectation, "jobs", dict)
    tell(handler, LogEvent.RUN_INFO, stats={"score": 2, "total": 2})  # Snakemake repeats it at the end
    assert handler.stream.getvalue() == ""
    handler.close()
    assert handler.stream.getvalue() == "2 jobs, about 2.5 core-hours\n"


def test_a_dry_run_for_a_cluster_counts_submissions(handler, monkeypatch):
    monkeypatch.setattr(plugin.Expectation, "jobs", lambda: {1: 3600.0, 2: 5400.0})
    sent = [Submission("", seconds, 2, 20, frozenset(), local) for seconds, local in ((3600, False), (2, True))]
    monkeypatch.setattr(plugin.Expectation, "submissions", lambda: sent)
    monkeypatch.setattr(plugin.Expectation, "found", ())
    handler.common_settings.dryrun = True
    tell(handler, LogEvent.RUN_INFO, stats={"score": 2, "total": 2})
    handler.close()
    said = "2 jobs in 1 submission of 60 min that ask for at most 20 min, about 2.5 core-hours\n"
    assert handler.stream.getvalue() == said
    assert " 3 submissions of 42 s to 60 min " in plugin.summary([sent[0], sent[0], sent[0]._replace(seconds=42.0)])


def test_what_a_failed_submission_had_asked_for(handler, monkeypatch):
    monkeypatch.setattr(plugin.Expectation, "fate", lambda job, log: f"it asked for 1 GB ({job}, {log})")
    told = "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'. Detailed failure reason unavailable."
    assert plugin.why({"rule_msg": told, "aux_logs": ["7.log"]}) == (
        "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'; it asked for 1 GB (7, 7.log)"
    )
    assert plugin.why({"rule_msg": "sbatch failed"}) == "sbatch failed"


def replay(expected, actual, cores, times):
    """Run jobs in their order on some cores; what the line said was left at some times, and the truth."""
    progress, waiting, running, now, said = plugin.Progress(expected, cores), list(expected), {}, 0.0, {}
    while waiting or running:
        while waiting and len(running) < cores:
            job = waiting.pop(0)
            running[job] = now + actual[job]
            progress.started(job, now)
        first = min(running, key=running.__getitem__)
        said |= {time: progress.seconds_left(time) for time in times if now <= time < running[first]}
        now = running.pop(first)
        progress.ended(first, now)
    return [(said[time], now - time) for time in times if time in said]


@pytest.mark.parametrize("speed", [0.75, 1.0, 1.3])
@pytest.mark.parametrize("cores", [2, 8])
@pytest.mark.parametrize("seed", range(5))
def test_the_time_left_is_right_within_a_factor_of_one_and_a_half(speed, cores, seed):
    """Jobs of a second to an hour, long ones first, each up to a quarter off, on a machine that is faster or slower."""
    random = np.random.default_rng(seed)
    expected = dict(enumerate(np.sort(np.exp(random.uniform(0, np.log(3600), 200)))[::-1]))
    actual = {job: speed * seconds * random.uniform(0.8, 1.25) for job, seconds in expected.items()}
    whole = speed * sum(expected.values()) / cores
    for said, left in replay(expected, actual, cores, np.linspace(60, 0.9 * whole, 50)):
        assert left / 1.5 < said < left * 1.5


def test_a_job_that_could_not_say_why_it_failed(handler, tmp_path):
    """Killed, or unable to start: rule, wildcards and log are named; a job that spoke is not repeated."""
    log = tmp_path / "one.log"
    about = {"rule_name": "score", "jobid": 1, "log": [str(log)], "aux": {}}
    tell(handler, LogEvent.JOB_INFO, jobid=1, rule_name="score", wildcards={"dataset": "one", "view": ""})
    tell(
        handler,
        LogEvent.ERROR,
        msg="RuleException:\nCalledProcessError in file x.smk, line 24:\nCommand 'python' returned",
    )
    tell(handler, LogEvent.JOB_ERROR, **about)
    log.write_text("2026-01-01 INFO joints: at work\n")
    tell(handler, LogEvent.JOB_ERROR, **about, rule_msg="SLURM-job '7' failed, SLURM status is: 'OUT_OF_MEMORY'\nmore")
    log.write_text("2026-01-01 CRITICAL joints: Error: the file is gone.\nTraceback\n")
    tell(handler, LogEvent.JOB_ERROR, **about)
    tell(handler, LogEvent.JOB_ERROR, **{**about, "aux": {"external_jobid": "7"}})
    tell(handler, LogEvent.ERROR, msg="\nOSError: read-only\nmore")
    tell(handler, LogEvent.ERROR, msg="WorkflowError:\nAt least one job did not complete successfully.")
    said = [line for line in handler.stream.getvalue().splitlines() if line.startswith("Error")]
    job = "Error: the job score (dataset one) ended without a message: "
    assert said == [
        job + "it was killed, ran out of memory, or could not start.",
        job + f"SLURM-job '7' failed, SLURM status is: 'OUT_OF_MEMORY'. (More in {log}.)",
        "Error: the file is gone.",
        "Error: OSError: read-only more",
    ]


def test_what_snakemake_says_before_a_job_fails(handler):
    """Here it could not write the script of one job; the other was killed."""
    full = 'RuleException:\nOSError in file "a.smk", line 24:\n[Errno 28] No space left on device\n  File "b.py"'
    tell(handler, LogEvent.ERROR, msg=full)
    for job in (1, 2):
        tell(handler, LogEvent.JOB_ERROR, rule_name="fetch", jobid=job, log=[], aux={})
    job = "Error: the job fetch ended without a message: "
    assert [line for line in handler.stream.getvalue().splitlines() if line.startswith("Error")] == [
        job + "OSError: [Errno 28] No space left on device.",
        job + "it was killed, ran out of memory, or could not start.",
    ]


def test_jobs_that_travelled_together_are_named_once(handler, tmp_path):
    logs = [tmp_path / f"{job}.log" for job in range(4)]
    infos = [{"rule_name": f"rule_{job}", "jobid": job, "log": [str(log)]} for job, log in enumerate(logs)]
    about = {
        "groupid": "scores_1",
        "job_error_info": infos,
        "rule_msg": "it is 'TIMEOUT'.For further error details see",
    }

    def fail():
        for info in infos:
            tell(handler, LogEvent.JOB_INFO, jobid=info["jobid"], rule_name=info["rule_name"])
        tell(handler, LogEvent.GROUP_ERROR, **about)
        for info in infos:
            tell(handler, LogEvent.JOB_ERROR, **info)

    fail()
    logs[2].write_text("2026-01-01 CRITICAL joints: Error: the file is gone.\nTraceback\n")
    fail()
    assert [line for line in handler.stream.getvalue().splitlines() if line.startswith("Error")] == [
        "Error: the batch scores_1 (rule_0, rule_1, rule_2 and 1 more) ended without a message: it is 'TIMEOUT'.",
        "Error: the file is gone.",
    ]


def test_an_older_log_is_not_the_last_word_of_a_job(handler, tmp_path):
    log = tmp_path / "one.log"
    log.write_text("2026-01-01 CRITICAL joints: Error: the file is gone.\n")
    assert plugin.last_words(log, time.time()) and not plugin.last_words(log, time.time() + 60)
