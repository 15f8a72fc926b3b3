"""Jobs of a group travel together even if they do not depend on each other."""

import subprocess
import sys

import pytest

from joints.patches import snakemake_groups, versions
from joints.patches.snakemake_groups import travel_together

SNAKEFILE = """
from joints.patches.snakemake_groups import travel_together

if {patched}:
    travel_together(["small"])

rule all:
    input: "a", "b", "c"

rule one:
    output: touch("{{name}}")
    group: "small"
"""


@pytest.mark.parametrize(("patched", "groups"), [(True, 1), (False, 3)])
def test_a_group_is_one_submission(tmp_path, patched, groups):
    """Without the patch it is not: once it is, the patch can go."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(patched=patched))
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--scheduler", "greedy"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert (done.stdout + done.stderr).count("Group job small") == groups


def test_another_snakemake_is_left_alone(monkeypatch):
    versions.warn.cache_clear()
    monkeypatch.setattr(snakemake_groups, "TESTED", versions.Tested("snakemake", "1.0", "1.0"))
    with pytest.warns(versions.PatchWarning, match="are submitted one by one"):
        assert not travel_together(["small"])
