"""Snakemake's scheduler wakes up when a job ends, not every second.

Upstream: to start no more than `--max-jobs-per-timespan` jobs (100 per second unless told otherwise), the scheduler
sets a timer whenever it has looked for jobs, and looks again when the timer ends, which sets the next one.  Every job
that ends adds one more such chain of timers.  A longer timespan is no way out: Snakemake exits after its timers.

Seen: while jobs wait for a core, Snakemake's process keeps starting threads that end at once, and takes processor time
although no job starts or ends.  The test counts the timers of a run of three jobs.

Here the limit is removed where jobs run on this machine, whose cores are the limit anyway.

Tested with Snakemake 9.27.1.  With another version, nothing is changed, with a warning.
"""

from __future__ import annotations

from typing import Any

from joints.patches.versions import Tested, warn

TESTED = Tested("snakemake", "9.27.1", "9.27.1")


def wake_when_jobs_end(workflow: Any) -> bool:
    """Remove the limit from the scheduler of a workflow that is about to start; False if that is not possible."""
    if not workflow.local_exec:
        return False
    doubt = TESTED.doubt()
    if not doubt and getattr(workflow.scheduler, "job_rate_limiter", None) is None:
        doubt = "Snakemake limits its jobs in another way"
    if doubt:
        warn(f"{doubt}: its scheduler may wake up every second, which takes some processor time.")
        return False
    workflow.scheduler.job_rate_limiter = None
    return True
