"""Where a run's numbers come from: the sources of the data, the software that computed them, and the time it took."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from joints.render.tables import Cell, Table, to_html

PACKAGES = ["joints", "numpy", "numba", "scipy", "scikit-learn", "pandas", "matplotlib", "snakemake", "openml"]


def versions() -> dict[str, str]:
    """The code, Python, the machine, and the packages that results depend on."""
    found = {"Commit": commit(), "Python": platform.python_version()}
    found["System"] = f"{platform.system()} {platform.machine()}"
    found["Processor"], found["Cores"] = processor(), str(os.cpu_count())
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def commit() -> str:
    """The commit of the running code, and whether files differ from it; empty outside a git repository."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True).stdout.strip()

    try:
        top = git("rev-parse", "--show-toplevel")
        changed = git(
            "status", "--porcelain", "--untracked-files=no", "--", f"{top}/src", f"{top}/workflow", f"{top}/config"
        )
        return git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def processor() -> str:
    """The name of the processor, if the system reveals it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def record(
    settings: Mapping[str, Any], records: Mapping[str, Mapping[str, Any]], totals: pd.DataFrame
) -> dict[str, Any]:
    """The provenance for programs: the run's configuration, software and data, and the CPU seconds of every model."""
    seconds = {
        str(dataset): {
            row["model"]: {"fit": round(row["fit_seconds"], 1), "predict": round(row["predict_seconds"], 1)}
            for row in rows.to_dict("records")
        }
        for dataset, rows in totals.groupby("dataset", sort=False)
    }
    # checksums identify what was read, whatever the mirror
    data = {
        name: {key: of[key] for key in of if key not in ("server", "url", "address", "path")}
        for name, of in records.items()
    }
    return {**settings, "software": versions(), "data": data, "seconds": seconds}


def total_seconds(seconds: pd.DataFrame) -> pd.DataFrame:
    """CPU seconds of fitting (once per fold) and predicting (all rates) of every model on every dataset."""
    folds = seconds.groupby(["dataset", "model", "mechanism", "repetition", "fold"], sort=False)
    per_fold = folds.agg(fit=("fit_seconds", "first"), predict=("predict_seconds", "sum")).reset_index()
    totals = per_fold.groupby(["dataset", "model"], sort=False)[["fit", "predict"]].sum().reset_index()
    return totals.rename(columns={"fit": "fit_seconds", "predict": "predict_seconds"})


def page(
    records: Mapping[str, Mapping[str, Any]],
    totals: pd.DataFrame,
    labels: Mapping[str, str],
    datasets: Mapping[str, str],
) -> str:
    """The provenance as one HTML page; `labels` are those of the methods, `datasets` those of the datasets."""
    data = Table(
        ["Dataset", "source", "id, address or file", "rows", "SHA-256 of the table", "date"],
        [[Cell(datasets[name]), *(Cell(text) for text in _origin(record))] for name, record in records.items()],
        words=[1, 2, 4, 5],
    )
    software = Table(
        ["Software", "version"], [[Cell(name), Cell(value)] for name, value in versions().items()], words=[1]
    )
    models = [name for name in labels if name in set(totals["model"])]
    both = totals.set_index(["dataset", "model"]).sum(axis=1)
    times = Table(
        ["Seconds", *(labels[name] for name in models)],
        [
            [Cell(datasets[name]), *(Cell(f"{both[(name, m)]:.1f}") for m in models)]
            for name in totals["dataset"].unique()
        ],
        [1],
    )
    note = (
        "Where each dataset came from, what computed the results, and the CPU seconds of fitting and predicting over "
        "all folds and rates. Methods that share a model (GeF and GeF+) share its seconds."
    )
    return to_html([data, software, times], "Provenance", note)


def _origin(record: Mapping[str, Any]) -> Sequence[str]:
    where = next((str(record[key]) for key in ("id", "url", "package", "name", "path") if record.get(key)), "")
    digest = str(record.get("table_sha256") or record.get("sha256", ""))  # scikit-learn's are of the content
    return [str(record.get("source", "")), where, str(record.get("rows", "")), digest[:16], str(record.get("date", ""))]
