"""Metrics by hand, by brute force, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from joints.study import metrics


def toy(n_classes, seed, n=200, ties=False):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    proba = rng.dirichlet(np.ones(n_classes), n) + 0.3 * np.eye(n_classes)[truth]
    proba /= proba.sum(axis=1, keepdims=True)
    if ties:
        proba = proba.round(1) + 0.01
        proba /= proba.sum(axis=1, keepdims=True)
    return truth, proba


def test_by_hand():
    truth, proba = np.array([0, 0, 1]), np.array([[0.7, 0.3], [0.4, 0.6], [1.0, 0.0]])
    assert metrics.accuracy(truth, proba) == pytest.approx(1 / 3)
    assert metrics.log_loss(truth, proba) == pytest.approx(-np.log([0.7, 0.4, 1e-15]).mean())
    assert metrics.brier(truth, proba) == pytest.approx(np.mean([2 * 0.3**2, 2 * 0.6**2, 2.0]))


def test_rounding_does_not_decide_a_tie():
    tie = np.array([[0.5 - 1e-14, 0.5 + 1e-14]])
    assert metrics.accuracy(np.array([0]), tie) == 1.0
    pair = np.array([[0.5, 0.5], [0.5 - 1e-14, 0.5 + 1e-14]])
    assert metrics.roc_auc(np.array([0, 1]), pair) == 0.5


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("ties", [False, True])
def test_scikit_learns_numbers(n_classes, ties):
    truth, proba = toy(n_classes, 1, ties=ties)
    proba = proba.round(10)  # the same ties for both
    given = proba[:, 1] if n_classes == 2 else proba
    expected = roc_auc_score(truth, given, multi_class="ovr", average="weighted")
    assert metrics.roc_auc(truth, proba) == pytest.approx(expected, abs=1e-12)
    assert metrics.log_loss(truth, proba) == pytest.approx(log_loss(truth, proba))


def test_area_under_the_curve_counts_pairs():
    truth, proba = toy(3, 2, n=40, ties=True)
    total = 0.0
    for k in range(3):
        inside, outside = proba[truth == k, k][:, None], proba[truth != k, k]
        total += len(inside) * ((inside > outside + 1e-9).mean() + 0.5 * (np.abs(inside - outside) < 1e-9).mean())
    assert metrics.roc_auc(truth, proba) == pytest.approx(total / 40)


def test_area_under_the_curve_without_some_of_the_classes():
    truth, proba = toy(3, 3)
    two = truth < 2
    weights = np.bincount(truth[two])
    each = [roc_auc_score(truth[two] == k, proba[two, k]) for k in range(2)]
    assert metrics.roc_auc(truth[two], proba[two]) == pytest.approx(np.average(each, weights=weights))
    assert np.isnan(metrics.roc_auc(np.zeros(4, dtype=int), proba[:4]))


def test_calibration_error_by_its_definition():
    truth, proba = toy(3, 4)
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == truth
    expected = 0.0
    for i in range(15):
        inside = (confidence >= i / 15) & ((confidence < (i + 1) / 15) | (i == 14))
        if inside.any():
            expected += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    assert metrics.calibration_error(truth, proba) == pytest.approx(expected)


def test_a_certain_and_correct_answer_is_perfectly_calibrated():
    truth = np.array([0, 1, 2, 1])
    assert metrics.calibration_error(truth, np.eye(3)[truth]) == 0.0
    assert metrics.calibration_error(truth, np.eye(3)[(truth + 1) % 3]) == 1.0
