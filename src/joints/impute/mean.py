"""The simplest baseline of the paper's experiments: the mean of a feature, or its most frequent category."""

from __future__ import annotations

from typing import Any

import numpy as np

from joints.features import fit_table
from joints.impute.imputer import TableImputer


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


class MeanImputer(TableImputer):
    """Fill missing values with the training table's mean or most frequent category.

    Parameters
    ----------
    categorical_features : "from_dtype", None, mask, indices, names, or mapping, default="from_dtype"
        Which columns hold categories; see :func:`joints.features.describe_features`.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features,)
        What each feature is filled with, as mean or category code.  Of equally frequent categories the first; 0, or
        the first category, for a feature that no training row has a value of.
    features_ : joints.features.Features
        Names and categories of the columns.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from joints.impute import MeanImputer
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [np.nan, 5.0]])
    >>> MeanImputer(categorical_features=[1]).fit(X).transform([[np.nan, np.nan]])
    array([[2., 2.]])
    """

    statistics_: np.ndarray

    def __init__(self, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any = None) -> MeanImputer:
        """Remember the typical value of each feature.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The training fold; NaN where a value is missing.
        y : ignored

        Returns
        -------
        self : MeanImputer
        """
        table = fit_table(self, X)
        self.statistics_ = typical_values(table, self.features_.n_categories)
        return self

    def _impute(self, table: np.ndarray) -> None:
        rows, columns = np.nonzero(np.isnan(table))
        table[rows, columns] = self.statistics_[columns]
