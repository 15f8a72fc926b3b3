"""Generative Forests as a scikit-learn classifier: GeF and GeF+ (sections 3 to 5 of the paper)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from joints.circuit.choosing import Choice, Search, nothing_left_out, table_of
from joints.circuit.estimator import CircuitClassifier
from joints.circuit.infer import Combine
from joints.circuit.learnspn import Variables, learn_leaves
from joints.circuit.leaves import SMALLEST_SD, Leaves, RowsOfTree, fit_leaves
from joints.features import fit_classes, fit_table
from joints.forest.arrays import Forest, TrainingData
from joints.forest.classifier import ForestClassifier
from joints.parameters import AT_LEAST_ONE, Number, Published

WAYS = StrOptions({"average", "mixture"}), Number(Real, 0, None, closed="neither")  # see `combine`

# the leaf densities behind the paper's numbers, for standardised features
PUBLISHED_DENSITIES: dict[str, Any] = {
    "combine": "average",
    "min_sd": 1.0,
    "relative_sd": False,
    "smoothing": 1e-6,
    "count_missing": True,
    "min_rows": 30,
    "threshold": 0.001,
    "truncate": False,
}


class GenerativeForestClassifier(Published, CircuitClassifier):
    """A random forest read as a probabilistic circuit: a joint distribution over features and class.

    Every decision node is a sum node weighted by the fractions of training rows, every leaf a product of univariate
    densities with the leaf's cell as support.  Complete rows get exactly the answer of the random forest (Theorem 1 of
    the paper); missing features are marginalised exactly, whatever their pattern (with ``truncate=True``, as by
    default).  By default the forest chooses how smooth its leaves are and how its trees answer together, by the class
    log-loss of training rows of which random features are removed, each answered by the trees that did not see it: at
    most 1,000 rows are asked, so large tables cost little more.  ``GenerativeForestClassifier.published()`` has the
    settings behind the paper's numbers; its GeF+ has ``combine="mixture"``.  Values of continuous features may be as
    large as 1e150; Gaussians have standard deviations of at least 1e-150.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    leaves : {"factorised", "lspn"}, default="factorised"
        The density in a leaf: a product of univariate densities, or a circuit over features and class learned by
        LearnSPN where the leaf has more than `min_rows` rows.
    combine : {"auto", "average", "mixture"}, float, or a pair of these but "auto", default="auto"
        How the trees answer together: the average of their conditional distributions p(y | x) (GeF), the conditional
        distribution of their uniform mixture (GeF+), or, for a number k, the average with trees weighing by
        p(observed features)^(k / number of them), at most by p itself: by the evidence of k features, so to say.  A
        pair has one of these for incomplete and one for complete rows.  ``"auto"``: chosen, for complete rows by
        themselves, so that no more of them go wrong out of bag than in the forest itself.  Complete rows get exactly
        the forest's own answer from the average alone.
    min_sd : "auto" or float, default="auto"
        Smallest standard deviation of a leaf's Gaussian, in units of the feature's standard deviation in the training
        data (so 1 for the paper's standardised features).  ``"auto"``: chosen.
    relative_sd : bool, default=True
        Whether `min_sd` is in that unit; False: in the feature's own, as for pixels, some of which hardly ever vary.
    smoothing : "auto" or float, default="auto"
        Added to the count of each category in the leaf's cell.  ``"auto"``: chosen.
    objective : {"log_loss", "likelihood"}, default="log_loss"
        What is best where something is chosen: the log-loss of the class, or, for densities and samples, the
        likelihood of the observed features.
    count_missing : bool, default=False
        Whether training rows without a value of a categorical feature count in the total by which its counts are
        divided.  True reproduces the published numbers; a leaf then gives less to values that its rows often lack, and
        p(x) sums to less than one.
    min_rows : int, default=30
        LearnSPN is for leaves with more rows than this.
    threshold : float, default=0.001
        LearnSPN holds two variables dependent when the p-value of their test is below this.
    truncate : bool, default=True
        Whether LearnSPN's densities are cut to the leaf's cell, as those of factorised leaves are, which makes
        marginals exact with ``leaves="lspn"``.  False reproduces the published numbers; what a density has outside of
        the cell is then lost, so p(x) integrates to less than one, and leaves lose different shares: on iris (with 100
        trees) 0.4 of the mass; with half of the values missing class probabilities move by 0.01 on average, 0.05 at
        most.
    max_features, redraw, purity, min_samples_leaf, max_depth, bootstrap, category_order, categorical_features, \
class_weight, warm_start, random_state, n_jobs
        As in `joints.ForestClassifier`.  What is chosen depends on neither `n_jobs` nor the order of the work.
    verbose : int, default=0
        Above 0, the search prints what it tries.

    Attributes
    ----------
    min_sd_, smoothing_, combine_ : float, float, str or float or a pair of these
        What was chosen, or given: a forest with these settings and the same `random_state` is the same.
    oob_log_loss_, oob_score_ : float
        Log-loss and accuracy of that choice on the training rows with features removed, each answered by the trees that
        did not see it.  (None where nothing was to be chosen, or nothing could be.)
    tried_ : dict of ndarrays
        Everything that was tried, for ``pandas.DataFrame(tried_)`` or `joints.render.choice_plot.draw_choice`.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where `X` has names.
    features_ : joints.features.Features
        Names and categories of the columns.
    forest_ : joints.forest.arrays.Forest
        The trees as flat arrays.
    leaves_ : joints.circuit.leaves.Leaves
        The leaf densities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from joints import GenerativeForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> gef = GenerativeForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> gef.predict([[5.1, np.nan, 1.4, np.nan]])
    array([0])
    >>> gef.predict_proba(np.full((1, 4), np.nan)).round(2)  # nothing observed: the class prior
    array([[0.33, 0.33, 0.33]])
    >>> gef.score_samples(X[:1]) > gef.score_samples(X[:1] + 5)  # unlike anything in the training data
    array([ True])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: kinds for name, kinds in ForestClassifier._parameter_constraints.items() if name != "surrogates"},
        **CircuitClassifier._parameter_constraints,
        "leaves": [StrOptions({"factorised", "lspn"})],
        "combine": [StrOptions({"auto"}), *WAYS, tuple],
        "min_sd": [StrOptions({"auto"}), *CircuitClassifier._parameter_constraints["min_sd"]],
        "smoothing": [StrOptions({"auto"}), *CircuitClassifier._parameter_constraints["smoothing"]],
        "objective": [StrOptions({"log_loss", "likelihood"})],
        "verbose": ["verbose"],
        "min_rows": [AT_LEAST_ONE],
        "truncate": ["boolean"],
    }
    PUBLISHED: ClassVar[dict[str, Any]] = {
        **{name: value for name, value in ForestClassifier.PUBLISHED.items() if name != "surrogates"},
        **PUBLISHED_DENSITIES,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        leaves: str = "factorised",
        combine: Combine = "auto",
        min_sd: float | str = "auto",
        relative_sd: bool = True,
        smoothing: float | str = "auto",
        objective: str = "log_loss",
        count_missing: bool = False,
        min_rows: int = 30,
        threshold: float = 0.001,
        truncate: bool = True,
        max_features: Any = "sqrt",
        redraw: bool = False,
        purity: float = 0.99,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        bootstrap: bool = True,
        category_order: str = "proportion",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_estimators = n_estimators
        self.leaves = leaves
        self.combine = combine
        self.min_sd = min_sd
        self.relative_sd = relative_sd
        self.smoothing = smoothing
        self.objective = objective
        self.count_missing = count_missing
        self.min_rows = min_rows
        self.threshold = threshold
        self.truncate = truncate
        self.max_features = max_features
        self.redraw = redraw
        self.purity = purity
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.category_order = category_order
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _validate_params(self) -> None:
        super()._validate_params()
        if not isinstance(self.combine, tuple):
            return
        if len(self.combine) != 2:
            raise ValueError(
                f"combine has {len(self.combine)} parts: give one for incomplete and one for complete rows."
            )
        for way in self.combine:
            validate_parameter_constraints({"combine": [*WAYS]}, {"combine": way}, type(self).__name__)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GenerativeForestClassifier:
        """Grow a forest and learn its leaf densities.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts, in growing trees and in learning densities; LearnSPN learns from rows that are
            repeated as often, rounded.

        Returns
        -------
        self
        """
        self._validate_params()
        own = {name: getattr(self, name) for name in self._forest_parameters()}
        if not (self.warm_start and hasattr(self, "_grown")):
            self._grown = ForestClassifier()
        forest = self._grown.set_params(**own).fit(X, y, sample_weight)
        if not self.warm_start:
            del self._grown  # it would keep the training data
        return self._take_over(forest)

    @classmethod
    def _forest_parameters(cls) -> list[str]:
        """The parameters that are those of the forest: all of `ForestClassifier`'s that appear here too."""
        return [name for name in ForestClassifier._get_param_names() if name in cls._get_param_names()]

    @classmethod
    def from_forest(cls, forest: ForestClassifier, **parameters: Any) -> GenerativeForestClassifier:
        """The Generative Forest of a fitted forest, without growing it again.

        Parameters
        ----------
        forest : fitted ForestClassifier
        **parameters
            Those that are not the forest's own: `leaves`, `combine`, `min_sd`, `relative_sd`, `smoothing`,
            `objective`, `count_missing`, `min_rows`, `threshold`, `truncate`, `verbose`.
        """
        check_is_fitted(forest)
        generative = cls(**{name: getattr(forest, name) for name in cls._forest_parameters()}, **parameters)
        generative._validate_params()
        return generative._take_over(forest)

    @classmethod
    def from_sklearn(cls, model: Any, X: Any, y: Any, **parameters: Any) -> GenerativeForestClassifier:
        """The Generative Forest of a scikit-learn forest or tree, with the data that it was fitted on.

        Complete rows get the model's own predictions, incomplete rows exact marginals.  A model fitted on missing
        values may have leaves that only rows without a value of a feature reach.  Rows that have one do not reach them,
        here neither; where the feature is missing they count, and `sample` draws it from around the feature's mean over
        all training rows.

        Parameters
        ----------
        model : fitted RandomForestClassifier, ExtraTreesClassifier or DecisionTreeClassifier
        X : array or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **parameters
            Those of `from_forest`, `categorical_features` (for features that the model saw as numbers 0, ..., K - 1)
            and `n_jobs`.  Here `combine` is ``"average"`` by default, for the model's own predictions.
        """
        from joints.circuit.from_sklearn import convert  # here: it imports all of scikit-learn's forests

        generative = cls(**{"combine": "average", **parameters})
        generative._validate_params()
        codes = fit_table(generative, X)
        classes = fit_classes(generative, y, len(codes))
        generative._check_codes_are_values()
        n_categories = generative.features_.n_categories
        forest, leaves, weights = convert(model, codes, classes, n_categories)
        generative.n_estimators = forest.n_trees
        data = TrainingData(codes, classes, len(generative.classes_), n_categories, bootstrap=False)
        return generative._convert(forest, data, lambda tree: (leaves[tree], weights[tree]))

    def _check_codes_are_values(self) -> None:
        for name, categories in zip(self.features_.names, self.features_.categories, strict=True):
            if categories is not None and not (
                categories.dtype.kind in "iufb" and np.array_equal(categories, np.arange(len(categories)))
            ):
                raise ValueError(
                    f"Feature {name!r} has categories other than 0, ..., K - 1: a scikit-learn model splits numbers, "
                    "so declare its categories as a mapping from the feature to their number."
                )

    def _take_over(self, forest: ForestClassifier) -> GenerativeForestClassifier:
        for name in ("classes_", "features_", "n_features_in_", "feature_names_in_"):
            if hasattr(forest, name):
                setattr(self, name, getattr(forest, name))
        return self._convert(forest.forest_, forest.training_data_)

    def _convert(
        self, forest: Forest, data: TrainingData, rows_of_tree: RowsOfTree | None = None
    ) -> GenerativeForestClassifier:
        self.forest_ = forest
        given = Choice(self.min_sd, self.smoothing, self.combine)
        self.oob_log_loss_: float | None = None
        self.oob_score_: float | None = None
        self.tried_: dict[str, np.ndarray] = {}
        if "auto" not in given:
            self.min_sd_, self.smoothing_, self.combine_ = given
            self.leaves_ = self._learn(data, rows_of_tree, *given[:2], self.leaves)
        else:
            self._choose(given, data, rows_of_tree)
        return self

    def _choose(self, given: Choice, data: TrainingData, rows_of_tree: RowsOfTree | None) -> None:
        """Choose what is not given, and learn the leaves accordingly."""
        search = Search(
            self.forest_,
            data,
            given,
            self.objective,
            relative_sd=self.relative_sd,
            truncate=self.leaves == "lspn" and self.truncate,
            rows_of_tree=rows_of_tree,
            verbose=self.verbose,
            n_jobs=self.n_jobs,
        )
        if not len(search.questions.y):
            self.min_sd_, self.smoothing_, self.combine_ = nothing_left_out(given)
            self.leaves_ = self._learn(data, rows_of_tree, self.min_sd_, self.smoothing_, self.leaves)
            return

        def learn(smoothing: float, leaves: str = self.leaves) -> Leaves:
            return self._learn(data, rows_of_tree, SMALLEST_SD, smoothing, leaves)

        if self.leaves == "lspn" and given.smoothing == "auto" and data.n_categories.any():
            # circuits are learned once, with the smoothing that is best for factorised leaves
            found, _ = search.choose(lambda smoothing: learn(smoothing, "factorised"), "factorised")
            search.given = given._replace(smoothing=found.smoothing)
        best, self.leaves_ = search.choose(learn, self.leaves)
        self.min_sd_, self.smoothing_ = best.min_sd, best.smoothing
        self.combine_ = search.combine(best, self.leaves_)
        self.oob_log_loss_, self.oob_score_, self.tried_ = best.log_loss, best.score, table_of(search.trials)

    def _learn(
        self, data: TrainingData, rows_of_tree: RowsOfTree | None, min_sd: float, smoothing: float, leaves: str
    ) -> Leaves:
        """Leaf densities of this kind with these settings."""
        factorised = fit_leaves(
            self.forest_,
            data,
            min_sd=min_sd,
            relative_sd=self.relative_sd,
            smoothing=smoothing,
            count_missing=self.count_missing,
            rows_of_tree=rows_of_tree,
            n_jobs=self.n_jobs,
        )
        if leaves == "factorised":
            return factorised
        return learn_leaves(
            self.forest_,
            data,
            factorised,
            Variables.of(data, min_sd, smoothing, self.threshold, self.relative_sd, self.count_missing),
            min_rows=self.min_rows,
            truncate=self.truncate,
            rows_of_tree=rows_of_tree,
            n_jobs=self.n_jobs,
        )
