"""Jobs of a group travel together even if they do not depend on each other."""

import subprocess
import sys

import pytest

from joints.patches import snakemake_groups, versions
from joints.patches.snakemake_groups import travel_together

SNAKEFILE = """
from joints.patches.snakemake_groups import travel_together

if {patched}:
    travel_together({{"small": 7}}, {limit})

rule all:
    input: "a", "b", "c"

rule one:
    output: touch("{{name}}")
    group: "small"
    resources: runtime=5
"""
SHOW = """
from snakemake.dag import DAG

DAG._check_groups = lambda self: print("asked:", *{group.resources["runtime"] for group in self._group.values()})
"""


def dry_run(folder, *arguments, **values):
    (folder / "Snakefile").write_text(SNAKEFILE.format(**values) + SHOW)
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--scheduler", "greedy", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize(("patched", "groups"), [(True, 1), (False, 3)])
def test_a_group_is_one_submission(tmp_path, patched, groups):
    """Without the patch it is not: once it is, the patch can go."""
    out = dry_run(tmp_path, patched=patched, limit=None)
    assert out.count("Group job small") == groups


@pytest.mark.parametrize(("attempt", "limit", "asked"), [(1, None, 7), (2, None, 14), (2, 10, 10)])
def test_a_group_asks_for_its_own_time(tmp_path, attempt, limit, asked):
    out = dry_run(tmp_path, "--attempt", str(attempt), patched=True, limit=limit)
    assert f"asked: {asked}\n" in out


def test_another_snakemake_is_left_alone(monkeypatch):
    versions.warn.cache_clear()
    monkeypatch.setattr(snakemake_groups, "TESTED", versions.Tested("snakemake", "1.0", "1.0"))
    with pytest.warns(versions.PatchWarning, match="are submitted one by one"):
        assert not travel_together({"small": 7})
