"""Signals: what the outlier studies write and tables and figures read, and the labels of the methods compared."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from joints.runtime.checksums import damaged
from joints.runtime.files import replacing

LABELS = {
    "gefp_lspn": "GeF+(LSPN)",
    "gefp": "GeF+",
    "kde": "KDE",
    "kde_published": "KDE (log-densities mixed)",
    "entropy": "Class entropy",
    "max_probability": "Max. class probability",
}
WINE_METHODS = list(LABELS)
IMAGE_METHODS = [name for name in LABELS if name != "gefp_lspn"]


def write_signals(table: pd.DataFrame, path: str | Path) -> None:
    """Write signals to a Parquet file."""
    columns = ["repetition", "model", "method", "rows"]
    with replacing(path) as temporary:
        table[[*columns, "signal"]].astype(dict.fromkeys(columns[1:], "category")).to_parquet(temporary, index=False)


def read_signals(path: str | Path) -> pd.DataFrame:
    """Read what `write_signals` wrote."""
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise damaged(path, error) from error
    return table.astype(dict.fromkeys(["model", "method", "rows"], "str"))
