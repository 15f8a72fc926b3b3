"""Every metric of config/metrics.yaml keeps the promises of joints.study.metrics, new ones included."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joints.runtime.config import read_yaml, validate
from joints.study.entries import MetricEntry, find, read_entries

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = read_yaml(ROOT / "config/metrics.yaml")
ENTRIES = read_entries(MetricEntry, CATALOGUE)


def toy(n_classes, seed=0, n=60):
    """True classes, and probabilities that know something about them."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % n_classes)
    proba = rng.dirichlet(np.ones(n_classes), n) + 0.5 * np.eye(n_classes)[truth]
    return truth, proba / proba.sum(axis=1, keepdims=True)


def certain(truth, n_classes):
    """All probability on one class."""
    return np.eye(n_classes)[truth]


def test_the_catalogue_fits_its_schema_and_one_metric_is_the_papers():
    validate(CATALOGUE, read_yaml(ROOT / "workflow/schemas/metrics.schema.yaml"), "config/metrics.yaml")
    assert [name for name, entry in ENTRIES.items() if entry.paper] == ["accuracy"]


@pytest.mark.parametrize("name", ENTRIES)
class TestEveryMetric:
    @pytest.mark.parametrize("n_classes", [2, 3, 10])
    def test_is_a_finite_number(self, name, n_classes):
        truth, proba = toy(n_classes)
        value = find(ENTRIES[name].function)(truth, proba)
        assert isinstance(value, float) and np.isfinite(value)

    def test_is_finite_where_an_answer_rules_the_true_class_out(self, name):
        truth, _ = toy(3)
        assert np.isfinite(find(ENTRIES[name].function)(truth, certain((truth + 1) % 3, 3)))

    def test_is_finite_where_the_test_rows_lack_a_class(self, name):
        truth, proba = toy(3)
        rows = truth != 1
        assert np.isfinite(find(ENTRIES[name].function)(truth[rows], proba[rows]))

    @given(seed=st.integers(0, 1000), n_classes=st.integers(2, 5))
    def test_nothing_is_better_than_the_perfect_answer(self, name, seed, n_classes):
        entry = ENTRIES[name]
        metric = find(entry.function)
        truth, proba = toy(n_classes, seed)
        perfect = entry.sign * metric(truth, certain(truth, n_classes))
        assert perfect >= entry.sign * metric(truth, proba)
        assert perfect >= entry.sign * metric(truth, np.full_like(proba, 1 / n_classes))

    @pytest.mark.parametrize("n_classes", [2, 3, 10])
    def test_the_perfect_answer_is_better_than_one_that_is_always_wrong(self, name, n_classes):
        """This ensures that the catalogue does not have `better` the wrong way round."""
        entry = ENTRIES[name]
        metric = find(entry.function)
        truth, _ = toy(n_classes)
        right, wrong = certain(truth, n_classes), certain((truth + 1) % n_classes, n_classes)
        assert entry.sign * metric(truth, right) > entry.sign * metric(truth, wrong)

    @given(seed=st.integers(0, 1000))
    def test_the_order_of_rows_does_not_matter(self, name, seed):
        metric = find(ENTRIES[name].function)
        truth, proba = toy(3, seed)
        proba = (proba.round(1) + 0.1) / (proba.round(1) + 0.1).sum(axis=1, keepdims=True)  # many ties
        order = np.random.default_rng(seed).permutation(len(truth))
        assert metric(truth[order], proba[order]) == pytest.approx(metric(truth, proba), rel=1e-12, abs=1e-15)

    def test_leaves_its_input_alone(self, name):
        truth, proba = toy(3)
        kept = truth.copy(), proba.copy()
        find(ENTRIES[name].function)(truth, proba)
        np.testing.assert_array_equal(truth, kept[0])
        np.testing.assert_array_equal(proba, kept[1])
