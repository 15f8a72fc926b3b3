"""A copy of the project in a temporary folder, in which the real Snakemake runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml


@dataclass
class Project:
    """A working copy; `run` calls Snakemake in it."""

    folder: Path
    config: dict[str, Any]
    catalogue: dict[str, Any]
    targets: tuple[str, ...] = ()

    def write(self) -> None:
        (self.folder / "my.yaml").write_text(yaml.safe_dump(self.config))
        (self.folder / "catalogue.yaml").write_text(yaml.safe_dump(self.catalogue))

    def command(self, *arguments: str, configfile: str | None = "my.yaml") -> list[str]:
        files = ["--configfile", configfile] if configfile else []
        return [sys.executable, "-m", "snakemake", *self.targets, *files, "--cores", "2", *arguments]

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        self.write()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(self.command(*arguments, **options), cwd=self.folder, start_new_session=True, **pipes)

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **options)
        try:
            out, _ = process.communicate(timeout=150)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(process.args, process.returncode, out, "")

    def succeed(self, *arguments: str, **options: Any) -> str:
        result = self.run(*arguments, **options)
        assert result.returncode == 0, result.stdout
        return result.stdout

    def fail(self, *arguments: str, **options: Any) -> str:
        result = self.run(*arguments, **options)
        assert result.returncode != 0, result.stdout
        return result.stdout

    def stale(self, *arguments: str) -> set[str]:
        """The names of the rules that Snakemake would run."""
        lines = self.succeed("--dry-run", "--quiet", "rules", *arguments).splitlines()
        counted = [line.split() for line in lines]
        return {words[0] for words in counted if len(words) == 2 and words[1].isdigit() and words[0] != "total"}

    @property
    def results(self) -> Path:
        return self.folder / "results" / self.config["run"]

    def files(self) -> dict[str, bytes]:
        """All files that are neither of the project's source nor of Snakemake itself."""
        ours = ("results", "figures", "data")
        found = (path for name in ours for path in (self.folder / name).rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found if path.suffix != ".lock"}


@pytest.fixture
def project(root, tmp_path, openml, monkeypatch) -> Project:
    """A copy of the project with a small catalogue: `fruit` on the small OpenML, and `own`, a file of the user."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(root / name, folder / name)
    for name in ("config", "profiles", "workflow", "src"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (folder / "own.csv").write_text(
        "".join(["length,shape,sort\n"] + [f"{i / 3:.2f},{'ab'[i % 2]},{i % 3}\n" for i in range(30)])
    )
    config = {
        "run": "test",
        "catalogue": "catalogue.yaml",
        "datasets": ["fruit", "own"],
        "methods_catalogue": "config/methods.yaml",
        "methods": ["mean", "knn"],
        "protocol": {"seed": 1, "repetitions": 1, "folds": 2, "rates": [0, 0.3]},
        "forest": {"n_estimators": 5},
        "fetch": {"folder": "data", "sources": ["openml", "csv"], "tries": 2, "pause": 0.05, "timeout": 60},
        "openml": {"server": openml.server},
        "url": {"prefixes": {}},
    }
    catalogue = {
        "fruit": {
            "sources": [{"openml": {"id": 7}}],
            "target": "kind",
            "drop": ["number"],
            "numbers": {"n": 60, "categorical": 2, "continuous": 1, "classes": 2, "majority": 66.67},
        },
        "own": {"sources": [{"csv": {"path": "own.csv"}}], "target": "sort"},
    }
    return Project(folder, config, catalogue)
