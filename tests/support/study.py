"""A made-up study: scores of all methods of the paper on a few of its datasets, near the paper's numbers."""

from pathlib import Path

import numpy as np
import pandas as pd

from joints.runtime.config import read_yaml
from joints.study.methods import entries

ROOT = Path(__file__).resolve().parents[2]
METHODS = ["surrogate", "friedman", "mean", "knn", "missforest", "learnspn", "gef", "gef_lspn", "gefp", "gefp_lspn"]
CATALOGUE = entries(read_yaml(ROOT / "config/methods.yaml"), "config/methods.yaml")
LABELS = {name: CATALOGUE[name].label for name in METHODS}
COLUMNS = {entry.name: [entry.column, entry.interval] for entry in CATALOGUE.values() if entry.column}
PAPER = pd.read_csv(ROOT / "config/paper_table1.csv")
DATASETS = {"breast": "wdbc", "diabetes": "diabetes", "vehicle": "vehicle"}


def scores(rates=(0.0, 0.1, 0.3, 0.9), repetitions=3, folds=2):
    rng = np.random.default_rng(0)
    theirs = PAPER.set_index("Dataset")
    rows = []
    for dataset, label in DATASETS.items():
        for number, method in enumerate(METHODS):
            column = COLUMNS[method][0]
            level = theirs.loc[label, column] if column in theirs else 70.0
            for repetition in range(1, repetitions + 1):
                for fold in range(1, folds + 1):
                    for rate in rates:
                        accuracy = (level - 30 * (rate - 0.3) - number * rate + rng.normal(0, 0.5)) / 100
                        rows.append((dataset, method, repetition, fold, rate, min(accuracy, 1.0), 0.5, 0.3))
    keys = ["dataset", "method", "repetition", "fold", "rate", "accuracy", "log_loss", "brier"]
    return pd.DataFrame(rows, columns=keys)


def details():
    """The run's table of datasets."""
    theirs = PAPER.set_index("Dataset")
    rows = [
        {"dataset": name, "label": label, "title": f"Title of {label}", "n": theirs.loc[label, "n"],
         "categorical": theirs.loc[label, "cat"], "continuous": theirs.loc[label, "cont"],
         "classes": theirs.loc[label, "nc"], "majority": theirs.loc[label, "maj"], "missing": 0, "source": "made up",
         "citation": ""}
        for name, label in DATASETS.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)
