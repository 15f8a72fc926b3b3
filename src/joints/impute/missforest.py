"""MissForest without leakage: the forests see the training fold, and only the filled values go round.

The original algorithm (Stekhoven and Bühlmann, 2012) regrows its forests on the table that it fills.  The paper
keeps those of the training fold and repeats only the prediction (appendix C), which is what `MissForestImputer` does;
the original algorithm is needed all the same, for training folds with missing values of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from joints.impute.imputer import TableImputer, fill_cells, seed_from
from joints.impute.predictors import ColumnForest, grow_compiled, grow_with_scikit_learn
from joints.impute.trees import RankedTable, rank_column, rank_values
from joints.parameters import AT_LEAST_ONE

# Fills the cells of one feature in some rows: (feature, rows) -> None
Update = Callable[[int, np.ndarray], None]

NO_ROWS = np.empty(0, dtype=np.int64)


class MissForestImputer(TableImputer):
    """Fill missing values with what forests predict from the other features, again and again.

    `fit` learns one forest per feature, from the training rows alone.  `transform` starts at the training mean or most
    frequent category and predicts the missing cells again, feature by feature, for at most `max_iter` rounds or until
    the change no longer falls, and gives the round before the last.  The change of a round is Σ (new - old)² / Σ new²
    over the continuous features, and the fraction of missing categories that were altered; the rounds go on while
    either one falls.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees of each forest.
    max_iter : int, default=10
        Number of rounds at most.
    scope : {"batch", "row"}, default="batch"
        What the stopping rule looks at.  ``"batch"`` is the published rule: all rows of `X` together, features in the
        order of their number of missing cells (equal ones from left to right).  ``"row"`` stops each row by itself,
        features from left to right, so that a row's result does not depend on the rows it comes with.
    predictor : {"compiled", "scikit-learn"}, default="compiled"
        ``"scikit-learn"`` fits its `RandomForestRegressor` (all features tried at a node) and
        `RandomForestClassifier` (square root) with their default settings.  ``"compiled"`` grows the same kind of
        forests several times faster, from the same bootstrap samples; they differ in the features drawn at a node,
        where two features split it equally well, and where a feature of more than 128 values would cut off less than
        about a hundredth of a node's rows: features are compared by bins of rows first.
    categorical_features : "from_dtype", None, mask, indices, names, or mapping, default="from_dtype"
        Which columns hold categories; see :func:`joints.features.describe_features`.
    n_jobs : int, default=None
        Number of threads; None means one unless in a joblib context, -1 means all.  Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the forests.  As in the published code, every feature's forest has the same one.
    verbose : int, default=0
        1 shows the progress of `fit`, 2 also that of the rounds.

    Attributes
    ----------
    forests_ : list of (ColumnForest or None)
        One per feature; None where no training row has a value, or there is no other feature.
    statistics_ : ndarray of shape (n_features,)
        The first guess of each feature.
    n_iter_ : int
        Rounds made on the training table; one where it had nothing to fill.
    features_ : joints.features.Features
        Names and categories of the columns.
    n_features_in_ : int

    Notes
    -----
    Missing training values are first filled by the original algorithm, within the training fold; the forests are
    then learned from all rows of the filled table.

    References
    ----------
    D. J. Stekhoven and P. Bühlmann. MissForest: non-parametric missing value imputation for mixed-type data.
    Bioinformatics 28(1), 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from joints.impute import MissForestImputer
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> imputer = MissForestImputer(random_state=0).fit(np.column_stack([x, 2 * x]))
    >>> imputer.transform([[0.5, np.nan], [np.nan, 1.0]]).round(1)
    array([[0.5, 1. ],
           [0.5, 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TableImputer._parameter_constraints,
        "n_estimators": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
        "scope": [StrOptions({"batch", "row"})],
        "predictor": [StrOptions({"compiled", "scikit-learn"})],
        "verbose": ["verbose"],
    }

    forests_: list[ColumnForest | None]
    n_iter_: int
    _seed: int

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_iter: int = 10,
        scope: str = "batch",
        predictor: str = "compiled",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_iter = max_iter
        self.scope = scope
        self.predictor = predictor
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, table: np.ndarray) -> None:
        self._seed = seed_from(self.random_state)
        observed = ~np.isnan(table)
        known = observed.any(axis=0)
        self.n_iter_ = self._fill_training(table, ~observed & known)
        fill_cells(table, ~known, self.statistics_)

        ranked = self._ranked(table)
        rows = np.arange(len(table))
        self.forests_ = []
        for j, name in enumerate(self.features_.names):
            start = perf_counter()
            usable = known[j] and table.shape[1] > 1
            self.forests_.append(self._grow(table, ranked, rows, j) if usable else None)
            if self.verbose:
                print(
                    f"[MissForest] forest {j + 1} of {table.shape[1]} ({name}): {perf_counter() - start:.2f} s",
                    flush=True,
                )

    def _ranked(self, table: np.ndarray) -> RankedTable | None:
        return rank_values(table) if self.predictor == "compiled" else None

    def _grow(
        self, table: np.ndarray, ranked: RankedTable | None, rows: np.ndarray, target: int, asked: np.ndarray = NO_ROWS
    ) -> ColumnForest:
        """Grow a feature's forest on some rows; if others are asked for, it need not predict any but these."""
        categorical = bool(self.features_.n_categories[target] > 0)
        settings = (target, categorical, int(self.n_estimators), self._seed, self.n_jobs)
        if ranked is None:
            return grow_with_scikit_learn(table[rows], *settings)
        return grow_compiled(table, ranked, rows, asked, *settings)

    def _fill_training(self, table: np.ndarray, missing: np.ndarray) -> int:
        """The original algorithm: grow a feature's forest on the rows that have it, and predict the others."""
        if not missing.any():
            return 1
        fill_cells(table, np.isnan(table), self.statistics_)
        ranked = self._ranked(table)

        def update(j: int, rows: np.ndarray) -> None:
            start = perf_counter()
            if table.shape[1] > 1:
                forest = self._grow(table, ranked, np.flatnonzero(~missing[:, j]), j, asked=rows)
                table[rows, j] = forest.predict(table, rows, self.n_jobs)
                if ranked is not None:
                    rank_column(ranked, table, j)
            if self.verbose:
                name = self.features_.names[j]
                print(f"[MissForest] training table, {name}: {perf_counter() - start:.2f} s", flush=True)

        return _iterate(table, missing, self.features_.n_categories, update, self.max_iter, "batch", self.verbose)

    def _impute(self, table: np.ndarray) -> None:
        missing = np.isnan(table)
        if not missing.any():
            return
        fill_cells(table, missing, self.statistics_)
        # A prediction stands until another cell of its row changes.
        changed = np.zeros(len(table), dtype=np.int64)
        predicted = np.full(table.shape, -1, dtype=np.int64)
        clock = 0

        def update(j: int, rows: np.ndarray) -> None:
            nonlocal clock
            forest = self.forests_[j]
            if forest is None:
                return
            clock += 1
            rows = rows[changed[rows] > predicted[rows, j]]
            values = forest.predict(table, rows, self.n_jobs)
            changed[rows[values != table[rows, j]]] = clock
            predicted[rows, j] = clock
            table[rows, j] = values

        _iterate(table, missing, self.features_.n_categories, update, self.max_iter, self.scope, self.verbose)


def _iterate(
    table: np.ndarray,
    missing: np.ndarray,
    n_categories: np.ndarray,
    update: Update,
    max_iter: int,
    scope: str,
    verbose: int,
) -> int:
    """Update the missing cells round by round, leave the round before the last in `table`, and count the rounds.

    With ``scope="row"`` each row has rounds of its own.
    """
    n_missing = missing.sum(axis=0)
    order = np.argsort(n_missing, kind="stable") if scope == "batch" else np.arange(table.shape[1])
    order = order[n_missing[order] > 0]
    going = missing.any(axis=1)
    result = table.copy()
    previous = (np.array(np.inf), np.array(np.inf))
    for n_rounds in range(1, max_iter + 1):
        before = table.copy()
        for j in order:
            update(j, np.flatnonzero(missing[:, j] & going))
        result[going] = before[going]
        change = _change(table, before, missing, n_categories, None if scope == "batch" else 1)
        if verbose > 1:
            print(f"[MissForest] round {n_rounds}: {going.sum()} rows", flush=True)
        going &= (change[0] < previous[0]) | (change[1] < previous[1])
        previous = change
        if not going.any():
            break
    table[:] = result
    return n_rounds


def _change(
    table: np.ndarray, before: np.ndarray, missing: np.ndarray, n_categories: np.ndarray, axis: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Change of the continuous and of the categorical features; NaN, which never falls, where there is nothing."""
    continuous = n_categories == 0
    new, old = table[:, continuous], before[:, continuous]
    altered = (table != before)[:, ~continuous]
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.sum((new - old) ** 2, axis=axis) / np.sum(new**2, axis=axis)
        categories = np.sum(altered, axis=axis) / np.sum(missing[:, ~continuous], axis=axis)
    return squares, categories
