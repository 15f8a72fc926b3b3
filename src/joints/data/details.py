"""The "dataset details" of the paper's appendix C, as a table of all datasets of a run.

n is the number of rows, m0 and m1 count categorical and continuous features, and %Maj is the share of the most frequent
class.  The CSV file also has what the paper does not print, such as missing cells and the source used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from joints.data.catalogue import DatasetEntry
from joints.data.dataset import Dataset
from joints.data.encode import numbers


def details(
    entries: Iterable[DatasetEntry], datasets: Iterable[Dataset], records: Iterable[Iterable[Mapping[str, Any]]]
) -> pd.DataFrame:
    """One row per dataset, in the order given."""
    rows = [
        {
            "dataset": entry.name,
            "label": entry.label,
            "title": entry.title or entry.label,
            **numbers(dataset),
            "missing": dataset.n_missing,
            "source": "+".join(dict.fromkeys(record["source"] for record in came_from)),
            "citation": entry.citation,
        }
        for entry, dataset, came_from in zip(entries, datasets, records, strict=True)
    ]
    return pd.DataFrame(rows)
