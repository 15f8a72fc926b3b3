"""The simplest baseline of the paper's experiments: the mean of a feature, or its most frequent category."""

from __future__ import annotations

from typing import Any

import numpy as np

from joints.impute.imputer import TableImputer, fill_cells


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
        the first category, for a feature without any value in the training table.
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

    def __init__(self, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def _impute(self, table: np.ndarray) -> None:
        fill_cells(table, np.isnan(table), self.statistics_)
