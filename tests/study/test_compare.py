"""What is compared with the paper's Table 1."""

import contextlib
from pathlib import Path

import pandas as pd
import pytest

from joints.study import summarise
from joints.study.compare import comparison_tables
from joints.study.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("rate", "cells"), [(0.3, 2), (0.5, 0)])
def test_only_a_table_at_the_papers_rate_is_compared_with_it(rate, cells):
    with contextlib.chdir(ROOT):
        plan = Plan.read(["config/smoke.yaml"], {"methods": ["knn", "gef"], "ablation": None})
        paper, datasets = pd.read_csv("config/paper_table1.csv"), pd.read_csv("results/reference/datasets.csv")
    rows = [
        ("breast", method, "mcar", r, repetition, fold, 0.9 + fold / 100, 0.3)
        for method in ("knn", "gef")
        for r in (0.3, 0.5)
        for repetition in (1, 2)
        for fold in (1, 2)
    ]
    names = ["dataset", "method", "mechanism", "rate", "repetition", "fold", "accuracy", "log_loss"]
    scores, metrics = pd.DataFrame(rows, columns=names), [plan.metrics["accuracy"]]
    means = summarise.means(scores, list(plan.used), metrics)
    found = comparison_tables(scores, means, datasets, paper, plan.used, metrics, "knn", ["knn"], plan.paper_view, rate)
    assert len(found["agreement"]) == cells
