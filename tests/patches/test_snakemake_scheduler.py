"""Snakemake's scheduler has no timers where jobs run on this machine."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from joints.patches import snakemake_scheduler, versions
from joints.patches.snakemake_scheduler import wake_when_jobs_end

SNAKEFILE = """
import threading
from joints.patches.snakemake_scheduler import wake_when_jobs_end

class Timer(threading.Timer):
    def start(self):
        open("timers", "a").write("x")
        super().start()

threading.Timer = Timer
PATCHED = {patched}

onstart:
    assert not PATCHED or wake_when_jobs_end(workflow)

rule all:
    input: "a", "b", "c"

rule one:
    output: touch("{{name}}")
    shell: "sleep 0.1"
"""


@pytest.mark.parametrize("patched", [True, False])
def test_a_run_sets_no_timers(tmp_path, patched):
    """Without the patch it does: once it does not, the patch can go."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(patched=patched))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "greedy", "--quiet", "all"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "c").exists() and (tmp_path / "timers").exists() is not patched


def test_a_cluster_keeps_its_limit():
    workflow = SimpleNamespace(local_exec=False, scheduler=SimpleNamespace(job_rate_limiter="limit"))
    assert not wake_when_jobs_end(workflow) and workflow.scheduler.job_rate_limiter == "limit"


@pytest.mark.parametrize(("last", "has"), [("1.0", {"job_rate_limiter": "limit"}), ("99.0", {})])
def test_another_snakemake_is_left_alone(monkeypatch, last, has):
    versions.warn.cache_clear()
    monkeypatch.setattr(snakemake_scheduler, "TESTED", versions.Tested("snakemake", "1.0", last))
    workflow = SimpleNamespace(local_exec=True, scheduler=SimpleNamespace(**has))
    with pytest.warns(versions.PatchWarning, match="its scheduler may wake up every second"):
        assert not wake_when_jobs_end(workflow)
    assert vars(workflow.scheduler) == has
