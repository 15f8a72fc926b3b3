"""The types of a table's columns, and how cells become numbers.

Every estimator of the package works on one kind of array: float64, one row per sample, NaN where a value is missing,
continuous features as they are and categorical ones as codes 0, ..., K - 1 (the paper's appendix C).  This module
builds that array from what users have: arrays, lists, pandas or polars tables, with categorical columns named by index,
name, mask, dtype or domain.  Dates are refused, because as numbers they would depend on the unit they are stored in.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from joints.frames import is_missing, is_pandas, is_polars, pandas, plain_values
from joints.parameters import AT_LEAST_ONE

Categories = np.ndarray | None  # the values of a categorical feature in the order of their codes; None: continuous

DATES = datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64


@dataclass(frozen=True)
class Features:
    """The columns of a fitted estimator.

    Attributes
    ----------
    names : list of str
        One name per column; for arrays without names, ``x0``, ``x1``, ...
    categories : list of (ndarray or None)
        For a categorical feature its values in the order of their codes; None for a continuous one.
    template : DataFrame or None
        Where the table was a DataFrame, that without its rows: its column names and dtypes.
    """

    names: list[str]
    categories: list[Categories]
    template: Any = None

    @property
    def n_categories(self) -> np.ndarray:
        """Number of categories of each feature, 0 where it is continuous; int64 of shape (n_features,).

        Also 0 for a categorical feature without any category: all its values are missing, whatever is made of them.
        """
        return np.array([0 if c is None else len(c) for c in self.categories], dtype=np.int64)

    def encode(self, X: Any) -> np.ndarray:
        """The table as float64 codes of shape (n_samples, n_features).

        A value that is not a category of its feature (never seen in `fit`, nor declared) counts as missing, with a
        warning where a column has no other values.  Values are compared as Python does: 1, 1.0 and True are the same
        category, "1" is another; single and double precision are compared in single precision.
        """
        out = np.empty((X.shape[0], len(self.names)), dtype=np.float64)
        unknown = []
        for j, column in enumerate(_columns(X)):
            categories, name = self.categories[j], self.names[j]
            values = _cells(column)
            missing = is_missing(values)
            if categories is None:
                out[:, j] = _floats(values, missing, name)
                continue
            out[:, j] = _codes(values, missing, categories, name)
            if not missing.all() and np.isnan(out[:, j]).all():
                unknown.append((name, values[~missing].tolist()[0], categories.tolist()))
        if unknown:
            _warn_unknown(*unknown[0], len(unknown) - 1)
        return out

    def decode(self, codes: np.ndarray) -> list[np.ndarray]:
        """The columns of an encoded table in the users' own values (NaN where missing)."""
        columns: list[np.ndarray] = []
        for j, categories in enumerate(self.categories):
            column = codes[:, j]
            if categories is None:
                columns.append(column.copy())
                continue
            if len(categories) == 0:
                columns.append(np.full(len(column), np.nan))
                continue
            missing = np.isnan(column)
            values = categories[np.where(missing, 0, column).astype(np.int64)]
            if missing.any():
                values = values.astype(np.float64 if values.dtype.kind in "iuf" else object)
                values[missing] = np.nan
            columns.append(values)
        return columns

    def table(self, codes: np.ndarray, like: Any) -> Any:
        """The encoded table in the users' own values, in the container of `like`.

        A DataFrame gives a DataFrame with its columns, categories, and index if it has as many rows; anything else an
        array (of objects if not all values are numbers).
        """
        columns = self.decode(codes)
        if is_pandas(like):
            return self._pandas_table(codes, columns, like)
        if is_polars(like):
            return self._polars_table(columns, like)
        return _as_matrix(columns)

    def _pandas_table(self, codes: np.ndarray, columns: list[Any], like: Any) -> Any:
        pd = pandas()
        for j, (categories, dtype) in enumerate(zip(self.categories, like.dtypes, strict=True)):
            if categories is not None and isinstance(dtype, pd.CategoricalDtype):
                places = np.where(np.isnan(codes[:, j]) | (len(categories) == 0), -1, codes[:, j]).astype(np.int64)
                labels: Any = pd.Index(categories)
                columns[j] = pd.Categorical.from_codes(places, labels, ordered=dtype.ordered)
        index = like.index if len(like) == len(codes) else None
        out = pd.DataFrame(dict(enumerate(columns)), index=index)
        out.columns = like.columns
        return out

    def _polars_table(self, columns: list[np.ndarray], like: Any) -> Any:
        cells: dict[str, Any] = dict(zip(like.columns, columns, strict=True))
        categorical = [name for name, c in zip(like.columns, self.categories, strict=True) if c is not None]
        for name in categorical:
            column = cells[name].astype(object)
            column[is_missing(column)] = None
            cells[name] = column.tolist()
        return type(like)(cells).cast({name: like.schema[name] for name in categorical})


def _as_matrix(columns: list[np.ndarray]) -> np.ndarray:
    """Columns as one array: float64 if all are numbers or truth values, else objects."""
    numeric = all(column.dtype.kind in "iufb" for column in columns)
    out = np.empty((len(columns[0]), len(columns)), dtype=np.float64 if numeric else object)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


def describe_features(X: Any, categorical_features: Any = "from_dtype") -> Features:
    """Find out which columns are categorical, and their categories.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
        A DataFrame of pandas or polars.
    categorical_features : "from_dtype", None, mask, indices, names, or mapping
        ``"from_dtype"``: columns of truth values, of text that is not all numbers, and those of a DataFrame whose dtype
        is one of categories.  A mapping from index or name to a number K (codes 0, ..., K - 1) or to a list of values
        also declares categories that do not occur in `X`.  Otherwise the categories are those of the dtype, or else the
        sorted values found in `X`.
    """
    names = _names(X)
    columns = _columns(X)
    categories: list[Categories] = [None] * len(names)
    for j, declared in _domains(names, columns, categorical_features).items():
        categories[j] = _found(columns[j]) if declared is None else _declared(declared, names[j])
    return Features(names, categories, _without_rows(X))


def _columns(X: Any) -> list[Any]:
    if is_pandas(X):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return X.get_columns() if is_polars(X) else list(X.T)


def _names(X: Any) -> list[str]:
    return [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{j}" for j in range(X.shape[1])]


def _without_rows(X: Any) -> Any:
    if is_pandas(X):
        return X.iloc[:0].copy()
    return X.clear() if is_polars(X) else None


def _cells(column: Any) -> np.ndarray:
    return column if isinstance(column, np.ndarray) else column.to_numpy()


def _domains(names: list[str], columns: list[Any], spec: Any) -> dict[int, Any]:
    """Categorical feature index -> declared domain (None: found in the data)."""
    if spec is None:
        return {}
    if isinstance(spec, str):
        if spec != "from_dtype":
            raise ValueError(
                f"categorical_features is {spec!r}: give 'from_dtype', None, indices, names, a mask or a mapping."
            )
        return {j: None for j, column in enumerate(columns) if _of_dtype(column) is not None}
    if isinstance(spec, Mapping):
        domains = {feature_index(key, names, "categorical_features"): domain for key, domain in spec.items()}
        if len(domains) < len(spec):
            raise ValueError("categorical_features names a feature twice.")
        return domains
    items = np.asarray(spec)
    if items.ndim != 1:
        raise ValueError(f"categorical_features has {items.ndim} dimensions: give a flat list.")
    if items.dtype == bool:
        if len(items) != len(names):
            raise ValueError(f"categorical_features is a mask of {len(items)} entries for {len(names)} features.")
        return {j: None for j in np.flatnonzero(items).tolist()}
    return {feature_index(key, names, "categorical_features"): None for key in spec}


def feature_index(key: Any, names: list[str], option: str) -> int:
    """The place of a feature that `option` names or counts."""
    if isinstance(key, str):
        if key not in names:
            raise ValueError(f"{option} names {key!r}, which is not a feature of X.")
        return names.index(key)
    index = next((j for j in range(-len(names), len(names)) if j == key), None)
    if index is None:
        raise ValueError(f"{option} has index {key!r}, but X has {len(names)} features.")
    return index % len(names)


def _declared(domain: Any, name: str) -> np.ndarray:
    """The categories that a mapping declares for a feature."""
    if AT_LEAST_ONE.is_satisfied_by(domain):
        return np.arange(int(domain), dtype=np.float64)
    listed = [] if isinstance(domain, (str, Set)) or not isinstance(domain, Iterable) else list(domain)
    if not listed:
        raise ValueError(
            f"categorical_features gives feature {name!r} the categories {domain!r}: give their number, at least 1, "
            "or a list of them."
        )
    if is_missing(np.array(listed, dtype=object)).any():
        raise ValueError(f"categorical_features lists a missing value as a category of feature {name!r}.")
    if len(listed) != len(set(listed)):
        raise ValueError(f"categorical_features lists a category of feature {name!r} twice.")
    return _array(listed)


def _array(cells: Any) -> np.ndarray:
    """What NumPy makes of a list, but numbers among words stay numbers."""
    array = np.asarray(cells)
    return np.asarray(cells, dtype=object) if array.dtype.kind in "SU" else array


def _found(column: Any) -> np.ndarray:
    """The categories of a column: those of its dtype, or else its sorted values."""
    categories = _of_dtype(column)
    return _distinct(_cells(column)) if categories is None else categories


def _of_dtype(column: Any) -> Categories:
    """The categories of a column's dtype; None if that is not one of categories, truth values or text."""
    dtype = column.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":  # of pandas
        return dtype.categories.to_numpy()
    if kind == "Enum":
        return np.asarray(dtype.categories, dtype=object)
    if kind == "Categorical":  # of polars, which keeps one list for all columns
        return _distinct(column.to_numpy())
    if str(dtype).lower().startswith("bool") or (str(dtype) == "object" and _all_bool(_cells(column))):
        return np.array([False, True])
    return _distinct(_cells(column)) if _is_text(_cells(column)) else None


def _is_text(values: np.ndarray) -> bool:
    """Whether all values are text, and not all of it numbers."""
    if values.dtype.kind not in "OUST":
        return False
    observed = values[~is_missing(values)]
    if len(observed) == 0 or not all(isinstance(value, (str, bytes)) for value in observed):
        return False
    try:
        observed.astype(np.float64)
    except ValueError:
        return True
    return False


def _all_bool(values: np.ndarray) -> bool:
    """Whether all objects are truth values: so pandas keeps a column of them with holes."""
    observed = values[~is_missing(values)]
    return len(observed) > 0 and all(isinstance(value, (bool, np.bool_)) for value in observed)


def _distinct(values: np.ndarray) -> np.ndarray:
    observed = values[~is_missing(values)]
    if observed.dtype != object:
        return np.unique(observed)
    found = dict.fromkeys(observed.tolist())
    try:
        ordered = sorted(found)
    except TypeError:  # values of several types, such as 1 and "one"
        ordered = sorted(found, key=lambda value: (type(value).__name__, value))
    out = np.empty(len(ordered), dtype=object)
    out[:] = ordered
    return out


def _floats(values: np.ndarray, missing: np.ndarray, name: str) -> np.ndarray:
    """The values of a continuous feature, NaN where missing."""
    out = np.full(len(values), np.nan)
    observed = values[~missing]
    if values.dtype.kind in "mM" or (values.dtype == object and any(isinstance(v, _dates()) for v in observed)):
        raise ValueError(
            f"Feature {name!r} holds dates or times: turn them into numbers, such as days since the first of them, or "
            "name it in categorical_features."
        )
    try:
        out[~missing] = observed.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"Feature {name!r} is continuous but holds values that are not numbers ({error}): "
            "name it in categorical_features, or turn it into numbers."
        ) from None
    if np.isinf(out).any():
        raise ValueError(f"Input X contains infinity in feature {name!r}: replace it by a number or by NaN.")
    return out


def _dates() -> tuple[type, ...]:
    return (*DATES, pandas().Period) if pandas() else DATES


def _codes(values: np.ndarray, missing: np.ndarray, categories: np.ndarray, name: str) -> np.ndarray:
    """The codes of a categorical feature, NaN where a value is missing or not a category."""
    if values.dtype.kind == categories.dtype.kind == "f":
        narrow = min(values.dtype, categories.dtype, key=lambda dtype: dtype.itemsize)
        if len(np.unique(categories.astype(narrow))) == len(categories):
            values, categories = values.astype(narrow), categories.astype(narrow)
    if values.dtype == categories.dtype and values.dtype.kind in "iuf" and len(categories):
        order = np.argsort(categories)
        codes = order[np.searchsorted(categories, values, sorter=order).clip(max=len(order) - 1)]
        return np.where(categories[codes] == values, codes, np.nan)
    code_of = {value: code for code, value in enumerate(plain_values(categories))}
    try:
        codes = np.array([code_of.get(value, -1) for value in plain_values(values)], dtype=np.float64)
    except TypeError as error:
        raise TypeError(f"Feature {name!r} holds values that cannot be categories ({error}).") from None
    codes[(codes < 0) | missing] = np.nan
    return codes


def _warn_unknown(name: str, found: Any, categories: list[Any], more: int) -> None:
    known = ", ".join(map(repr, categories[:3])) + (", ..." if len(categories) > 3 else "")
    also = f" (and {more} more {'feature' if more == 1 else 'features'} alike)" if more else ""
    warnings.warn(
        f"No value of feature {name!r}, such as {found!r}, is one of its categories ({known or 'none'}), so that all "
        f"count as missing{also}: are they of another type than in fit?",
        UserWarning,
        stacklevel=4,
    )


class TakesTables:
    """Mixin of estimators whose tables have missing values and categories."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def fit_table(estimator: Any, X: Any) -> np.ndarray:
    """Encode the training table of a scikit-learn estimator, setting its `features_` and `n_features_in_`."""
    X = _validated(estimator, X, reset=True)
    estimator.features_ = describe_features(X, getattr(estimator, "categorical_features", None))
    return estimator.features_.encode(X)


def encode_table(estimator: Any, X: Any) -> np.ndarray:
    """Encode a table for a fitted estimator, after scikit-learn's checks of width and column names."""
    return estimator.features_.encode(_validated(estimator, X, reset=False))


def _validated(estimator: Any, X: Any, reset: bool) -> Any:
    """The table, a DataFrame or an array, after scikit-learn's checks of its shape and names."""
    if is_pandas(X) or is_polars(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if 0 in X.shape:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) (shape={X.shape}) "
                "while a minimum of 1 is required."
            )
        return X
    if isinstance(X, (list, tuple)):
        X = _array(X)
    # columns are converted one by one: there may be words among the cells
    return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)


def _one_per_row(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    """The target of training rows, after scikit-learn's checks."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(y)]}")
    return y


def fit_classes(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    """Encode the class column of a scikit-learn classifier as 0, ..., K - 1, setting its `classes_`."""
    y = _one_per_row(estimator, y, n_rows)
    if is_missing(y).any():
        raise ValueError("Input y contains NaN: every training row needs a class.")
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int64)


def fit_target(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    """The target of a scikit-learn regressor as float64."""
    y = _one_per_row(estimator, y, n_rows)
    target = np.asarray(y, dtype=np.float64)
    if not np.isfinite(target).all():
        raise ValueError("Input y contains NaN or infinity: every training row needs a number.")
    return target


def fit_weights(estimator: Any, sample_weight: Any, classes: np.ndarray) -> np.ndarray | None:
    """How often each training row counts, by its own weight and that of its class; None: all once.

    `classes` are the codes of `fit_classes`; the estimator may have a parameter `class_weight`.
    """
    class_weight = getattr(estimator, "class_weight", None)
    if sample_weight is None and class_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, classes, dtype=np.float64, ensure_non_negative=True)
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, estimator.classes_[classes])
        if not (np.isfinite(weight) & (weight >= 0)).all():
            raise ValueError(f"class_weight is {class_weight!r}: weights are numbers of at least 0.")
    if not weight.any():
        raise ValueError("sample_weight and class_weight leave no row that counts: all weights are zero.")
    return weight
