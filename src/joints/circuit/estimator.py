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
from joints.circuit.evidence import Evidence, Given, narrow_to
from joints.circuit.infer import Answers, Combine, answer, conditional, exact_log_joint
from joints.circuit.leaves import Leaves
from joints.circuit.mixtures import Distributions
from joints.circuit.posterior import gaussians_of, in_parts, log_evidence, posterior, probabilities_of
from joints.features import Features, TakesTables, encode_table, feature_index
from joints.forest.arrays import Forest
from joints.parameters import SHARED, Number


class CircuitClassifier(TakesTables, ClassifierMixin, BaseEstimator):
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
    combine_: Combine = "average"

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
        disregarded, and if that does not help the answer is the prior of the target.  Intervals and sets (`Evidence`)
        of probability zero are an error.

        Parameters
        ----------
        X : array, DataFrame or Evidence of shape (n_samples, n_features)
            NaN where a value is missing.
        target : int, str or None, default=None
            A categorical feature to predict, by index or name, given the others; its own column is not looked at.
            None: the class.  For a continuous feature see `distribution`.
        y : class or array-like of shape (n_samples,), default=None
            The class of all rows, or of each, to condition on where a feature is predicted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples, n_categories) in the order of
        ``features_.categories[target]``
        """
        check_is_fitted(self)
        feature = None if target is None else self._feature(target)
        if feature is None and y is not None:
            raise ValueError("y is given, but the class is what is asked for: give a target feature, or no y.")
        if feature is not None and self.features_.categories[feature] is None:
            raise ValueError(
                f"Feature {self.features_.names[feature]!r} is continuous: predict gives its mean, distribution its "
                "density, quantiles and probabilities."
            )
        if isinstance(X, Evidence):
            return self._categorical(self._given(X, y), self.n_features_in_ if feature is None else feature)
        codes = encode_table(self, X)
        if feature is None:
            return self._conditional(codes)
        codes[:, feature] = np.nan
        if y is None:
            return self._conditional(codes, feature)
        classes = self._class_codes(y, len(codes))
        out = np.empty((len(codes), self.features_.n_categories[feature]))
        for k in np.unique(classes).astype(int):
            rows = np.flatnonzero(classes == k)
            out[rows] = self._conditional(codes[rows], feature, k)
        return out

    def _conditional(self, codes: np.ndarray, target: int | None = None, given_class: int | None = None) -> np.ndarray:
        n_categories = self.features_.n_categories
        return conditional(
            codes, self.forest_, self.leaves_, n_categories, self.combine_, target, given_class, self.n_jobs
        )

    def _categorical(self, given: Given, variable: int) -> np.ndarray:
        """The distribution of a categorical variable, or of the class, which is the last one."""
        given = given.without(variable)
        table = probabilities_of(variable, self.leaves_, given.start)
        parts = []
        for rows, part in in_parts(given, self.forest_):
            found = posterior(part, variable, self.forest_, self.leaves_, self.combine_, self.n_jobs)
            _refuse_impossible(found.log_evidence, rows.start)
            parts.append(found.sum_of(table))
        proba = np.concatenate(parts)
        return proba / proba.sum(axis=1, keepdims=True)

    def predict(self, X: Any, target: int | str | None = None, y: Any = None) -> np.ndarray:
        """The most probable class, or category of the `target` feature; of a continuous target its mean.

        Parameters are those of `predict_proba`.
        """
        check_is_fitted(self)
        categories = self.classes_ if target is None else self.features_.categories[self._feature(target)]
        if categories is not None:
            return categories[self.predict_proba(X, target, y).argmax(axis=1)]
        return self._distributions(self._given(X, y), self._feature(target)).mean()

    def distribution(self, X: Any, target: int | str, y: Any = None) -> Distributions:
        """The distribution of a continuous feature given the others: a mixture of Gaussians cut to the leaves' cells.

        Parameters
        ----------
        X : array, DataFrame or Evidence of shape (n_samples, n_features)
            NaN where a value is missing.
        target : int or str
            The feature, by index or name; its own column is not looked at.
        y : class or array-like of shape (n_samples,), default=None
            The class of all rows, or of each, to condition on.

        Returns
        -------
        joints.circuit.mixtures.Distributions
            With `mean`, `std`, `pdf`, `cdf` and `quantile`, each with one answer per row.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from joints import GenerativeForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> gef = GenerativeForestClassifier(20, min_sd=0.1, random_state=0).fit(X, y)
        >>> width = gef.distribution(X[[0, 75]], target=3)
        >>> width.mean().round(1)
        array([0.2, 1.4])
        >>> width.quantile([0.1, 0.9]).shape
        (2, 2)
        """
        check_is_fitted(self)
        feature = self._feature(target)
        if self.features_.categories[feature] is not None:
            raise ValueError(
                f"Feature {self.features_.names[feature]!r} is categorical: predict_proba gives its distribution."
            )
        return self._distributions(self._given(X, y), feature)

    def _distributions(self, given: Given, feature: int) -> Distributions:
        given, found = given.without(feature), []
        for rows, part in in_parts(given, self.forest_):
            found.append(posterior(part, feature, self.forest_, self.leaves_, self.combine_, self.n_jobs))
            if not given.is_plain:
                _refuse_impossible(found[-1].log_evidence, rows.start)
        return Distributions(found, gaussians_of(feature, self.forest_, self.leaves_, self.features_.n_categories))

    def _given(self, X: Any, y: Any = None) -> Given:
        """What rows and their classes say, encoded."""
        evidence = X if isinstance(X, Evidence) else Evidence(X)
        codes = encode_table(self, evidence.X)
        classes = None if y is None else self._class_codes(y, len(codes))
        given = Given.values(codes, self.features_.n_categories, len(self.classes_), classes)
        return narrow_to(given, evidence, self.features_)

    def _class_codes(self, y: Any, n_rows: int) -> np.ndarray:
        """Classes that are given, one for each row or one for all, as codes."""
        y = column_or_1d([y] * n_rows if np.ndim(y) == 0 else y)
        if len(y) != n_rows:
            raise ValueError(f"y has {len(y)} classes for {n_rows} rows: give one class, or one for each row.")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            known = ", ".join(map(repr, self.classes_[:5].tolist())) + (", ..." if len(self.classes_) > 5 else "")
            raise ValueError(f"y has {unknown.tolist()[0]!r}, which is not a class of the training data ({known}).")
        return np.searchsorted(self.classes_, y).astype(np.float64)

    def _feature(self, target: Any) -> int:
        """The place of a feature that can be predicted."""
        index = feature_index(target, self.features_.names, "target")
        categories = self.features_.categories[index]
        if categories is not None and not len(categories):
            name = self.features_.names[index]
            raise ValueError(f"Feature {name!r} had no value in the training data: it has nothing to predict.")
        return index

    def log_joint(self, X: Any) -> np.ndarray:
        """log p(observed features, class) under the uniform mixture of the trees (GeF+).

        Computed in logarithms for each class, however unlikely it is; -inf where the probability is zero.

        Parameters
        ----------
        X : array, DataFrame or Evidence of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if isinstance(X, Evidence):
            given = self._given(X)
            rows = np.arange(len(given.low))
            of_class = [np.full(len(rows), float(k)) for k in range(len(self.classes_))]
            return np.column_stack([self._log_evidence(self._with_class(given, classes)) for classes in of_class])
        n_categories = self.features_.n_categories
        return exact_log_joint(encode_table(self, X), self.forest_, self.leaves_, n_categories, self.n_jobs)

    def _with_class(self, given: Given, classes: np.ndarray) -> Given:
        known = given.without(-1)
        known.low[:, -1] = known.high[:, -1] = classes
        return known

    def _log_evidence(self, given: Given) -> np.ndarray:
        return log_evidence(given, self.forest_, self.leaves_, self.n_jobs)

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(observed features) under the uniform mixture of the trees: low for outliers.

        Parameters
        ----------
        X : array, DataFrame or Evidence of shape (n_samples, n_features)
            NaN where a value is missing.  Values count by their density, intervals and sets by their probability.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if isinstance(X, Evidence):
            return self._log_evidence(self._given(X))
        return logsumexp(self.answer(X).log_joint, axis=1)

    def sample(
        self, n_samples: int = 1, given: Any = None, y: Any = None, random_state: Any = None
    ) -> tuple[Any, np.ndarray]:
        """Draw rows and their classes from the mixture of the trees.

        Given features of probability zero (see `predict_proba`), what is missing comes from the leaves that the row
        reaches, chosen by their training rows as in Friedman's method.  Intervals, sets and classes of probability zero
        are an error.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows; with `given` or several `y`, for each of their rows.
        given : array, DataFrame or Evidence of shape (n_given, n_features), default=None
            Rows to complete: observed features stay as they are, missing ones are drawn given them.  The draws for the
            first row come first, then those for the second.
        y : class or array-like of shape (n_given,), default=None
            The class of all rows, or of each.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : ndarray or DataFrame of shape (n_samples, n_features), or (n_given * n_samples, n_features)
            In the users' own values: a DataFrame, of pandas or polars, when the training data was one.
        y : ndarray of the same length

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from joints import GenerativeForestClassifier
        >>> gef = GenerativeForestClassifier(20, random_state=0).fit(*load_iris(return_X_y=True))
        >>> X, y = gef.sample(3, y=[0, 2], random_state=0)
        >>> X.shape, y
        ((6, 4), array([0, 0, 0, 2, 2, 2]))
        """
        check_is_fitted(self)
        check_scalar(n_samples, "n_samples", (int, np.integer), min_val=1)
        known = self._given_to_sample(given, y)
        random = check_random_state(random_state)
        if y is None and known.is_plain:
            chosen = sampling.draw_leaves_by_tree(known, n_samples, self.forest_, self.leaves_, random, self.n_jobs)
        else:
            found = posterior(known, -1, self.forest_, self.leaves_, "mixture", self.n_jobs)
            _refuse_impossible(found.log_evidence)
            chosen = sampling.draw_leaves(found, n_samples, random)
        codes, classes = sampling.sample(known, chosen, self.forest_, self.leaves_, random)
        return self.features_.table(codes, like=self.features_.template), self.classes_[classes]

    def _given_to_sample(self, given: Any, y: Any) -> Given:
        if given is not None:
            known = self._given(given)
        else:
            n_rows = 1 if y is None or np.ndim(y) == 0 else len(y)
            codes = np.full((n_rows, self.n_features_in_), np.nan)
            known = Given.values(codes, self.features_.n_categories, len(self.classes_), None)
        if y is None:
            return known
        return self._with_class(known, self._class_codes(y, len(known.low)))


def _refuse_impossible(log_evidence: np.ndarray, first: int = 0) -> None:
    impossible = np.flatnonzero(log_evidence == -np.inf)
    if len(impossible):
        raise ValueError(
            f"The evidence about row {first + impossible[0]} has probability zero: nothing follows from it."
        )
