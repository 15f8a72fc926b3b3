"""Jobs of a group travel together even if they do not depend on each other.

Upstream: Snakemake submits each connected part of a group by itself, unless `--group-components GROUP=N` says that N
parts travel together.  The groups of a run follow from its configuration, and their names are not known to whoever
writes a profile.  The option does not reach the Snakemake that runs the jobs of a group on a node either, which would
then run one part after the other.

Seen: a dry run of config/smoke.yaml with three groups had five submissions.  That the option does not reach nodes is
from Snakemake's source (`pass_group_args`).

A group asks for the sum of what its jobs ask for, one layer of parallel jobs after the other.  Each job asks for whole
minutes, with a margin, so that fifty jobs of a second ask for more than an hour.  When a group fails, what the executor
says about it, such as Slurm's reason, is dropped (`GroupJob.log_error`).

Here the Snakefile says which groups travel as one, in the main process and on the nodes, and for how long; the reason
is kept.

Tested with Snakemake 9.27.1.  With another version, nothing is changed, with a warning.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from joints.patches.versions import Tested, warn

TESTED = Tested("snakemake", "9.27.1", "9.27.1")


def travel_together(minutes: Mapping[str, int], limit: int | None = None) -> bool:
    """Let all jobs of each of some groups be submitted together; False, with a warning, if that is not possible.

    Parameters
    ----------
    minutes : mapping
        From groups to the time that they ask for, and twice that when they are tried again.
    limit : int, optional
        The longest time that can be asked for.
    """
    doubt = TESTED.doubt()
    if doubt:
        warn(f"{doubt}: short jobs that do not depend on each other are submitted one by one.")
        return False
    from snakemake.dag import DAG
    from snakemake.jobs import GroupJob

    together = dict.fromkeys(minutes, sys.maxsize)
    usual, usual_error, usual_resources = DAG._update_group_components, GroupJob.log_error, GroupJob.resources.fget

    def update(self: Any) -> None:
        settings = self.workflow.group_settings  # not there yet when the Snakefile is read
        settings.group_components = {**settings.group_components, **together}
        usual(self)

    def resources(self: Any) -> Any:
        new = self._resources is None
        usual_resources(self)
        if new and self.groupid in minutes:
            self._resources["runtime"] = min(self.attempt * minutes[self.groupid], limit or sys.maxsize)
        return usual_resources(self)

    def log_error(self: Any, msg: str | None = None, aux_logs: list | None = None, **about: Any) -> None:
        usual_error(self, msg, aux_logs, rule_msg=msg, **about)

    DAG._update_group_components, GroupJob.log_error, GroupJob.resources = update, log_error, property(resources)
    return True
