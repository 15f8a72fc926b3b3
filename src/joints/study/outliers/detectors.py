"""The signals that the outlier studies compare: densities of Generative Forests, a kernel density, class certainty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, xlogy
from sklearn.base import BaseEstimator
from sklearn.neighbors import KernelDensity
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

from joints.parameters import check_option

# Large leaves, because in many dimensions a k-d tree cannot rule out any part of the data and only costs time.
ROWS_OF_TREE_LEAF = 2000


class ClassKernelDensity(BaseEstimator):
    """A Gaussian kernel density estimate of each class, mixed by the class prior.

    Missing features of a row are integrated out, which leaves the product of the Gaussian kernels of the observed ones.
    Training rows that lack an observed feature do not count.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Standard deviation of the kernel, in every direction.
    mixture : {"density", "published"}, default="density"
        ``density``: the log of the sum of the classes' densities weighted by their priors, which is a log-density.
        ``published``: the sum of their log-densities with the same weights, as in the authors' notebook, which is not.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    prior_ : ndarray of shape (n_classes,)
    n_features_in_ : int

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])
    >>> ClassKernelDensity().fit(X, y).score_samples([[0.5], [9.0]]).round(2)
    array([ -1.45, -10.02])
    """

    def __init__(self, bandwidth: float = 1.0, *, mixture: str = "density"):
        self.bandwidth = bandwidth
        self.mixture = mixture

    def fit(self, X: Any, y: Any) -> ClassKernelDensity:
        """Keep the rows of each class."""
        check_scalar(self.bandwidth, "bandwidth", (int, float), min_val=0, include_boundaries="neither")
        check_option("mixture", self.mixture, ("density", "published"))
        X, y = check_X_y(X, y, ensure_all_finite="allow-nan", dtype=np.float64)
        self.n_features_in_ = X.shape[1]
        self.classes_, counts = np.unique(y, return_counts=True)
        self.prior_ = counts / counts.sum()
        self.rows_ = [X[y == label] for label in self.classes_]
        return self

    def class_log_densities(self, X: Any) -> np.ndarray:
        """log p(observed features | class).

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = check_array(X, ensure_all_finite="allow-nan", dtype=np.float64)
        patterns, pattern_of = np.unique(~np.isnan(X), axis=0, return_inverse=True)
        out = np.empty((len(X), len(self.classes_)))
        for i, observed in enumerate(patterns):
            rows = np.flatnonzero(pattern_of == i)
            out[rows] = self._marginal(X[np.ix_(rows, np.flatnonzero(observed))], observed)
        return out

    def _marginal(self, X: np.ndarray, observed: np.ndarray) -> np.ndarray:
        if not observed.any():
            return np.zeros((len(X), len(self.classes_)))
        out = np.full((len(X), len(self.classes_)), -np.inf)
        for k, rows in enumerate(self.rows_):
            known = rows[:, observed]
            known = known[~np.isnan(known).any(axis=1)]
            if len(known):
                density = KernelDensity(bandwidth=self.bandwidth, leaf_size=ROWS_OF_TREE_LEAF).fit(known)
                out[:, k] = density.score_samples(X)
        return out

    def mix(self, class_log_densities: np.ndarray, mixture: str) -> np.ndarray:
        """The classes' log-densities as one number per row; see `mixture`."""
        if mixture == "density":
            return logsumexp(class_log_densities + np.log(self.prior_), axis=1)
        return class_log_densities @ self.prior_

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(observed features).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.mix(self.class_log_densities(X), self.mixture)


def certainty(proba: np.ndarray) -> np.ndarray:
    """Minus the entropy of each row of class probabilities, in nats.

    >>> certainty(np.array([[0.5, 0.5], [1.0, 0.0]])).round(2) + 0.0
    array([-0.69,  0.  ])
    """
    return xlogy(proba, proba).sum(axis=1)
