"""Imputation by a Generative Forest: conditional means and modes, or draws for multiple imputation.

The forest has no class to learn.  Its trees tell the rows of the table from rows whose cells are shuffled within their
columns (Breiman's unsupervised forest; Watson et al. 2023), so that their leaves follow the dependence between the
features; all answers are given the class of the table's own rows.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from joints.circuit import sampling
from joints.circuit.evidence import Given
from joints.circuit.generative import GenerativeForestClassifier
from joints.circuit.mixtures import cut_moments
from joints.circuit.posterior import Posterior, gaussians_of, in_parts, posterior, probabilities_of
from joints.features import encode_table
from joints.impute.imputer import TableImputer, fill_cells
from joints.parameters import AT_LEAST_ONE, SHARED, Number

REAL = 1.0  # the class of the table's own rows
COMBINE = 2.0  # trees count by the evidence of two features: between GeF, whose errors are larger, and GeF+, too sure


class GenerativeForestImputer(TableImputer):
    """Fill missing values from the joint distribution that a Generative Forest has of the table.

    `transform` fills in the mean of a continuous feature and the most probable category of a categorical one, given all
    that is observed in the row; `draw` fills in draws from the joint distribution, several times for multiple
    imputation.  Where features nearly determine each other, MissForest's values are closer to the truth.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    min_sd : float, default=0.1
        Smallest standard deviation of a leaf's Gaussian, in units of the feature's own in the training table.
    min_samples_leaf : int, default=2
        Fewest rows of a leaf.
    categorical_features : "from_dtype", None, mask, indices, names, or mapping, default="from_dtype"
        Which columns hold categories; see :func:`joints.features.describe_features`.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; None: one, -1: one per core.

    Attributes
    ----------
    model_ : joints.GenerativeForestClassifier
        The forest, on encoded rows; class 1 are those of the table.
    statistics_ : ndarray of shape (n_features,)
        Means and most frequent codes, for features without any value.
    features_ : joints.features.Features
        Names and categories of the columns.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from joints.impute import GenerativeForestImputer
    >>> X = load_iris().data
    >>> imputer = GenerativeForestImputer(20, random_state=0).fit(X)
    >>> imputer.transform([[5.1, np.nan, 1.4, 0.2]]).round(1)
    array([[5.1, 3.5, 1.4, 0.2]])
    >>> len(imputer.draw([[5.1, np.nan, 1.4, 0.2]], n_draws=3, random_state=0))
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        "n_estimators": [AT_LEAST_ONE],
        "min_sd": [Number(Real, 0, None, closed="neither")],
        "min_samples_leaf": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        min_sd: float = 0.1,
        min_samples_leaf: int = 2,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_sd = min_sd
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, table: np.ndarray) -> None:
        random = check_random_state(self.random_state)
        shuffled = np.column_stack([random.permutation(column) for column in table.T])
        n_categories = self.features_.n_categories
        self.model_ = GenerativeForestClassifier(
            self.n_estimators,
            combine=COMBINE,
            smoothing=1e-6,
            min_sd=self.min_sd,
            min_samples_leaf=self.min_samples_leaf,
            categorical_features={j: int(k) for j, k in enumerate(n_categories) if k},
            random_state=random.randint(np.iinfo(np.int32).max),
            n_jobs=self.n_jobs,
        ).fit(np.concatenate([table, shuffled]), np.repeat([int(REAL), 0], len(table)))

    def _given(self, table: np.ndarray) -> Given:
        n_categories = self.features_.n_categories
        return Given.values(table, n_categories, 2, np.full(len(table), REAL))

    def _impute(self, table: np.ndarray) -> None:
        missing = np.isnan(table)
        rows = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))  # means are best where nothing is observed
        model, given = self.model_, self._given(table[rows])
        for here, part in in_parts(given, model.forest_):
            found = posterior(part, -1, model.forest_, model.leaves_, model.combine_, self.n_jobs)
            self._fill(table, rows[here], found, part.start)
        fill_cells(table, np.isnan(table), self.statistics_)

    def _fill(self, table: np.ndarray, rows: np.ndarray, found: Posterior, start: np.ndarray) -> None:
        """Fill the missing cells of some rows, given the leaves that they come from."""
        forest, leaves, n_categories = self.model_.forest_, self.model_.leaves_, self.features_.n_categories
        for f in np.flatnonzero(np.isnan(table[rows]).any(axis=0)):
            categories = self.features_.categories[f]
            if categories is not None and not len(categories):
                continue
            missing = np.isnan(table[rows, f])
            if n_categories[f]:
                values = found.sum_of(probabilities_of(int(f), leaves, start)).argmax(axis=1)
            else:
                values = found.sum_of(cut_moments(gaussians_of(int(f), forest, leaves, n_categories))[0])
            table[rows[missing], f] = values[missing]

    def draw(self, X: Any, n_draws: int = 1, random_state: Any = None) -> list[Any]:
        """Complete a table several times, by draws from the joint distribution of what is missing.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        n_draws : int, default=1
            How many tables to make.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        list of `n_draws` tables like those of `transform`
        """
        check_is_fitted(self, "features_")
        if not AT_LEAST_ONE.is_satisfied_by(n_draws):
            raise ValueError(f"n_draws is {n_draws!r}: give a number of at least 1.")
        table, random = encode_table(self, X), check_random_state(random_state)
        rows, model = np.flatnonzero(np.isnan(table).any(axis=1)), self.model_
        tables = [table.copy() for _ in range(n_draws)]
        given = self._given(table[rows])
        for here, part in in_parts(given, model.forest_):
            found = posterior(part, -1, model.forest_, model.leaves_, model.combine_, self.n_jobs)
            chosen = sampling.draw_leaves(found, n_draws, random)
            drawn, _ = sampling.sample(part, chosen, model.forest_, model.leaves_, random)
            for i, one in enumerate(tables):
                one[rows[here]] = drawn[i::n_draws]
        for one in tables:
            fill_cells(one, np.isnan(one), self.statistics_)
        return [self.features_.table(one, like=X) for one in tables]
