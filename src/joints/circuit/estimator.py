"""What every circuit can be asked: the inference half of the classifiers that are circuits."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted, column_or_1d

from joints.circuit import sampling
from joints.circuit.infer import Answers, answer, conditional, exact_log_joint
from joints.circuit.leaves import Leaves
from joints.features import Features, encode_table
from joints.forest.arrays import Forest
from joints.parameters import SHARED, Number


class CircuitClassifier(ClassifierMixin, BaseEstimator):
    """A joint distribution over features and class as a forest of sum nodes with densities in its leaves.

    Subclasses set `forest_`, `leaves_`, `features_`, `classes_` in `fit`, and have the parameters that are declared
    here.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "min_sd": [Number(Real, 0, None, closed="neither")],
        "relative_sd": ["boolean"],
        "smoothing": [Number(Real, 0, None, closed="left")],
        "count_missing": ["boolean"],
        "threshold": [Number(Real, 0, 1, closed="both")],
        **SHARED,
    }

    forest_: Forest
    leaves_: Leaves
    features_: Features
    classes_: np.ndarray
    n_features_in_: int
    n_jobs: int | None
    combine_: str | float = "average"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def answer(self, X: Any) -> Answers:
        """GeF's, GeF+'s and Friedman's answers about the class in one pass; see `joints.circuit.infer.Answers`."""
        check_is_fitted(self)
        codes, n_categories = encode_table(self, X), self.features_.n_categories
        return answer(codes, self.forest_, self.leaves_, n_categories, self.n_jobs, self.combine_)

    def predict_proba(self, X: Any, target: int | str | None = None, y: Any = None) -> np.ndarray:
        """The distribution of the class, or of any categorical feature, given the observed features.

        Each row sums to one.  Evidence may have probability zero: values that no leaf has seen with ``smoothing=0``,
        numbers so far off that their density is below the smallest double, a class `y` that was never seen with such
        features.  A tree in which it has then answers by Friedman's method, the frequencies in the leaves that the row
        reaches (with ``combine="mixture"``: where it has in all trees).  If no tree has seen anything like it, `y` is
        disregarded, and if that does not help the answer is the prior of the target.

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
        if target is None:
            if y is not None:
                raise ValueError("y is given, but the class is what is asked for: give a target feature, or no y.")
            return self._conditional(codes)
        feature = self._categorical_feature(target)
        codes[:, feature] = np.nan
        if y is None:
            return self._conditional(codes, feature)
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(y) != len(codes) or len(unknown):
            raise ValueError(f"y must give one of the classes of the training data for each row; found {unknown[:3]}.")
        out = np.empty((len(codes), self.features_.n_categories[feature]))
        for k, label in enumerate(self.classes_):
            rows = np.flatnonzero(y == label)
            if len(rows):
                out[rows] = self._conditional(codes[rows], feature, k)
        return out

    def _conditional(self, codes: np.ndarray, target: int | None = None, given_class: int | None = None) -> np.ndarray:
        n_categories = self.features_.n_categories
        return conditional(
            codes, self.forest_, self.leaves_, n_categories, self.combine_, target, given_class, self.n_jobs
        )

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
        categories = self.features_.categories[index]
        if categories is not None and not len(categories):
            raise ValueError(f"Feature {names[index]!r} had no value in the training data: it has nothing to predict.")
        if categories is None:
            raise ValueError(
                f"Feature {names[index]!r} is continuous: only the class and categorical features can be predicted."
            )
        return index

    def log_joint(self, X: Any) -> np.ndarray:
        """log p(observed features, class) under the uniform mixture of the trees (GeF+).

        Computed in logarithms for each class, however unlikely it is; -inf where the probability is zero.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        n_categories = self.features_.n_categories
        return exact_log_joint(encode_table(self, X), self.forest_, self.leaves_, n_categories, self.n_jobs)

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(observed features) under the uniform mixture of the trees: low for outliers.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return logsumexp(self.answer(X).log_joint, axis=1)

    def sample(self, n_samples: int = 1, given: Any = None, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """Draw rows and their classes from the mixture of the trees.

        Given features of probability zero (see `predict_proba`), what is missing comes from the leaves that the row
        reaches, chosen by their training rows as in Friedman's method.

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
            In the users' own values: a DataFrame, of pandas or polars, when the training data was one.
        y : ndarray of the same length
        """
        check_is_fitted(self)
        check_scalar(n_samples, "n_samples", (int, np.integer), min_val=1)
        codes = np.full((1, self.n_features_in_), np.nan) if given is None else encode_table(self, given)
        codes, classes = sampling.sample(
            codes, n_samples, self.forest_, self.leaves_, self.features_.n_categories, check_random_state(random_state)
        )
        return self.features_.table(codes, like=self.features_.template), self.classes_[classes]
