# What the rules share: the plan of the run, and helpers that pass questions on to joints.study.plan.

import functools
import os
import sys
from pathlib import Path

# Jobs use the code in this folder, and the user's own modules next to it, even where the package is not installed.
BASE = Path(workflow.basedir)
sys.path[:0] = [str(BASE / "src"), str(Path.cwd())]
os.environ.update(
    PYTHONPATH=os.pathsep.join(
        filter(None, [*sys.path[:2], os.environ.get("PYTHONPATH")])
    )
)

from joints.errors import JointsError
from joints.patches.snakemake_groups import travel_together
from joints.patches.snakemake_locks import ask_before_locking
from joints.patches.snakemake_scheduler import wake_when_jobs_end
from joints.patches.snakemake_scripts import fork_jobs
from joints.runtime import one_run, slurm
from joints.runtime.checksums import RUN
from joints.runtime.files import from_here, write_text
from joints.runtime.fingerprint import Code, script_digest, source_stamp
from joints.runtime.job import RECORD, read_record
from joints.runtime.log import CPU_SECONDS
from joints.study.submissions import submissions
from joints.study.layout import fill, members
from joints.study.plan import Plan
from joints.study.run_record import begin_run, check_reference
from snakemake_logger_plugin_joints import expect

CONFIG_FILES = [from_here(path) for path in workflow.configfiles]
ADDED = dict(workflow.config_settings.config)

try:
    one_run.check_machine(workflow.basedir)
    PLAN = Plan.read(CONFIG_FILES, ADDED, BASE / "workflow" / "schemas").here()
    check_reference(PLAN, CONFIG_FILES, ADDED, BASE / "workflow" / "schemas")
except JointsError as error:
    # a WorkflowError would bury the message among others, or show nothing with --quiet
    sys.exit(f"Error: {error}.")

for sentence in PLAN.left_out if workflow.is_main_process else []:
    print(f"joints: {sentence}", file=sys.stderr)

FILES = PLAN.files
config.clear()
config.update(PLAN.config)

# Where jobs are submitted to a cluster, short ones travel together.
SUBMITTED = workflow.resource_settings.nodes is not None
# Slurm would keep a job that asks for more than its partition's limit in the queue for ever.
LIMIT = None
if SUBMITTED:
    LIMIT = slurm.limit_of(workflow.resource_settings.default_resources)
    travel_together(PLAN.batches.minutes, LIMIT)

# for the progress line and the core-hours of a dry run
expect(PLAN.costs.expected, workflow, submissions if SUBMITTED else None, slurm.fate)


# What the run remembers for its jobs; a job that is a Snakemake of its own, on a cluster, takes the main one's digests.
SCRIPTS = BASE / "workflow" / "scripts"
KEPT = one_run.KEPT / PLAN.run
os.environ.update({RUN: str(KEPT.absolute())})
CODE_RECORD = KEPT / RECORD
STAMP = source_stamp(SCRIPTS)
DIGESTS = {} if workflow.is_main_process else read_record(CODE_RECORD)["digests"]

if workflow.is_main_process:
    os.environ.update(one_run.notice_of_compiling())
    ask_before_locking(
        functools.partial(begin_run, PLAN, CODE_RECORD, STAMP, DIGESTS),
        functools.partial(one_run.remember_locks, KEPT),
    )


# not in a dry run, and not in jobs
onstart:
    wake_when_jobs_end(workflow)
    fork_jobs()
    slurm.remember_submissions(KEPT, workflow.scheduler)


onsuccess:
    write_text(FILES.logs / "snakemake.log", CPU_SECONDS % sum(os.times()[:2]))


wildcard_constraints:
    **PLAN.wildcards,


def of(question, *names):
    """A method of the plan as a function of wildcards, as in `of(PLAN.forests, "dataset", "repetitions")`."""

    def ask(wildcards):
        return question(*(getattr(wildcards, name) for name in names))

    return ask


def batch(question, *names):
    """The batch in which a job travels, where jobs are submitted; `question` as in `of`, or a batch."""
    if SUBMITTED:
        return of(question, *names) if names else question


def growing(amount, *names, most=None):
    """A resource, given by a number or by a method of the plan, of which a job that is tried again gets more."""

    def ask(wildcards, attempt):
        asked = attempt * (of(amount, *names)(wildcards) if names else amount)
        return min(asked, most or asked)

    return ask


minutes = functools.partial(growing, most=LIMIT)


@functools.cache
def code(script, *modules):
    """The fingerprint of everything that a script imports, and of modules that it loads by name from a catalogue."""
    key = " ".join([script, *modules])
    if key not in DIGESTS:
        DIGESTS[key] = script_digest(SCRIPTS / f"{script}.py", *modules)
    return Code(DIGESTS[key], script, modules)


def models_and_code(job):
    """What the scores of each model depend on."""
    return [
        (
            PLAN.model(model),
            repetitions,
            code("score_models", *PLAN.modules([model], job.mechanism.split("+"))),
        )
        for model, repetitions in job.repetitions.items()
    ]


def variants_and_code(variants):
    """What the scores of each variant depend on."""
    return [
        (
            PLAN.variant_forest(variant),
            PLAN.variant_models(variant),
            code("score_variants", *PLAN.variant_modules(variant)),
        )
        for variant in variants
    ]


def config_arguments():
    """The configuration of this run as arguments for a call of Snakemake from inside a job."""
    values = [f"{key}={value}" for key, value in ADDED.items()]
    return ["--configfile", *CONFIG_FILES, *(["--config", *values] if values else [])]
