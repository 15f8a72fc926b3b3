"""Theorem 1 on the paper's data: a factorised Generative Forest equals its forest on complete rows."""

import numpy as np
import pytest
from paper_data import IN_THE_WHEEL, PAPER

from joints import ForestClassifier, GenerativeForestClassifier

pytestmark = pytest.mark.xdist_group("paper")  # one process prepares the data for all of these


def check(dataset):
    """Fit on half of the rows, ask about all, with what is missing filled in."""
    mean, sd = np.nanmean(dataset.X, axis=0), np.nanstd(dataset.X, axis=0)
    continuous = dataset.n_categories == 0
    X = np.where(continuous, (dataset.X - mean) / np.where(sd > 0, sd, 1.0), dataset.X)
    domains = {j: int(k) for j, k in enumerate(dataset.n_categories) if k}
    train = np.arange(len(X)) % 2 == 0
    forest = ForestClassifier(10, categorical_features=domains, random_state=0, n_jobs=2).fit(
        X[train], dataset.y[train]
    )
    generative = GenerativeForestClassifier.from_forest(forest, combine="average")
    complete = np.where(np.isnan(X), 0.0, X)
    expected = forest.predict_proba(complete)
    np.testing.assert_allclose(generative.predict_proba(complete), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(generative.answer(complete).friedman, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", PAPER)
def test_on_every_dataset(from_openml, name):
    check(from_openml[name])


@pytest.mark.parametrize("name", IN_THE_WHEEL)
def test_on_the_datasets_that_need_no_openml(from_wheel, name):
    check(from_wheel[name])
