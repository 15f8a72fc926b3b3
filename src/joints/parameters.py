"""How the estimators check their parameters: scikit-learn's constraints, and what those lack."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions


class Number(Interval):
    """A number in an interval; unlike scikit-learn, which counts True as 1, not a truth value."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, (bool, np.bool_)) and super().is_satisfied_by(val)


AT_LEAST_ONE = Number(Integral, 1, None, closed="left")

# the parameters that all estimators share; `joints.features` compares the first with the table
SHARED: dict[str, list[Any]] = {
    "categorical_features": [StrOptions({"from_dtype"}), "array-like", Mapping, None],
    "n_jobs": [AT_LEAST_ONE, Number(Integral, None, -1, closed="right"), None],
    "random_state": ["random_state"],
}


class Published:
    """A mixin for estimators whose defaults serve users: `PUBLISHED` has the settings behind the paper's numbers."""

    PUBLISHED: ClassVar[dict[str, Any]]

    @classmethod
    def published(cls, **parameters: Any) -> Self:
        """An estimator with the settings that reproduce the paper's numbers; `parameters` come on top of them.

        They are for standardised features, as the paper has them; `PUBLISHED` lists them.
        """
        return cls(**{**cls.PUBLISHED, **parameters})


def check_option(name: str, value: Any, options: tuple[str, ...]) -> None:
    """Refuse a value of an option that is not a parameter of an estimator unless it is one of `options`."""
    if value not in options:
        raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(repr, options))}.")
