"""How far a variant is from the study: paired differences between scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from joints.errors import JointsError
from joints.study.entries import MethodEntry, MetricEntry
from joints.study.protocol import Protocol
from joints.study.scores import KEYS, read_answers
from joints.study.summarise import half_width, interval_sample


def read_variants(
    paths: Iterable[str | Path],
    variants: Mapping[str, Mapping[str, Any]],
    methods: Mapping[str, MethodEntry],
    protocols: Mapping[str, Protocol],
    repetitions: Sequence[int],
) -> pd.DataFrame:
    """Files ``<dataset>/<variant>.csv`` of scores as one table; the variant lists the methods to read from its file."""
    tables = []
    for path in map(Path, paths):
        used = {name: methods[name] for name in variants[path.stem]["methods"]}
        dataset = path.parent.name
        scores = read_answers(path, used, dataset, protocols[dataset], repetitions).assign(variant=path.stem)
        tables.append(scores.sort_values(KEYS, kind="stable"))
    table = pd.concat(tables, ignore_index=True)
    return table[[*KEYS, *(name for name in table if name not in KEYS)]]


def differences(
    variants: pd.DataFrame, published: pd.DataFrame, labels: Mapping[str, str], metrics: Sequence[MetricEntry]
) -> pd.DataFrame:
    """Every variant minus the published setting of the same method, on the same folds and masks.

    The interval is Student's 95 % interval over the differences of the repetitions, or over those of the folds if there
    are fewer than five repetitions; see `joints.study.summarise.interval_sample`.

    Parameters
    ----------
    variants : DataFrame
        Scores with a column `variant`.
    published : DataFrame
        Scores of the study; extra rows are ignored.
    labels : mapping from variant to its label
        The order of the variants in the result.
    metrics : sequence of MetricEntry

    Returns
    -------
    DataFrame
        variant, label, method, dataset, mechanism, rate, metric, published and mean (of the metric), difference,
        interval (half its width), n (differences)
    """
    paired = variants.merge(published, "left", KEYS, suffixes=("", "_published"), validate="m:1", indicator=True)
    alone = paired[paired["_merge"] == "left_only"]
    if len(alone):
        row = alone.iloc[0]
        raise JointsError(
            f"the study has no score of dataset {row['dataset']}, method {row['method']}, repetition "
            f"{row['repetition']}, fold {row['fold']}, rate {row['rate']:g} to compare {row['variant']} with"
        )
    rows = []
    groups = ["variant", "method", "dataset", "mechanism", "rate"]
    for metric in metrics:
        both = paired[[*groups, "repetition", f"{metric.name}_published", metric.name]].set_axis(
            [*groups, "repetition", "published", "mean"], axis=1
        )
        both["difference"] = both["mean"] - both["published"]
        for key, group in both.groupby(groups, sort=False):
            means = metric.scale * group.groupby("repetition")[["published", "mean", "difference"]].mean().mean()
            values = interval_sample(group["difference"], group["repetition"])
            rows.append((*key, metric.name, *means, metric.scale * half_width(values), len(values)))
    names = [*groups, "metric", "published", "mean", "difference", "interval", "n"]
    table = pd.DataFrame(rows, columns=names)
    table.insert(1, "label", table["variant"].map(labels))
    order = {name: i for i, name in enumerate(labels)}
    return table.sort_values("variant", key=lambda column: column.map(order), kind="stable", ignore_index=True)
