"""A made-up study: scores of all methods of the paper on a few of its datasets, near the paper's numbers."""

import contextlib
from pathlib import Path

import numpy as np
import pandas as pd

from joints.study import summarise
from joints.study.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
with contextlib.chdir(ROOT):  # a configuration names its catalogues relative to the project
    PLAN = Plan.read(["config/config.yaml"])

METHODS = list(PLAN.used)
ENTRIES = PLAN.shown
LABELS = PLAN.labels
COLUMNS = PLAN.paper_columns
TABLE1 = PLAN.table1_methods
METRICS = PLAN.all_metrics
ACCURACY = PLAN.metrics["accuracy"]
VIEW = PLAN.paper_view
PAPER = pd.read_csv(ROOT / "config/paper_table1.csv")
IN_FILE = summarise.in_file_order(TABLE1, PAPER.columns)
DATASETS = {"breast": "wdbc", "diabetes": "diabetes", "vehicle": "vehicle"}


def scores(rates=(0.0, 0.1, 0.3, 0.9), repetitions=3, folds=2):
    rng = np.random.default_rng(0)
    theirs = PAPER.set_index("Dataset")
    rows = []
    for dataset, label in DATASETS.items():
        for number, (method, entry) in enumerate(PLAN.used.items()):
            level = theirs.loc[label, entry.columns[0]] if entry.columns[0] in theirs else 70.0
            for repetition in range(1, repetitions + 1):
                for fold in range(1, folds + 1):
                    for rate in rates:
                        accuracy = (level - 30 * (rate - 0.3) - number * rate + rng.normal(0, 0.5)) / 100
                        accuracy = min(accuracy, 1.0)
                        others = (1 - accuracy, (1 - accuracy) / 2, (1 + accuracy) / 2, 0.05)
                        rows.append((dataset, method, "mcar", rate, repetition, fold, accuracy, *others))
    keys = ["dataset", "method", "mechanism", "rate", "repetition", "fold"]
    return pd.DataFrame(rows, columns=[*keys, *PLAN.metrics])


def means_of(table):
    """Means of all methods and metrics."""
    return summarise.means(table, METHODS, METRICS)


def accuracies(table, **keys):
    """The rows of a long table about accuracy, with these keys."""
    return summarise.at(table, **VIEW.keys, **keys)


def details():
    """The run's table of datasets."""
    theirs = PAPER.set_index("Dataset")
    rows = [
        {
            "dataset": name,
            "label": label,
            "title": f"Title of {label}",
            "n": theirs.loc[label, "n"],
            "categorical": theirs.loc[label, "cat"],
            "continuous": theirs.loc[label, "cont"],
            "classes": theirs.loc[label, "nc"],
            "majority": theirs.loc[label, "maj"],
            "missing": 0,
            "source": "made up",
            "citation": "",
        }
        for name, label in DATASETS.items()
    ]
    return pd.DataFrame(rows)
