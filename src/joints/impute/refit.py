"""The original MissForest, which learns from the rows that it fills.

The paper warns of it: forests that are regrown on test rows have seen the test fold.  `MissForestRefitImputer` runs
missingpy's own algorithm on every table it is given, so that the difference to `MissForestImputer` can be measured.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from joints.impute.imputer import TableImputer, fill_cells, seed_from
from joints.parameters import AT_LEAST_ONE
from joints.patches import missingpy


class MissForestRefitImputer(TableImputer):
    """Fill missing values by missingpy's MissForest, whose forests are grown on the table to be filled.

    From the training fold come only the first guesses.  Needs the extra ``joints[missingpy]``.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees of each forest.
    max_iter : int, default=10
        Number of rounds at most.
    categorical_features : "from_dtype", None, mask, indices, names, or mapping, default="from_dtype"
        Which columns hold categories; see :func:`joints.features.describe_features`.
    n_jobs : int, default=None
        Number of threads of scikit-learn's forests.
    random_state : int, RandomState instance or None, default=None
        Seed of the forests.

    Attributes
    ----------
    training_ : ndarray of shape (n_samples, n_features)
        The training table, encoded.
    statistics_ : ndarray of shape (n_features,)
        What fills a feature that no row to be filled has a value of: missingpy refuses such tables.
    features_ : joints.features.Features
        Names and categories of the columns.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from joints.impute import MissForestRefitImputer
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> X = np.column_stack([x, 2 * x])
    >>> imputer = MissForestRefitImputer(random_state=0).fit(X)
    >>> X[25, 1] = np.nan
    >>> imputer.transform(X)[25].round(1)  # doctest: +SKIP
    array([0.5, 1. ])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TableImputer._parameter_constraints,
        "n_estimators": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
    }

    training_: np.ndarray
    _seed: int

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_iter: int = 10,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_iter = max_iter
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, table: np.ndarray) -> None:
        self._fill_empty_columns(table)
        self.training_ = table
        self._seed = seed_from(self.random_state)

    def _impute(self, table: np.ndarray) -> None:
        self._fill_empty_columns(table)
        if not np.isnan(table).any():
            return
        categorical = np.flatnonzero(self.features_.n_categories)
        algorithm = missingpy.load().MissForest(
            n_estimators=self.n_estimators, max_iter=self.max_iter, n_jobs=self.n_jobs, random_state=self._seed
        )
        with np.errstate(invalid="ignore", divide="ignore"):  # its stopping rule may divide by zero
            algorithm.fit(self.training_, cat_vars=categorical if len(categorical) else None)
            table[:] = algorithm.transform(table)

    def _fill_empty_columns(self, table: np.ndarray) -> None:
        missing = np.isnan(table)
        if table.shape[1] > 1:  # a single column has nothing to be predicted from
            missing &= missing.all(axis=0)
        fill_cells(table, missing, self.statistics_)
