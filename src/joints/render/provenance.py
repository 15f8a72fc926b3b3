"""Where a run's numbers come from: the data's sources, the versions of what computed them, and the time it took."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd

from joints.render.tables import Cell, Table, to_html

PACKAGES = ["joints", "numpy", "numba", "scipy", "scikit-learn", "pandas", "matplotlib", "snakemake", "openml"]


def versions() -> dict[str, str]:
    """Python, the machine, and the packages that results depend on."""
    found = {"Python": platform.python_version(), "System": f"{platform.system()} {platform.machine()}"}
    found["Cores"] = str(os.cpu_count())
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def total_seconds(seconds: pd.DataFrame) -> pd.DataFrame:
    """Core-seconds of fitting (once a fold) and of predicting (all rates) of every method on every dataset."""
    folds = seconds.groupby(["dataset", "method", "repetition", "fold"], sort=False)
    per_fold = folds.agg(fit=("fit_seconds", "first"), predict=("predict_seconds", "sum")).reset_index()
    totals = per_fold.groupby(["dataset", "method"], sort=False)[["fit", "predict"]].sum().reset_index()
    return totals.rename(columns={"fit": "fit_seconds", "predict": "predict_seconds"})


def page(records: Mapping[str, Mapping[str, Any]], totals: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """All of it as one page of HTML."""
    data = Table(
        ["Dataset", "source", "id, address or file", "rows", "SHA-256 of the table", "date"],
        [[Cell(name), *(Cell(text) for text in _origin(record))] for name, record in records.items()],
    )
    software = Table(["Software", "version"], [[Cell(name), Cell(value)] for name, value in versions().items()])
    methods = [method for method in labels if method in set(totals["method"])]
    both = totals.set_index(["dataset", "method"]).sum(axis=1)
    times = Table(
        ["Seconds", *(labels[method] for method in methods)],
        [[Cell(name), *(Cell(f"{both[(name, m)]:.1f}") for m in methods)] for name in totals["dataset"].unique()],
        [1],
    )
    note = (
        "Where each dataset came from, what computed the results, and the seconds of fitting and predicting over all "
        "folds and rates. Methods that share a model (GeF and GeF+) share its seconds."
    )
    return to_html([data, software, times], "Provenance", note)


def _origin(record: Mapping[str, Any]) -> Sequence[str]:
    where = next((str(record[key]) for key in ("id", "url", "package", "name", "path") if record.get(key)), "")
    digest = str(record.get("table_sha256", ""))
    return [str(record.get("source", "")), where, str(record.get("rows", "")), digest[:16], str(record.get("date", ""))]
