"""The table of scores that one stage writes and the next one reads: its columns, and its files.

Seconds have files of their own with the same keys, because they are the only numbers that differ from run to run.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from joints.runtime.files import write_text

KEYS = ["dataset", "method", "repetition", "fold", "rate"]
SCORES = ["accuracy", "log_loss", "brier"]
SECONDS = ["fit_seconds", "predict_seconds"]


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """A table as a CSV file, numbers with all their digits."""
    write_text(path, table.to_csv(index=False, lineterminator="\n"))


def read_tables(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Several files of scores, or of seconds, as one table, sorted by its keys."""
    tables = [pd.read_csv(path) for path in paths]
    return pd.concat(tables, ignore_index=True).sort_values(KEYS, kind="stable", ignore_index=True)
