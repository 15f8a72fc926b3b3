"""LearnSPN as a scikit-learn classifier: the paper's baseline of a standard generative model."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from joints.circuit.estimator import CircuitClassifier
from joints.circuit.learnspn import Variables, learn_class_selective
from joints.features import fit_classes, fit_table, fit_weights
from joints.forest.arrays import TrainingData
from joints.numerics.random import tree_seeds
from joints.parameters import Published


class LearnSPNClassifier(Published, CircuitClassifier):
    """A class-selective probabilistic circuit learned by LearnSPN (Gens and Domingos 2013) on mixed data.

    The root is a sum over the classes.  Below it, sum nodes cut the rows by 2-means and product nodes the features by
    pairwise independence tests; leaves are Gaussians and categorical distributions.

    Parameters
    ----------
    threshold : float, default=0.001
        Two features are held dependent when the p-value of their test is below this.
    min_sd : float, default=1.0
        Smallest standard deviation of a Gaussian, in units of the feature's standard deviation in the training data.
    relative_sd : bool, default=True
        Whether `min_sd` is in that unit; False: in the feature's own.
    smoothing : float, default=1e-6
        Added to the count of each category.
    count_missing : bool, default=False
        Whether training rows without a value of a categorical feature count in the total by which its counts are
        divided; p(x) then sums to less than one.
    categorical_features : "from_dtype", None, mask, indices, names or mapping, default="from_dtype"
        As in `joints.ForestClassifier`.
    random_state : int, RandomState or None, default=None
        For the first centres of 2-means.
    n_jobs : int or None, default=None
        Threads for prediction.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where `X` has names.
    features_ : joints.features.Features
        Names and categories of the columns.
    forest_, leaves_
        The circuit in the terms of a forest: one tree of a single leaf, which is the circuit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from joints import LearnSPNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> circuit = LearnSPNClassifier(random_state=0).fit(X, y)
    >>> circuit.predict([[5.1, np.nan, 1.4, np.nan]])
    array([0])
    >>> circuit.score_samples(X[:1]) > circuit.score_samples(X[:1] + 5)
    array([ True])
    """

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "threshold": 0.001,
        "min_sd": 1.0,
        "relative_sd": True,
        "smoothing": 1e-6,
        "count_missing": False,
    }

    def __init__(
        self,
        *,
        threshold: float = 0.001,
        min_sd: float = 1.0,
        relative_sd: bool = True,
        smoothing: float = 1e-6,
        count_missing: bool = False,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.threshold = threshold
        self.min_sd = min_sd
        self.relative_sd = relative_sd
        self.smoothing = smoothing
        self.count_missing = count_missing
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LearnSPNClassifier:
        """Learn the circuit.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; the structure is learned from rows that are repeated as often, rounded.

        Returns
        -------
        self
        """
        self._validate_params()
        codes = fit_table(self, X)
        classes = fit_classes(self, y, len(codes))
        data = TrainingData(codes, classes, len(self.classes_), self.features_.n_categories, bootstrap=False)
        data = data.weighted(fit_weights(self, sample_weight, classes))
        variables = Variables.of(
            data, self.min_sd, self.smoothing, self.threshold, self.relative_sd, self.count_missing
        )
        seed = tree_seeds(check_random_state(self.random_state), 1)[0]
        self.forest_, self.leaves_ = learn_class_selective(data, variables, np.uint64(seed))
        return self
