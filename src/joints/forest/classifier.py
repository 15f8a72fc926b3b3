"""The paper's random forest as a scikit-learn classifier, with its two built-in answers to missing features."""

from __future__ import annotations

from copy import deepcopy
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from joints.features import TakesTables, encode_table, fit_classes, fit_table, fit_weights
from joints.forest.arrays import Forest, TrainingData, append_trees, grow_forest
from joints.forest.reach import friedman_proba
from joints.forest.route import complete_proba
from joints.forest.surrogates import Surrogates, find_surrogates, surrogate_proba
from joints.numerics.random import tree_seeds
from joints.numerics.threads import blocks, run
from joints.parameters import AT_LEAST_ONE, SHARED, Number, Published, check_option

MISSING_METHODS = "friedman", "surrogate"
MOST_CLASSES = 0xFFFF  # a class has 16 bits while rows are sorted


class ForestClassifier(Published, TakesTables, ClassifierMixin, BaseEstimator):
    """A random forest of deep binary trees that split categories into subsets and take missing values.

    Each tree is grown on a bootstrap sample drawn within each class, by Gini impurity, on features drawn again at every
    node.  Training data may hold NaN: such a row does not count for a split on that feature and goes to a random side.
    ``ForestClassifier.published()`` has the settings behind the paper's numbers.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt"}, int, float or None, default="sqrt"
        Features tried at a split: the square root of their number, rounded to the nearest, a number, a fraction, or
        all.
    redraw : bool, default=False
        Whether another feature is drawn in place of one that is constant at the node, as scikit-learn does.  False
        reproduces the published numbers: a node is a leaf when all features drawn are constant there.
    purity : float, default=0.99
        A node is a leaf when this fraction of its rows is of one class.
    min_samples_leaf : int, default=1
        Fewest rows of a leaf.
    max_depth : int or None, default=None
        Deepest leaf; None: no limit.
    bootstrap : bool, default=True
        Draw each tree's rows with replacement within each class; otherwise every tree sees all rows.
    category_order : {"proportion", "published"}, default="proportion"
        With two classes, subsets of categories are cuts of the categories in order of the second class's proportion,
        which finds the best subset, or of its number of rows (``published``).
    surrogates : {"text", "published"}, default="text"
        How stand-in splits are found: as the paper describes them or as its code does; see `joints.forest.surrogates`.
    categorical_features : "from_dtype", None, mask, indices, names or mapping, default="from_dtype"
        Which features are categorical.  ``"from_dtype"``: columns of truth values, of text that is not all numbers, and
        those of a DataFrame (of pandas or polars) whose dtype is one of categories.  A mapping from index or name to a
        number K (codes 0, ..., K - 1) or to a list also declares categories that the training data lacks.  A value that
        is not a category of its feature counts as missing, with a warning where a column has no other values; 1, 1.0
        and True are the same category, "1" is another.  Dates are refused as continuous features: turn them
        into numbers first.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied; ``"balanced"``: the inverse of their
        frequencies.
    warm_start : bool, default=False
        Whether `fit` adds trees to those that there are, up to `n_estimators`; the training data must be the same.
        With the same seed they are the trees that a larger forest would have.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; None: one, -1: one per core.  The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where `X` has names.
    features_ : joints.features.Features
        Names and categories of the columns.
    forest_ : joints.forest.arrays.Forest
        The trees as flat arrays.
    training_data_ : joints.forest.arrays.TrainingData
        The encoded training rows, for surrogate splits and for `joints.GenerativeForestClassifier.from_forest`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from joints import ForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict([[5.1, np.nan, 1.4, np.nan]])
    array([0])
    >>> forest.predict_proba([[np.nan, np.nan, 5.5, np.nan]], missing="surrogate").round(1)
    array([[0., 0., 1.]])
    """

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "max_features": "sqrt",
        "redraw": False,
        "purity": 0.99,
        "category_order": "published",
        "surrogates": "published",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [AT_LEAST_ONE],
        "max_features": [
            StrOptions({"sqrt"}),
            AT_LEAST_ONE,
            Number(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "redraw": ["boolean"],
        "purity": [Number(Real, 0, 1, closed="right")],
        "min_samples_leaf": [AT_LEAST_ONE],
        "max_depth": [Number(Integral, 0, None, closed="left"), None],
        "bootstrap": ["boolean"],
        "category_order": [StrOptions({"published", "proportion"})],
        "surrogates": [StrOptions({"published", "text"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "warm_start": ["boolean"],
        **SHARED,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = "sqrt",
        redraw: bool = False,
        purity: float = 0.99,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        bootstrap: bool = True,
        category_order: str = "proportion",
        surrogates: str = "text",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.redraw = redraw
        self.purity = purity
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.category_order = category_order
        self.surrogates = surrogates
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ForestClassifier:
        """Grow the forest.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: whole numbers are as good as rows that are repeated (but for the bootstrap
            samples, which have each row times its weight); others are scaled to a mean of one.  `min_samples_leaf` is
            compared with the sum of weights.

        Returns
        -------
        self
        """
        self._validate_params()
        grown, before = self._grown_so_far(), dict(vars(self))
        self._take_training_data(X, y, sample_weight)
        if grown is None:
            self._random = deepcopy(check_random_state(self.random_state))  # what the next seeds are drawn from
        elif not self.training_data_.same_rows(grown[1]):
            self.__dict__ = before
            raise ValueError("warm_start adds trees to a forest grown on the same rows, but the training data changed.")
        n_grown = grown[0].n_trees if grown else 0
        random = check_random_state(self.random_state) if grown is None else deepcopy(self._random)
        seeds = tree_seeds(random, self.n_estimators)
        if n_grown < self.n_estimators:
            more = self._grow(seeds[n_grown:])
            self.forest_ = append_trees(grown[0], more) if grown else more
        return self

    def _grown_so_far(self) -> tuple[Forest, TrainingData] | None:
        """The trees to which others are added, and what they were grown on."""
        if not (self.warm_start and hasattr(self, "forest_")):
            return None
        if self.n_estimators < self.forest_.n_trees:
            raise ValueError(
                f"n_estimators is {self.n_estimators}, but with warm_start there are {self.forest_.n_trees} trees "
                "already."
            )
        return self.forest_, self.training_data_

    def _grow(self, seeds: np.ndarray) -> Forest:
        return grow_forest(
            self.training_data_,
            seeds,
            max_features=self.max_features_,
            redraw=self.redraw,
            purity=self.purity,
            min_samples_leaf=self.min_samples_leaf,
            max_depth=self.max_depth,
            category_order=self.category_order,
            n_jobs=self.n_jobs,
        )

    def _take_training_data(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Everything of a fitted forest but its trees."""
        codes = fit_table(self, X)
        classes = fit_classes(self, y, len(codes))
        data = TrainingData(
            codes, classes, len(self.classes_), self.features_.n_categories, bootstrap=bool(self.bootstrap)
        )
        self.training_data_ = data.weighted(fit_weights(self, sample_weight, classes))
        if len(self.classes_) > MOST_CLASSES:
            raise ValueError(f"y has {len(self.classes_)} classes; at most {MOST_CLASSES} are supported.")
        self.max_features_ = features_per_split(self.max_features, codes.shape[1])
        self._surrogates: Surrogates | None = None

    def find_surrogates(self) -> Surrogates:
        """The stand-in splits of every node; found once, when they are first needed."""
        check_is_fitted(self)
        if self._surrogates is None:
            self._surrogates = find_surrogates(
                self.forest_, self.training_data_, self.surrogates, self.max_features_, self.redraw, self.n_jobs
            )
        return self._surrogates

    def predict_proba(self, X: Any, missing: str = "friedman") -> np.ndarray:
        """Class probabilities: the average of the trees' class frequencies.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        missing : {"friedman", "surrogate"}, default="friedman"
            Where the feature of a split is missing, follow both branches and add the counts of the reached leaves, or
            follow the best stand-in split that is available.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        check_option("missing", missing, MISSING_METHODS)
        codes = encode_table(self, X)
        forest = self.forest_
        incomplete = np.isnan(codes).any(axis=1)
        out = np.empty((len(codes), len(self.classes_)))
        if missing == "friedman" and incomplete.any():
            out[incomplete] = friedman_proba(codes[incomplete], forest, self.features_.n_categories, self.n_jobs)
            out[~incomplete] = self._route(complete_proba, codes[~incomplete])
            return out
        if incomplete.any():
            return self._route(surrogate_proba, codes, self.find_surrogates())
        return self._route(complete_proba, codes)

    def _route(self, kernel: Any, codes: np.ndarray, *more: Surrogates) -> np.ndarray:
        forest = self.forest_
        counts = forest.leaf_counts
        proba = counts / counts.sum(axis=1, keepdims=True)
        out = np.empty((len(codes), counts.shape[1]))
        # few large blocks: a tree stays in the cache while many rows pass through it
        size = -(-len(codes) // effective_n_jobs(self.n_jobs)) or 1

        def one(first: int, last: int) -> None:
            kernel(codes[first:last], forest, proba, *more, out[first:last])

        run(one, blocks(len(codes), size), self.n_jobs)
        return out

    def predict(self, X: Any, missing: str = "friedman") -> np.ndarray:
        """The most probable class; see `predict_proba`."""
        proba = self.predict_proba(X, missing)
        return self.classes_[proba.argmax(axis=1)]


def features_per_split(max_features: Any, n_features: int) -> int:
    """`max_features` as a number between 1 and the number of features."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, round(np.sqrt(n_features)))
    if isinstance(max_features, (int, np.integer)):
        if max_features > n_features:
            raise ValueError(f"max_features is {max_features}, but X has only {n_features} features.")
        return int(max_features)
    return max(1, int(max_features * n_features))
