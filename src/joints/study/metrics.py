"""Metrics of the study: functions of the true classes and the probabilities that a method gives.

Every metric takes ``truth``, int64 of shape (n_rows,), and ``proba``, float64 of shape (n_rows, n_classes), and returns
a number.  `config/metrics.yaml` lists them; a new one is a function in any importable module, and an entry there.
"""

from __future__ import annotations

import numpy as np

# Probabilities that agree to this many decimals are tied: the order of summation must not decide anything.
DECIMALS = 10
SMALLEST_PROBABILITY = 1e-15  # for the log-loss, where a method rules out the true class
CONFIDENCE_BINS = 15


def accuracy(truth: np.ndarray, proba: np.ndarray) -> float:
    """The share of rows whose most probable class is the true one; the first class wins a tie.

    >>> accuracy(np.array([0, 0]), np.array([[0.5, 0.5], [0.2, 0.8]]))
    0.5
    """
    return float(_correct(truth, proba).mean())


def log_loss(truth: np.ndarray, proba: np.ndarray) -> float:
    """The mean of -log p(true class), in nats.

    >>> log_loss(np.array([0, 0]), np.array([[0.5, 0.5], [0.2, 0.8]]))
    1.1512925464970227
    """
    return float(-np.log(np.maximum(_of_truth(truth, proba), SMALLEST_PROBABILITY)).mean())


def brier(truth: np.ndarray, proba: np.ndarray) -> float:
    """The mean of the squared errors of the probabilities, summed over the classes.

    >>> brier(np.array([0, 0]), np.array([[0.5, 0.5], [0.2, 0.8]]))
    0.8900000000000001
    """
    return float(((proba**2).sum(axis=1) - 2 * _of_truth(truth, proba) + 1).mean())


def roc_auc(truth: np.ndarray, proba: np.ndarray) -> float:
    """The area under the ROC curve of each class against the rest, weighted by the rows of each class.

    NaN if all rows belong to one class.

    >>> roc_auc(np.array([0, 1, 1]), np.array([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9]]))
    0.75
    """
    counts = np.bincount(truth, minlength=proba.shape[1])
    total, weight = 0.0, 0
    for k in np.flatnonzero((counts > 0) & (counts < len(truth))):
        n_inside, n_outside = counts[k], len(truth) - counts[k]
        wins = _ranks(proba[:, k].round(DECIMALS))[truth == k].sum() - n_inside * (n_inside + 1) / 2
        total += n_inside * wins / (n_inside * n_outside)
        weight += n_inside
    return float(total / weight) if weight else float("nan")


def calibration_error(truth: np.ndarray, proba: np.ndarray) -> float:
    """Expected calibration error: how far the confidence in the predicted class is from the share of correct rows.

    Rows are binned by confidence in 15 bins of equal width; the distances are weighted by the rows of each bin.

    >>> round(calibration_error(np.array([0, 0]), np.array([[0.5, 0.5], [0.2, 0.8]])), 6)
    0.65
    """
    _, confidence, correct = confidence_bins(truth, proba)
    return float(np.abs(correct - confidence).sum() / len(truth))


def confidence_bins(truth: np.ndarray, proba: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of 15 bins of equal width: the rows whose confidence lies in it, the sum of their confidences, and how
    many of them are correct; a reliability diagram shows the quotients.

    >>> rows, confidence, correct = confidence_bins(np.array([0, 0]), np.array([[0.5, 0.5], [0.2, 0.8]]))
    >>> rows.nonzero()[0].tolist(), confidence[[7, 12]].tolist(), correct[[7, 12]].tolist()
    ([7, 12], [0.5, 0.8], [1.0, 0.0])
    """
    confidence = proba.round(DECIMALS).max(axis=1)
    bins = np.minimum((confidence * CONFIDENCE_BINS).astype(np.int64), CONFIDENCE_BINS - 1)
    of_bins = (np.bincount(bins, weights, CONFIDENCE_BINS) for weights in (None, confidence, _correct(truth, proba)))
    rows, total, correct = of_bins
    return rows, total, correct


def _correct(truth: np.ndarray, proba: np.ndarray) -> np.ndarray:
    return proba.round(DECIMALS).argmax(axis=1) == truth


def _of_truth(truth: np.ndarray, proba: np.ndarray) -> np.ndarray:
    return proba[np.arange(len(truth)), truth]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks, starting at 1; equal values share the mean of their ranks."""
    _, place, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[place]
