"""How well a signal separates rows of the training data's kind from foreign ones.

A signal is one number per row, high for rows like the training data: log p(x), or the certainty of a forest.  Rows of
the training data's kind are the positives of a binary classifier that is thresholded at every value of the signal.  All
measures depend only on the order of the values, so -inf is a value like any other: the lowest.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from joints.study.summarise import half_width

MEASURES = ["auc", "aupr", "fpr95"]
TRUE_POSITIVE_RATE = 0.95


def separation(inside: np.ndarray, outside: np.ndarray) -> dict[str, float]:
    """Area under the ROC curve, average precision, and false positives at 95 % true positives.

    Parameters
    ----------
    inside, outside : ndarray of shape (n_inside,) and (n_outside,)
        The signal for rows of the training data's kind and for foreign rows; -inf is allowed, NaN is not.

    Returns
    -------
    dict
        ``auc``: the probability that a row from inside has a higher value than one from outside, ties counting half;
        ``aupr``: the average precision with the rows from inside as positives; ``fpr95``: the fraction of foreign rows
        above the highest threshold that 95 % of the rows from inside reach.

    Examples
    --------
    >>> round(separation(np.array([2.0, 3.0, 4.0]), np.array([-np.inf, 1.0, 3.5]))["auc"], 3)
    0.778
    """
    if len(inside) == 0 or len(outside) == 0:
        raise ValueError(
            f"Both kinds of rows are needed: there are {len(inside)} from inside, {len(outside)} from outside."
        )
    values = np.concatenate([inside, outside])
    if np.isnan(values).any():
        raise ValueError(f"{int(np.isnan(values).sum())} of {len(values)} values are NaN, which cannot be ordered.")
    # scikit-learn does not accept infinite values; ranks keep the order, which is all that matters
    ranks = rankdata(values, method="dense")
    is_inside = np.arange(len(values)) < len(inside)
    false_positives, true_positives, _ = roc_curve(is_inside, ranks, drop_intermediate=False)
    return {
        "auc": float(roc_auc_score(is_inside, ranks)),
        "aupr": float(average_precision_score(is_inside, ranks)),
        "fpr95": float(false_positives[np.argmax(true_positives >= TRUE_POSITIVE_RATE)]),
    }


def summarise(signals: pd.DataFrame) -> pd.DataFrame:
    """Mean and 95 % interval of every measure over the repetitions.

    Parameters
    ----------
    signals : DataFrame
        The result of a study: repetition, model, method, rows, signal.

    Returns
    -------
    DataFrame
        model, method, outliers, the mean of each measure, half the width of Student's interval (0 for a single
        repetition) under its name with ``_interval``, and the number of repetitions
    """
    found = []
    for (repetition, model, method), group in signals.groupby(["repetition", "model", "method"], sort=False):
        values = {str(rows): part.to_numpy() for rows, part in group.groupby("rows", sort=False)["signal"]}
        inside = values.pop(str(model))
        found += [
            (repetition, model, method, rows, *separation(inside, part).values()) for rows, part in values.items()
        ]
    keys = ["model", "method", "outliers"]
    each = pd.DataFrame(found, columns=["repetition", *keys, *MEASURES])
    table = []
    for key, group in each.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True))
        for measure in MEASURES:
            row[measure] = group[measure].mean()
            row[f"{measure}_interval"] = half_width(group[measure].to_numpy())
        table.append(row | {"repetitions": len(group)})
    return pd.DataFrame(table)
