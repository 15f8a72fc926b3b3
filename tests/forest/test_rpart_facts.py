"""Splits and routes agree with those that rpart printed; `test_surrogates.py` does the same for surrogate splits."""

import numpy as np
import pytest
from rpart_facts import CASES, Facts

from joints.forest.arrays import leaves_of_training_rows
from joints.forest.splits import best_ordered_subset, best_subset, best_threshold

ALL = [pytest.param(Facts(path), id=path.stem) for path in CASES]
COMPLETE = [case for case in ALL if not case.values[0].has_missing]


def rows_by_node(facts):
    """Training rows of each of rpart's nodes, by our own routing of complete rows."""
    leaf_of, weights = leaves_of_training_rows(facts.forest, facts.data, 0)
    assert (weights == 1).all()
    leaves = [number for number in facts.order if facts.nodes[number]["leaf"]]
    rows = {number: [] for number in facts.order}
    for row, leaf in enumerate(leaf_of):
        number = leaves[leaf]
        while number:
            rows[number].append(row)
            number //= 2
    return rows


def best_score(x, y, n_categories, n_classes, min_rows):
    """Our best score of a split on one feature that leaves so many rows on both sides."""
    if n_categories:
        counts = np.zeros((n_categories, n_classes))
        np.add.at(counts, (x.astype(int), y), 1.0)
        goes_left = np.empty(n_categories, dtype=bool)
        if n_classes == 2:
            return best_ordered_subset(counts, True, min_rows, goes_left)
        return best_subset(counts, min_rows, goes_left)
    _, ranks = np.unique(x, return_inverse=True)
    keys = (ranks.astype(np.uint64) << np.uint64(32)) | (y.astype(np.uint64) << np.uint64(16)) | np.uint64(1)
    return best_threshold(np.sort(keys), len(keys), np.bincount(y, minlength=n_classes).astype(float), min_rows)[0]


def sizes_and_squares(y):
    return len(y), (np.bincount(y) ** 2).sum() / len(y)


@pytest.mark.parametrize("facts", COMPLETE)
def test_rows_go_to_the_nodes_of_rpart(facts):
    rows = rows_by_node(facts)
    for number, node in facts.nodes.items():
        counts = np.bincount(facts.data.y[rows[number]], minlength=facts.data.n_classes)
        assert counts.tolist() == node["counts"]


@pytest.mark.parametrize("facts", ALL)
def test_no_split_is_better_than_the_one_of_rpart(facts):
    """At the root, and at every node where no training value is missing.

    With impurity n - sum of squares / n, the decrease that rpart prints is our score minus n and those squares.
    """
    numbers = [1] if facts.has_missing else [number for number in facts.order if not facts.nodes[number]["leaf"]]
    rows = {1: np.arange(len(facts.data.y))} if facts.has_missing else rows_by_node(facts)
    fewest = facts.control["minbucket"]
    for number in numbers:
        primary = facts.nodes[number]["primary"]
        scores = []
        for f, k in enumerate(facts.n_categories):
            x, y = facts.data.X[rows[number], f], facts.data.y[rows[number]]
            x, y = x[~np.isnan(x)], y[~np.isnan(x)]
            n, squares = sizes_and_squares(y)
            scores.append(best_score(x, y, k, facts.data.n_classes, fewest) - n - squares)
        assert max(scores) == pytest.approx(primary["improve"], rel=1e-12)
        assert scores[primary["feature"]] == max(scores)
