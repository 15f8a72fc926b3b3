"""Generative Forests as a scikit-learn classifier: GeF and GeF+ (sections 3 to 5 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted, column_or_1d

from joints.circuit import sampling
from joints.circuit.from_sklearn import convert
from joints.circuit.infer import Answers, answer
from joints.circuit.leaves import RowsOfTree, fit_leaves
from joints.features import encode_table, fit_classes, fit_table
from joints.forest.arrays import Forest, TrainingData
from joints.forest.classifier import ForestClassifier, check_option

FOREST_PARAMETERS = (
    "n_estimators", "max_features", "purity", "min_samples_leaf", "max_depth", "bootstrap", "category_order",
    "categorical_features", "random_state", "n_jobs",
)  # fmt: skip


class GenerativeForestClassifier(ClassifierMixin, BaseEstimator):
    """A random forest read as a probabilistic circuit: a joint distribution over features and class.

    Every decision node is a sum node weighted by the fractions of training rows, every leaf a product of univariate
    densities with the leaf's cell as support.  Complete rows get exactly the answer of the random forest (Theorem 1 of
    the paper); missing features are marginalised, whatever their pattern.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    leaves : {"factorised"}, default="factorised"
        The density in a leaf.
    combine : {"average", "mixture"}, default="average"
        How the trees answer together: the average of their conditional distributions p(y | x) (GeF), or the
        conditional distribution of their uniform mixture (GeF+).
    min_sd : float, default=1.0
        Smallest standard deviation of a leaf's Gaussian, in units of the feature's standard deviation in the training
        data (so 1 for the paper's standardised features).
    smoothing : float, default=1e-6
        Added to the count of each category in the leaf's cell.
    max_features, purity, min_samples_leaf, max_depth, bootstrap, category_order, categorical_features, random_state, \
n_jobs
        As in `joints.ForestClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where `X` has names.
    features_ : joints.features.Features
        Names and categories of the columns.
    forest_ : joints.forest.arrays.Forest
        The trees as flat arrays.
    leaves_ : joints.circuit.leaves.FactorisedLeaves
        The leaf densities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from joints import GenerativeForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> gef = GenerativeForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> gef.predict([[5.1, np.nan, 1.4, np.nan]])
    array([0])
    >>> gef.predict_proba(np.full((1, 4), np.nan)).round(2)  # nothing observed: the class prior
    array([[0.33, 0.33, 0.33]])
    >>> gef.score_samples(X[:1]) > gef.score_samples(X[:1] + 5)  # unlike anything in the training data
    array([ True])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        leaves: str = "factorised",
        combine: str = "average",
        min_sd: float = 1.0,
        smoothing: float = 1e-6,
        max_features: Any = "sqrt",
        purity: float = 0.99,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        bootstrap: bool = True,
        category_order: str = "published",
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.leaves = leaves
        self.combine = combine
        self.min_sd = min_sd
        self.smoothing = smoothing
        self.max_features = max_features
        self.purity = purity
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.category_order = category_order
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any) -> GenerativeForestClassifier:
        """Grow a forest and learn its leaf densities.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self
        """
        self._check_parameters()
        forest = ForestClassifier(**{name: getattr(self, name) for name in FOREST_PARAMETERS}).fit(X, y)
        return self._take_over(forest)

    @classmethod
    def from_forest(cls, forest: ForestClassifier, **parameters: Any) -> GenerativeForestClassifier:
        """The Generative Forest of a fitted forest, without growing it again.

        Parameters
        ----------
        forest : fitted ForestClassifier
        **parameters
            `leaves`, `combine`, `min_sd`, `smoothing`.
        """
        check_is_fitted(forest)
        generative = cls(**{name: getattr(forest, name) for name in FOREST_PARAMETERS}, **parameters)
        generative._check_parameters()
        return generative._take_over(forest)

    @classmethod
    def from_sklearn(cls, model: Any, X: Any, y: Any, **parameters: Any) -> GenerativeForestClassifier:
        """The Generative Forest of a scikit-learn forest or tree, with the data that it was fitted on.

        Complete rows get the model's own predictions, incomplete rows exact marginals.

        Parameters
        ----------
        model : fitted RandomForestClassifier, ExtraTreesClassifier or DecisionTreeClassifier
        X : array or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **parameters
            `leaves`, `combine`, `min_sd`, `smoothing`, `categorical_features` (for features that the model saw as
            numbers 0, ..., K - 1), `n_jobs`.
        """
        generative = cls(**parameters)
        generative._check_parameters()
        codes = fit_table(generative, X)
        classes = fit_classes(generative, y, len(codes))
        generative._check_codes_are_values(X)
        n_categories = generative.features_.n_categories
        forest, leaves, weights = convert(model, codes, classes, n_categories)
        generative.n_estimators = forest.n_trees
        data = TrainingData(codes, classes, len(generative.classes_), n_categories, bootstrap=False)
        return generative._convert(forest, data, lambda tree: (leaves[tree], weights[tree]))

    def _check_parameters(self) -> None:
        check_option("leaves", self.leaves, ("factorised",))
        check_option("combine", self.combine, ("average", "mixture"))
        check_scalar(self.min_sd, "min_sd", (int, float), min_val=0, include_boundaries="neither")
        check_scalar(self.smoothing, "smoothing", (int, float), min_val=0)

    def _check_codes_are_values(self, X: Any) -> None:
        for name, categories in zip(self.features_.names, self.features_.categories, strict=True):
            if categories is not None and not (
                categories.dtype.kind in "iuf" and np.array_equal(categories, np.arange(len(categories)))
            ):
                raise ValueError(
                    f"Feature {name!r} has categories other than 0, ..., K - 1: a scikit-learn model splits numbers, "
                    "so declare its categories as a mapping from the feature to their number."
                )

    def _take_over(self, forest: ForestClassifier) -> GenerativeForestClassifier:
        for name in ("classes_", "features_", "n_features_in_", "feature_names_in_"):
            if hasattr(forest, name):
                setattr(self, name, getattr(forest, name))
        return self._convert(forest.forest_, forest.training_data_)

    def _convert(
        self, forest: Forest, data: TrainingData, rows_of_tree: RowsOfTree | None = None
    ) -> GenerativeForestClassifier:
        self.forest_ = forest
        self.leaves_ = fit_leaves(
            forest,
            data,
            min_sd=self.min_sd,
            smoothing=self.smoothing,
            rows_of_tree=rows_of_tree,
            n_jobs=self.n_jobs,
        )
        return self

    def answer(self, X: Any) -> Answers:
        """GeF's, GeF+'s and Friedman's answers about the class in one pass; see `joints.circuit.infer.Answers`."""
        check_is_fitted(self)
        return answer(
            encode_table(self, X), self.forest_, self.leaves_, self.features_.n_categories, n_jobs=self.n_jobs
        )

    def predict_proba(self, X: Any, target: int | str | None = None, y: Any = None) -> np.ndarray:
        """The distribution of the class, or of any categorical feature, given the observed features.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        target : int, str or None, default=None
            A categorical feature to predict, by index or name, given the others; its own column is not looked at.
            None: the class.
        y : array-like of shape (n_samples,), default=None
            Classes to condition on, where a feature is predicted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples, n_categories) in the order of
        ``features_.categories[target]``
        """
        check_is_fitted(self)
        codes = encode_table(self, X)
        n_categories = self.features_.n_categories
        if target is None:
            if y is not None:
                raise ValueError("y is given, but the class is what is asked for: give a target feature, or no y.")
            return self._combine(answer(codes, self.forest_, self.leaves_, n_categories, n_jobs=self.n_jobs))
        feature = self._categorical_feature(target)
        codes[:, feature] = np.nan
        start = self.leaves_.offset[feature]
        distribution = np.exp(self.leaves_.parameters[:, start : start + n_categories[feature]])
        ask = (codes, self.forest_, self.leaves_, n_categories, distribution)
        if y is None:
            return self._combine(answer(*ask, n_jobs=self.n_jobs))
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(y) != len(codes) or len(unknown):
            raise ValueError(f"y must give one of the classes of the training data for each row; found {unknown[:3]}.")
        out = np.empty((len(codes), n_categories[feature]))
        for k, label in enumerate(self.classes_):
            rows = np.flatnonzero(y == label)
            if len(rows):
                given = self.leaves_.given_class(k)
                out[rows] = self._combine(
                    answer(codes[rows], self.forest_, given, n_categories, distribution, n_jobs=self.n_jobs)
                )
        return out

    def _combine(self, answers: Answers) -> np.ndarray:
        if self.combine == "average":
            proba = answers.average.copy()
        else:
            largest = answers.log_joint.max(axis=1, keepdims=True)
            proba = np.exp(answers.log_joint - np.where(np.isfinite(largest), largest, 0.0))
        total = proba.sum(axis=1, keepdims=True)
        # nothing in the training data is like this row (only without smoothing): count the leaves, as Friedman does
        return np.where(total > 0, proba / np.where(total > 0, total, 1.0), answers.friedman)

    def predict(self, X: Any, target: int | str | None = None, y: Any = None) -> np.ndarray:
        """The most probable class, or category of the `target` feature; see `predict_proba`."""
        proba = self.predict_proba(X, target, y)
        if target is None:
            return self.classes_[proba.argmax(axis=1)]
        categories = self.features_.categories[self._categorical_feature(target)]
        assert categories is not None
        return categories[proba.argmax(axis=1)]

    def _categorical_feature(self, target: int | str) -> int:
        names = self.features_.names
        if isinstance(target, str):
            if target not in names:
                raise ValueError(f"target is {target!r}, which is not a feature.")
            index = names.index(target)
        else:
            index = int(target)
            if not 0 <= index < len(names):
                raise ValueError(f"target is feature {target}, but there are {len(names)} features.")
        if self.features_.categories[index] is None:
            raise ValueError(f"Feature {names[index]!r} is continuous: only the class and categorical features "
                             "can be predicted.")  # fmt: skip
        return index

    def log_joint(self, X: Any) -> np.ndarray:
        """log p(observed features, class) under the uniform mixture of the trees (GeF+).

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self.answer(X).log_joint

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(observed features) under the uniform mixture of the trees: low for outliers.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return logsumexp(self.log_joint(X), axis=1)

    def sample(self, n_samples: int = 1, given: Any = None, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """Draw rows and their classes from the mixture of the trees.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows; with `given`, for each of its rows.
        given : array or DataFrame of shape (n_given, n_features), default=None
            Rows to complete: observed features stay as they are, missing ones are drawn given them.  The draws for the
            first row come first, then those for the second.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : ndarray or DataFrame of shape (n_samples, n_features), or (n_given * n_samples, n_features)
            In the users' own values: a DataFrame when the training data was one.
        y : ndarray of the same length
        """
        check_is_fitted(self)
        check_scalar(n_samples, "n_samples", (int, np.integer), min_val=1)
        codes = np.full((1, self.n_features_in_), np.nan) if given is None else encode_table(self, given)
        codes, classes = sampling.sample(
            codes, n_samples, self.forest_, self.leaves_, self.features_.n_categories, check_random_state(random_state)
        )
        return self.features_.table(codes, frame=hasattr(self, "feature_names_in_")), self.classes_[classes]
