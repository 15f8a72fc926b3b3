"""Generative Forests for a continuous target: regression trees with densities of features and target in the leaves."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils._param_validation import RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from joints.circuit import sampling
from joints.circuit.evidence import Evidence, Given, narrow_to
from joints.circuit.leaves import Leaves, fit_leaves, gaussian_entries
from joints.circuit.mixtures import Distributions
from joints.circuit.posterior import Gaussians, gaussians_of, in_parts, log_evidence, posterior
from joints.features import TakesTables, encode_table, fit_table, fit_target, fit_weights
from joints.forest.arrays import Forest, TrainingData, leaves_of_training_rows
from joints.forest.classifier import features_per_split
from joints.forest.grow import GrowthSettings
from joints.forest.means import grow_mean_forest
from joints.forest.route import complete_proba
from joints.numerics.random import tree_seeds
from joints.parameters import AT_LEAST_ONE, SHARED, Number


class GenerativeForestRegressor(TakesTables, RegressorMixin, BaseEstimator):
    """A random forest of regression trees read as a joint distribution over features and target.

    Trees are grown by squared error; a leaf is a product of univariate densities with its cell as support, one of them
    of the target.  Complete rows get exactly the forest's mean; missing features are marginalised exactly.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    min_sd : float, default=1.0
        Smallest standard deviation of a feature's Gaussian in a leaf, in units of its own in the training data.
    target_sd : float, default=0.1
        The same for the target; it affects densities and quantiles, not the mean.
    smoothing : float, default=1e-6
        Added to the count of each category in the leaf's cell.
    max_features : {"sqrt"}, int, float or None, default=1.0
        Features tried at a split, as in `joints.ForestClassifier`.
    min_samples_leaf : int, default=5
        Fewest rows of a leaf.
    max_depth : int or None, default=None
        Deepest leaf; None: no limit.
    bootstrap : bool, default=True
        Draw each tree's rows with replacement; otherwise every tree sees all rows.
    categorical_features, random_state, n_jobs
        As in `joints.ForestClassifier`.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where `X` has names.
    features_ : joints.features.Features
        Names and categories of the columns.
    forest_ : joints.forest.arrays.Forest
        The trees as flat arrays.
    leaves_ : joints.circuit.leaves.Leaves
        The leaf densities; the target is the feature after the last.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from joints import GenerativeForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> gef = GenerativeForestRegressor(20, random_state=0).fit(X[:300], y[:300])
    >>> bool(gef.score(X[300:], y[300:]) > 0.3)
    True
    >>> X[:, ::2] = np.nan
    >>> gef.predict(X[300:]).shape
    (142,)
    >>> gef.distribution(X[300:]).quantile([0.05, 0.95]).shape
    (142, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [AT_LEAST_ONE],
        "min_sd": [Number(Real, 0, None, closed="neither")],
        "target_sd": [Number(Real, 0, None, closed="neither")],
        "smoothing": [Number(Real, 0, None, closed="left")],
        "max_features": [StrOptions({"sqrt"}), AT_LEAST_ONE, Number(RealNotInt, 0, 1, closed="right"), None],
        "min_samples_leaf": [AT_LEAST_ONE],
        "max_depth": [Number(Integral, 0, None, closed="left"), None],
        "bootstrap": ["boolean"],
        **SHARED,
    }

    forest_: Forest
    leaves_: Leaves

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        min_sd: float = 1.0,
        target_sd: float = 0.1,
        smoothing: float = 1e-6,
        max_features: Any = 1.0,
        min_samples_leaf: int = 5,
        max_depth: int | None = None,
        bootstrap: bool = True,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.min_sd = min_sd
        self.target_sd = target_sd
        self.smoothing = smoothing
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GenerativeForestRegressor:
        """Grow a forest and learn its leaf densities.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
        """
        self._validate_params()
        codes = fit_table(self, X)
        target = fit_target(self, y, len(codes))
        data = TrainingData(
            np.column_stack([codes, target]),
            np.zeros(len(codes), dtype=np.int64),
            1,
            self._n_categories(),
            bool(self.bootstrap),
        ).weighted(fit_weights(self, sample_weight, target))
        settings = GrowthSettings(
            max_features=features_per_split(self.max_features, codes.shape[1]),
            redraw=True,
            purity=1.0,
            min_rows=max(1, int(np.ceil(self.min_samples_leaf / data.unit))),
            max_depth=np.iinfo(np.int64).max if self.max_depth is None else int(self.max_depth),
            by_proportion=True,
        )
        seeds = tree_seeds(check_random_state(self.random_state), self.n_estimators)
        self.forest_ = grow_mean_forest(data, seeds, settings, self.n_jobs)
        self.leaves_ = fit_leaves(self.forest_, data, min_sd=self.min_sd, smoothing=self.smoothing, n_jobs=self.n_jobs)
        self._fit_target(data)
        return self

    def _fit_target(self, data: TrainingData) -> None:
        """The Gaussians of the target, whose smallest standard deviation is its own."""
        forest, y = self.forest_, data.X[:, -1]
        smallest = self.target_sd * (y.std() or 1.0)
        out = self.leaves_.parameters[:, self.leaves_.offset[-1] :]
        for tree in range(forest.n_trees):
            leaf, weights = leaves_of_training_rows(forest, data, tree)
            first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
            leaf, weights = leaf - first, weights * data.unit
            n = np.bincount(leaf, weights, last - first)
            mean = np.bincount(leaf, weights * y, last - first) / n
            variance = np.bincount(leaf, weights * (y - mean[leaf]) ** 2, last - first) / n
            for v in range(last - first):
                gaussian_entries(mean[v], max(smallest, np.sqrt(variance[v])), -np.inf, np.inf, out[first + v])

    def _n_categories(self) -> np.ndarray:
        return np.append(self.features_.n_categories, 0)

    def _given(self, X: Any) -> Given:
        evidence = X if isinstance(X, Evidence) else Evidence(X)
        codes = encode_table(self, evidence.X)
        return narrow_to(self._values(codes), evidence, self.features_)

    def _values(self, codes: np.ndarray) -> Given:
        unknown = np.full((len(codes), 1), np.nan)
        return Given.values(np.hstack([codes, unknown]), self._n_categories(), 1, None)

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the target given the observed features, averaged over the trees.

        Parameters
        ----------
        X : array, DataFrame or Evidence of shape (n_samples, n_features)
            NaN where a value is missing.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        given = self._given(X)
        means = np.ascontiguousarray(self.leaves_.parameters[:, [self.leaves_.offset[-1]]])
        out = np.empty((len(given.low), 1))
        values = given.low[:, : self.n_features_in_]
        complete = given.is_plain & ~np.isnan(values).any(axis=1)
        rows = np.flatnonzero(complete)
        if len(rows):
            of_complete = np.empty((len(rows), 1))
            complete_proba(np.ascontiguousarray(values[rows]), self.forest_, means, of_complete)
            out[rows] = of_complete
        rest = np.flatnonzero(~complete)
        for here, part in in_parts(given.rows(rest), self.forest_):
            found = posterior(part, len(self.leaves_.offset) - 1, self.forest_, self.leaves_, "average", self.n_jobs)
            out[rest[here]] = found.sum_of(means)
        return out[:, 0]

    def distribution(self, X: Any) -> Distributions:
        """The distribution of the target given the observed features: a mixture of the leaves' Gaussians.

        Parameters
        ----------
        X : array, DataFrame or Evidence of shape (n_samples, n_features)
            NaN where a value is missing.

        Returns
        -------
        joints.circuit.mixtures.Distributions
            With `mean`, `std`, `pdf`, `cdf` and `quantile`, each with one answer per row.
        """
        check_is_fitted(self)
        target = len(self.leaves_.offset) - 1
        parts = in_parts(self._given(X), self.forest_)
        found = [posterior(part, target, self.forest_, self.leaves_, "average", self.n_jobs) for _, part in parts]
        gaussians: Gaussians = gaussians_of(target, self.forest_, self.leaves_, self._n_categories())
        return Distributions(found, gaussians)

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(observed features) under the uniform mixture of the trees: low for outliers.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return log_evidence(self._given(X), self.forest_, self.leaves_, self.n_jobs)

    def sample(self, n_samples: int = 1, given: Any = None, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """Draw rows and their targets from the mixture of the trees; see `joints.GenerativeForestClassifier.sample`."""
        check_is_fitted(self)
        check_scalar(n_samples, "n_samples", (int, np.integer), min_val=1)
        known = self._values(np.full((1, self.n_features_in_), np.nan)) if given is None else self._given(given)
        found = posterior(known, -1, self.forest_, self.leaves_, "mixture", self.n_jobs)
        random = check_random_state(random_state)
        chosen = sampling.draw_leaves(found, n_samples, random)
        codes, _ = sampling.sample(known, chosen, self.forest_, self.leaves_, random)
        return self.features_.table(codes[:, :-1], like=self.features_.template), codes[:, -1]
