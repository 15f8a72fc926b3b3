"""What the imputers share: a table with holes goes in, the same table without holes comes out.

A subclass says what to learn from an encoded table (`joints.features`) and how to fill one; this module does everything
around it, so that observed cells keep their values and filled ones are values that the users know.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from joints.features import Features, encode_table, fit_table
from joints.parameters import SHARED


class TableImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base class: a subclass learns from an encoded table in `_learn`, and fills one in place in `_impute`.

    It adds the constraints of its own parameters to `_parameter_constraints`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = SHARED

    features_: Features
    statistics_: np.ndarray

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the training fold.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The training fold; NaN where a value is missing.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        table = fit_table(self, X)
        self.statistics_ = typical_values(table, self.features_.n_categories)
        self._learn(table)
        return self

    def transform(self, X: Any) -> Any:
        """Fill the missing cells of a table.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.  A category that `fit` neither saw nor was told of counts as missing.

        Returns
        -------
        X : array or DataFrame of shape (n_samples, n_features)
            The table without missing values.  An array of numbers gives float64; an array with categories that are not
            numbers gives an object array; a DataFrame gives a DataFrame with the same index, columns and categories.
            Where `fit` found no value, a continuous feature is filled with 0, and a categorical one stays missing.
        """
        check_is_fitted(self, "features_")
        table = encode_table(self, X)
        self._impute(table)
        return self.features_.table(table, like=X)

    def _learn(self, table: np.ndarray) -> None:
        """Learn from the encoded training table, which may be changed; `features_` and `statistics_` are set."""

    def _impute(self, table: np.ndarray) -> None:
        """Fill the missing cells of an encoded table in place."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def typical_values(table: np.ndarray, n_categories: np.ndarray) -> np.ndarray:
    """The mean of each continuous feature and the most frequent code of each categorical one.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
        Encoded, NaN where missing.
    n_categories : ndarray of shape (n_features,)
        0 where a feature is continuous.

    Returns
    -------
    values : ndarray of shape (n_features,)
        Of equally frequent codes the smallest; 0 where no row has a value.
    """
    values = np.zeros(table.shape[1])
    for j, k in enumerate(n_categories):
        observed = table[~np.isnan(table[:, j]), j]
        if len(observed):
            values[j] = np.bincount(observed.astype(np.int64), minlength=k).argmax() if k else observed.mean()
    return values


def fill_cells(table: np.ndarray, cells: np.ndarray, values: np.ndarray) -> None:
    """Set the cells of a table that a mask names to the value of their column."""
    np.copyto(table, values, where=cells)


def seed_from(random_state: Any) -> int:
    """The seed itself where it is a number, else one drawn from the generator."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
