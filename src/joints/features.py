"""The types of a table's columns, and how cells become numbers.

Every estimator of the package works on one kind of array: float64, one row per sample, NaN where a value is missing,
continuous features as they are and categorical ones as codes 0, ..., K - 1 (the paper's appendix C).  This module
builds that array from what users have: NumPy arrays or pandas tables, with categorical columns named by index, name,
mask, dtype or domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

Categories = np.ndarray | None  # the values of a categorical feature in the order of their codes; None: continuous


@dataclass(frozen=True)
class Features:
    """The columns of a fitted estimator.

    Attributes
    ----------
    names : list of str
        One name per column; for arrays without names, ``x0``, ``x1``, ...
    categories : list of (ndarray or None)
        For a categorical feature its values in the order of their codes; None for a continuous one.
    """

    names: list[str]
    categories: list[Categories]

    @property
    def n_categories(self) -> np.ndarray:
        """Number of categories of each feature, 0 where it is continuous; int64 of shape (n_features,)."""
        return np.array([0 if c is None else len(c) for c in self.categories], dtype=np.int64)

    def encode(self, X: Any) -> np.ndarray:
        """The table as float64 codes of shape (n_samples, n_features).

        A value that is not a category of its feature (never seen in `fit`, nor declared) counts as missing.
        """
        n_rows = X.shape[0]
        out = np.empty((n_rows, len(self.names)), dtype=np.float64)
        for j, categories in enumerate(self.categories):
            column = _column(X, j)
            out[:, j] = _floats(column, self.names[j]) if categories is None else _codes(column, categories)
        return out

    def decode(self, codes: np.ndarray) -> list[np.ndarray]:
        """The columns of an encoded table in the users' own values (NaN where missing)."""
        columns: list[np.ndarray] = []
        for j, categories in enumerate(self.categories):
            column = codes[:, j]
            if categories is None or len(categories) == 0:
                columns.append(column.copy())
                continue
            missing = np.isnan(column)
            values = categories[np.where(missing, 0, column).astype(np.int64)]
            if missing.any():
                values = values.astype(np.float64 if values.dtype.kind in "iuf" else object)
                values[missing] = np.nan
            columns.append(values)
        return columns

    def table(self, codes: np.ndarray, frame: bool) -> np.ndarray | pd.DataFrame:
        """The encoded table in the users' own values: a DataFrame, or an array (of objects if not all are numbers)."""
        columns = self.decode(codes)
        if frame:
            return pd.DataFrame(
                {
                    name: column if categories is None else pd.Categorical(column, categories=categories)
                    for name, column, categories in zip(self.names, columns, self.categories, strict=True)
                }
            )
        return as_matrix(columns)


def as_matrix(columns: list[np.ndarray], numbers: str = "iuf") -> np.ndarray:
    """Columns as one array: float64 if all their dtypes are of the kinds in `numbers`, else objects."""
    numeric = all(column.dtype.kind in numbers for column in columns)
    out = np.empty((len(columns[0]), len(columns)), dtype=np.float64 if numeric else object)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


def describe_features(X: Any, categorical_features: Any = "from_dtype") -> Features:
    """Find out which columns are categorical, and their categories.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
    categorical_features : "from_dtype", None, mask, indices, names, or mapping
        ``"from_dtype"``: pandas columns of dtype ``category``.  A mapping from index or name to a number K
        (codes 0, ..., K - 1) or to a list of values also declares categories that do not occur in `X`.  Otherwise the
        categories are those of a pandas categorical, or else the sorted values found in `X`.
    """
    names = _names(X)
    domains = _domains(names, X, categorical_features)
    categories: list[Categories] = []
    for j, name in enumerate(names):
        if j not in domains:
            categories.append(None)
            continue
        declared = domains[j]
        if declared is None:
            column = _column(X, j)
            if isinstance(column, pd.Series) and isinstance(column.dtype, pd.CategoricalDtype):
                values = np.asarray(column.cat.categories)
            else:
                values = _distinct(column)
        elif isinstance(declared, (int, np.integer)):
            values = np.arange(int(declared), dtype=np.float64)
        else:
            values = np.asarray(declared)
            if len(values) != len(set(values.tolist())):
                raise ValueError(f"categorical_features lists a category of feature {name!r} twice.")
        categories.append(values)
    return Features(names, categories)


def _names(X: Any) -> list[str]:
    if isinstance(X, pd.DataFrame):
        return [str(name) for name in X.columns]
    return [f"x{j}" for j in range(X.shape[1])]


def _domains(names: list[str], X: Any, spec: Any) -> dict[int, Any]:
    """Categorical feature index -> declared domain (None: found in the data)."""
    if spec is None:
        return {}
    if isinstance(spec, str):
        if spec != "from_dtype":
            raise ValueError(
                f"categorical_features is {spec!r}: give 'from_dtype', None, indices, names, a mask or a mapping."
            )
        if not isinstance(X, pd.DataFrame):
            return {}
        return {j: None for j, dtype in enumerate(X.dtypes) if isinstance(dtype, pd.CategoricalDtype)}
    if isinstance(spec, Mapping):
        return {_index(key, names): domain for key, domain in spec.items()}
    items = np.asarray(spec)
    if items.ndim != 1:
        raise ValueError(f"categorical_features has {items.ndim} dimensions: give a flat list.")
    if items.dtype == bool:
        if len(items) != len(names):
            raise ValueError(f"categorical_features is a mask of {len(items)} entries for {len(names)} features.")
        items = np.flatnonzero(items)
    return {_index(key, names): None for key in items.tolist()}


def _index(key: Any, names: list[str]) -> int:
    if isinstance(key, str):
        if key not in names:
            raise ValueError(f"categorical_features names {key!r}, which is not a feature of X.")
        return names.index(key)
    index = int(key)
    if index != key or not -len(names) <= index < len(names):
        raise ValueError(f"categorical_features has index {key!r}, but X has {len(names)} features.")
    return index % len(names)


def _column(X: Any, j: int) -> Any:
    return X.iloc[:, j] if isinstance(X, pd.DataFrame) else X[:, j]


def _floats(column: Any, name: str) -> np.ndarray:
    try:
        values = pd.to_numeric(column) if isinstance(column, pd.Series) else np.asarray(column, dtype=np.float64)
        out = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Feature {name!r} is continuous but holds values that are not numbers ({error}): "
            "name it in categorical_features, or turn it into numbers."
        ) from None
    if np.isinf(out).any():
        raise ValueError(f"Input X contains infinity in feature {name!r}: replace it by a number or by NaN.")
    return out


def _distinct(column: Any) -> np.ndarray:
    values = pd.Series(column).dropna().unique()
    try:
        return np.sort(np.asarray(values))
    except TypeError:  # values of several types, such as 1 and "one"
        return np.array(sorted(values, key=lambda value: (type(value).__name__, value)), dtype=object)


def _codes(column: Any, categories: np.ndarray) -> np.ndarray:
    values = pd.Series(column)
    codes = pd.Index(categories).get_indexer(pd.Index(values)).astype(np.float64)
    codes[(codes < 0) | values.isna().to_numpy()] = np.nan
    return codes


def fit_table(estimator: Any, X: Any) -> np.ndarray:
    """Encode the training table of a scikit-learn estimator, setting its `features_` and `n_features_in_`."""
    X = _validated(estimator, X, reset=True)
    estimator.features_ = describe_features(X, getattr(estimator, "categorical_features", None))
    return estimator.features_.encode(X)


def encode_table(estimator: Any, X: Any) -> np.ndarray:
    """Encode a table for a fitted estimator, after scikit-learn's checks of width and column names."""
    return estimator.features_.encode(_validated(estimator, X, reset=False))


def _validated(estimator: Any, X: Any, reset: bool) -> Any:
    if isinstance(X, pd.DataFrame):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if reset and 0 in X.shape:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) (shape={X.shape}) "
                "while a minimum of 1 is required."
            )
        return X
    declared = getattr(estimator, "categorical_features", None)
    if not (declared is None or isinstance(declared, str)) and getattr(X, "dtype", None) == np.dtype(object):
        # there may be strings among the cells: columns are converted one by one
        return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    return validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")


def fit_classes(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    """Encode the class column of a scikit-learn classifier as 0, ..., K - 1, setting its `classes_`."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(y)]}")
    if pd.isna(y).any():
        raise ValueError("Input y contains NaN: every training row needs a class.")
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int64)
