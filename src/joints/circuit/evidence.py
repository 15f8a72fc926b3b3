"""What may be known about a row: values, intervals of continuous features, sets of categories.

`Evidence` is what users write, `Given` what inference reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from joints.features import Features, feature_index

ONE_OF = -1.0  # in the place of a code: the category is one of those allowed


class Evidence:
    """Rows of which some features are known only to lie in an interval, or to be one of several categories.

    The methods of `joints.GenerativeForestClassifier`, `joints.GenerativeForestRegressor` and
    `joints.LearnSPNClassifier` that take rows take this in their place, but for `fit` and `answer`.  The probabilities
    of evidence that cuts a feature's range into parts sum to that of no evidence about it; whether a bound itself
    belongs to an interval does not matter, since densities give it no probability.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
        Values, NaN where there is none.
    between : mapping, default=None
        From a continuous feature, by index or name, to its lower and its upper bound: numbers, or arrays of one number
        per row; infinite or NaN where there is no bound.
    among : mapping, default=None
        From a categorical feature to a list of categories, or to one list per row (None: any category).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from joints import Evidence, GenerativeForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> gef = GenerativeForestClassifier(20, random_state=0).fit(X, y)
    >>> nothing = np.full((1, 4), np.nan)
    >>> short = Evidence(nothing, between={2: (0, 2.5)})
    >>> gef.predict(short)
    array([0])
    >>> long = Evidence(nothing, between={2: (2.5, np.inf)})
    >>> p = np.exp([gef.score_samples(Evidence(nothing, between={2: (-np.inf, 2.5)})), gef.score_samples(long)])
    >>> bool(abs(p.sum() - 1) < 1e-9)
    True
    """

    def __init__(self, X: Any, *, between: Mapping[Any, Any] | None = None, among: Mapping[Any, Any] | None = None):
        for name, given in (("between", between), ("among", among)):
            if given is not None and not isinstance(given, Mapping):
                raise ValueError(f"{name} is {given!r}: give a mapping from features to what is known about them.")
        self.X = X
        self.between = dict(between or {})
        self.among = dict(among or {})

    def __repr__(self) -> str:
        return f"Evidence(X of shape {np.shape(self.X)}, between={self.between!r}, among={self.among!r})"

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(
            "Evidence is more than a table of values: predict, predict_proba, score_samples, sample and the like of "
            "generative models take it; give a plain table here."
        )


class Given(NamedTuple):
    """Evidence about encoded rows; the class is the last variable.

    Attributes
    ----------
    low, high : float64 of shape (n_rows, n_variables)
        Both are the value, or the code of a category, where one is known; the bounds of an interval; `ONE_OF` where
        `allowed` has the categories; NaN where nothing is known.
    allowed : bool of shape (n_rows, sum of categories)
        The categories that are possible, variable after variable; (n_rows, 0) if no variable has `ONE_OF`.
    start : int64 of shape (n_variables + 1,)
        Where the categories of each variable begin; a continuous one has none.
    """

    low: np.ndarray
    high: np.ndarray
    allowed: np.ndarray
    start: np.ndarray

    @classmethod
    def values(cls, codes: np.ndarray, n_categories: np.ndarray, n_classes: int, classes: np.ndarray | None) -> Given:
        """Encoded rows, with their classes if they are known (NaN where not)."""
        rows = np.column_stack([codes, np.full(len(codes), np.nan) if classes is None else classes])
        start = np.concatenate([[0], np.cumsum(n_categories), [n_categories.sum() + n_classes]]).astype(np.int64)
        return cls(rows, rows.copy(), np.empty((len(rows), 0), dtype=np.bool_), start)

    @property
    def is_plain(self) -> bool:
        """Whether there are values only."""
        return not self.allowed.shape[1] and np.array_equal(self.low, self.high, equal_nan=True)

    def without(self, variable: int) -> Given:
        """The same without what is known about one variable."""
        low, high = self.low.copy(), self.high.copy()
        low[:, variable] = high[:, variable] = np.nan
        return self._replace(low=low, high=high)

    def rows(self, where: Any) -> Given:
        """Some of the rows."""
        return Given(self.low[where], self.high[where], self.allowed[where], self.start)


def narrow_to(given: Given, evidence: Evidence, features: Features) -> Given:
    """Add the intervals and sets of some evidence to its encoded values."""
    for key, bounds in evidence.between.items():
        _narrow_to_interval(given, feature_index(key, features.names, "between"), bounds, features)
    if evidence.among:
        given = given._replace(allowed=np.ones((len(given.low), int(given.start[-1])), dtype=np.bool_))
    for key, listed in evidence.among.items():
        _narrow_to_set(given, feature_index(key, features.names, "among"), listed, features)
    return given


def _narrow_to_interval(given: Given, f: int, bounds: Any, features: Features) -> None:
    name, n_rows = features.names[f], len(given.low)
    if features.categories[f] is not None:
        raise ValueError(f"between has feature {name!r}, which is categorical: name its categories in among.")
    try:
        low, high = (np.broadcast_to(np.asarray(bound, dtype=np.float64), n_rows) for bound in bounds)
    except (TypeError, ValueError):
        raise ValueError(
            f"between has {bounds!r} for feature {name!r}: give a lower and an upper bound, numbers or one per row."
        ) from None
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    value = given.low[:, f]
    known = ~np.isnan(value)
    _refuse(~known & (low >= high), f"the interval of feature {name!r} is empty")
    _refuse(known & ((value < low) | (value > high)), f"the value of feature {name!r} is outside of its interval")
    bounded = ~known & (np.isfinite(low) | np.isfinite(high))
    given.low[bounded, f], given.high[bounded, f] = low[bounded], high[bounded]


def _narrow_to_set(given: Given, f: int, listed: Any, features: Features) -> None:
    name, categories = features.names[f], features.categories[f]
    if categories is None:
        raise ValueError(f"among has feature {name!r}, which is continuous: give its bounds in between.")
    code_of = {category: code for code, category in enumerate(categories.tolist())}
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Iterable):
        raise ValueError(f"among has {listed!r} for feature {name!r}: give a list of categories, or one list per row.")
    listed = list(listed)
    per_row = bool(listed) and all(some is None or isinstance(some, (list, tuple, set, frozenset)) for some in listed)
    if per_row and len(listed) != len(given.low):
        raise ValueError(f"among has {len(listed)} lists for feature {name!r}: give one per row, or one for all.")
    allowed = given.allowed[:, given.start[f] : given.start[f + 1]]
    for i, some in enumerate(listed if per_row else [listed]):
        if some is None:
            continue
        unknown = [category for category in some if category not in code_of]
        if unknown:
            raise ValueError(f"among has {unknown[0]!r}, which is not a category of feature {name!r}.")
        mask = np.zeros(len(categories), dtype=np.bool_)
        mask[[code_of[category] for category in some]] = True
        where = slice(i, i + 1) if per_row else slice(None)
        allowed[where] = mask
        known = ~np.isnan(given.low[where, f])
        given.low[where, f] = given.high[where, f] = np.where(known, given.low[where, f], ONE_OF)
    value = given.low[:, f]
    known = value >= 0
    _refuse(~allowed.any(axis=1), f"no category of feature {name!r} is left")
    inside = allowed[np.arange(len(value)), np.where(known, value, 0).astype(np.int64)]
    _refuse(known & ~inside, f"the category of feature {name!r} is not among those listed")


def _refuse(impossible: Any, reason: str) -> None:
    if impossible.any():
        raise ValueError(f"The evidence about row {np.flatnonzero(impossible)[0]} is impossible: {reason}.")
