"""What the imputers share: a table with holes goes in, the same table without holes comes out.

A subclass says how to fill an encoded table (`joints.features`); this module does everything around it, so that
observed cells keep their values and filled ones are values that the users know.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from joints.features import Features, encode_table


class TableImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base class: `fit` sets `features_`, and `_impute` fills an encoded table in place."""

    features_: Features

    def transform(self, X: Any) -> Any:
        """Fill the missing cells of a table.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.  A category that `fit` neither saw nor was told of counts as missing.

        Returns
        -------
        X : array or DataFrame of shape (n_samples, n_features)
            The table without missing values.  An array of numbers gives float64; an array with categories that are no
            numbers gives an object array; a DataFrame gives a DataFrame with the same index, columns and categories.
        """
        check_is_fitted(self, "features_")
        table = encode_table(self, X)
        self._impute(table)
        return _decode_like(X, table, self.features_)

    def _impute(self, table: np.ndarray) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _decode_like(X: Any, table: np.ndarray, features: Features) -> Any:
    columns = features.decode(table)
    if isinstance(X, pd.DataFrame):
        series = []
        column: Any
        for j, column in enumerate(columns):
            categories = features.categories[j]
            if categories is not None and isinstance(X.dtypes.iloc[j], pd.CategoricalDtype):
                column = pd.Categorical.from_codes(
                    table[:, j].astype(np.int64), pd.Index(categories), ordered=X.dtypes.iloc[j].ordered
                )
            series.append(pd.Series(column, index=X.index))
        out = pd.concat(series, axis=1) if series else pd.DataFrame(index=X.index)
        out.columns = X.columns
        return out
    if all(column.dtype.kind in "iufb" for column in columns):
        return np.column_stack(columns).astype(np.float64, copy=False)
    cells = np.empty(table.shape, dtype=object)
    for j, column in enumerate(columns):
        cells[:, j] = column
    return cells
