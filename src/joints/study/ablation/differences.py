"""How far a variant is from the study: paired differences of accuracies, in percent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from joints.errors import JointsError
from joints.study.scores import KEYS
from joints.study.summarise import half_width


def read_variants(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Files of scores as one table; the name of a file is that of its variant."""
    return pd.concat([pd.read_csv(path).assign(variant=Path(path).stem) for path in paths], ignore_index=True)


def differences(variants: pd.DataFrame, published: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Every variant minus the published setting of the same method, on the same folds and masks.

    The interval is Student's 95 % interval over the differences of the repetitions, or of the folds where there is one
    repetition.

    Parameters
    ----------
    variants : DataFrame
        Scores with a column `variant`.
    published : DataFrame
        Scores of the study, which may have more rows than are needed.
    labels : mapping from variant to its label
        It decides about the order.

    Returns
    -------
    DataFrame
        variant, label, method, dataset, rate, published and mean (accuracies), difference, interval (half its width),
        n (differences)
    """
    paired = variants.merge(published[[*KEYS, "accuracy"]], "left", KEYS, suffixes=("", "_published"), validate="m:1")
    alone = paired[paired["accuracy_published"].isna()]
    if len(alone):
        row = alone.iloc[0]
        raise JointsError(
            f"the study has no score of dataset {row['dataset']}, method {row['method']}, repetition "
            f"{row['repetition']}, fold {row['fold']}, rate {row['rate']:g} to compare {row['variant']} with"
        )
    paired["difference"] = paired["accuracy"] - paired["accuracy_published"]
    columns = ["accuracy_published", "accuracy", "difference"]
    rows = []
    for (variant, method, dataset, rate), group in paired.groupby(["variant", "method", "dataset", "rate"], sort=False):
        per_repetition = group.groupby("repetition")[columns].mean()
        values = (per_repetition if len(per_repetition) > 1 else group)["difference"].to_numpy()
        means = 100 * per_repetition.mean()
        rows.append((variant, method, dataset, rate, *means, 100 * half_width(values), len(values)))
    names = ["variant", "method", "dataset", "rate", "published", "mean", "difference", "interval", "n"]
    table = pd.DataFrame(rows, columns=names)
    table.insert(1, "label", table["variant"].map(labels))
    order = {name: i for i, name in enumerate(labels)}
    return table.sort_values("variant", key=lambda column: column.map(order), kind="stable", ignore_index=True)
