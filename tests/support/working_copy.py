"""A copy of the project in a folder of its own, in which the real Snakemake runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
            out, _ = process.communicate(timeout=600)  # where everything has to be compiled first
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(process.args, process.returncode, out, "")

    def succeed(self, *arguments: str, **options: Any) -> str:
        result = self.run(*arguments, **options)
        assert result.returncode == 0, f"exit code {result.returncode}\n{result.stdout}{self.last_logs()}"
        return result.stdout

    def last_logs(self) -> str:
        """The ends of the logs written last, Snakemake's own among them: a quiet run does not show them."""
        found = [*self.folder.glob(".snakemake/log/*"), *self.folder.glob("results/*/logs/**/*.log")]
        latest = sorted(found, key=lambda path: path.stat().st_mtime)[-6:]
        return "\n".join(f"--- {path.relative_to(self.folder)}\n{path.read_text()[-3000:]}" for path in latest)

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


def small_config(datasets: list[str], **changes: Any) -> dict[str, Any]:
    """A small run on other datasets: the paper's configuration with everything large removed."""
    return {
        "extends": "config/config.yaml",
        "run": "test",
        "catalogues": {"datasets": "catalogue.yaml"},
        "datasets": datasets,
        "forest": {"n_estimators": 5},
        "outliers": None,
        "ablation": None,
        "theory": None,
        "url": {"prefixes": {}},
        **changes,
    }


def copy_project(root: Path, folder: Path) -> Path:
    """The files of the project that a run needs, with what is compiled: modification times are kept."""
    folder.mkdir()
    for name in ("Snakefile", "environment.yml"):
        shutil.copy2(root / name, folder / name)
    for name in ("config", "profiles", "workflow", "src"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("*.egg-info"))
    return folder
