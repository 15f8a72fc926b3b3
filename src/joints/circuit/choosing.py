"""Choosing how smooth the leaves are and how the trees answer together, from the training data alone.

Leaves of deep trees hold few rows, so the smallest standard deviation of their Gaussians is the bandwidth of a kernel
density: it decides how good the answers are, and no value suits all data.  Here questions are put to the forest:
training rows of which random features are removed, from all but one of them to none.  Only the trees that did not see a
row answer, as in the out-of-bag estimates of random forests, so nothing is held out and no second forest is grown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from joints.circuit.infer import Targets, ask_trees, tree_weights
from joints.circuit.leaves import (
    Leaves,
    RowsOfTree,
    cells_of_tree,
    feature_moments,
    gaussian_entries,
    smallest_sds,
)
from joints.forest.arrays import Forest, TrainingData
from joints.forest.reach import Rows
from joints.numerics.compiled import kernel
from joints.numerics.threads import run

MOST_QUESTIONS = 1000  # whatever the size of the table
MOST_ANSWERS = 1 << 24  # numbers that the trees' answers to all questions may take: 128 MiB
WIDTHS = 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125  # then the two values halfway to the neighbours of the best
SMOOTHINGS = 0.1, 1.0, 0.01, 1e-6  # the first is that of the search for a width
STRENGTHS = 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, np.inf
SMALLEST_PROBABILITY, SMALLEST_LOG = 1e-6, -700.0  # so that no single row decides


class Settings(NamedTuple):
    """What can be chosen; see `joints.GenerativeForestClassifier`."""

    min_sd: Any
    smoothing: Any
    combine: Any


PUBLISHED = Settings(1.0, 1e-6, "average")


class Trial(NamedTuple):
    """One choice that was tried, and how well it does on rows that the answering trees did not see."""

    min_sd: float
    smoothing: float
    combine: str | float
    log_loss: float
    score: float
    log_likelihood: float


class Questions(NamedTuple):
    """Training rows with features removed.

    Attributes
    ----------
    X, y : float64 of shape (n_questions, n_features), int64 of shape (n_questions,)
    left_out : bool of shape (n_trees, n_questions)
        Whether a tree did not see the row.
    """

    X: np.ndarray
    y: np.ndarray
    left_out: np.ndarray

    @classmethod
    def draw(cls, forest: Forest, data: TrainingData, rows_of_tree: RowsOfTree | None, n_jobs: int | None) -> Questions:
        """At most 1,000 questions, and not more than twice the rows; about rows that at least one tree did not see.

        They depend on the seeds of the trees alone.
        """

        def weights(tree: int) -> np.ndarray:
            return rows_of_tree(tree)[1] if rows_of_tree else data.weights(forest.seeds[tree])

        left_out = np.array(run(weights, [(tree,) for tree in range(forest.n_trees)], n_jobs)) == 0
        random = np.random.default_rng(forest.seeds)
        rows = random.permutation(np.flatnonzero(left_out.any(axis=0)))
        most = max(1, MOST_ANSWERS // (forest.n_trees * data.n_classes))
        rows = np.concatenate([rows, rows])[: min(MOST_QUESTIONS, most)]
        return cls(_without_some(data.X[rows], random), data.y[rows], left_out[:, rows])


def _without_some(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows of which between one and all of the observed features are kept, each number as likely as the others."""
    place = np.where(np.isnan(X), np.inf, random.uniform(size=X.shape)).argsort(axis=1).argsort(axis=1)
    kept = random.integers(1, np.maximum((~np.isnan(X)).sum(axis=1), 1), endpoint=True)
    return np.where(place < kept[:, None], X, np.nan)


@kernel
def _widen_leaves(parameters, offset, n_categories, smallest_sd, cells):
    """Raise the standard deviations of one tree's factorised leaves to the smallest ones, in place."""
    for leaf in range(len(parameters)):
        for f in range(len(n_categories)):
            o = offset[f]
            if n_categories[f] == 0 and sqrt(-0.5 / parameters[leaf, o + 1]) < smallest_sd[f]:
                low, high, out = cells.low[leaf, f], cells.high[leaf, f], parameters[leaf, o : o + 3]
                gaussian_entries(out[0], smallest_sd[f], low, high, out)


@kernel
def _widen_circuits(circuits, first, cells, truncate, n_categories, smallest_sd):
    """The same for those leaves of a tree, from leaf `first` on, that are circuits; their peaks change with them."""
    peaks, parameters = circuits.peaks, circuits.parameters
    for leaf in range(len(cells.low)):
        c = circuits.of_leaf[first + leaf]
        if c < 0:
            continue
        begin, end = circuits.node_start[c], circuits.node_start[c + 1]
        factors = range(circuits.factor_start[begin], circuits.factor_start[end])
        for j in factors:
            u, o = circuits.factor_variable[j], circuits.factor_offset[j]
            if n_categories[u] == 0:
                peaks[c, u] = -np.inf
                if sqrt(-0.5 / parameters[o + 1]) < smallest_sd[u]:
                    low = cells.low[leaf, u] if truncate else -np.inf
                    high = cells.high[leaf, u] if truncate else np.inf
                    gaussian_entries(parameters[o], smallest_sd[u], low, high, parameters[o : o + 3])
        for j in factors:
            u, o = circuits.factor_variable[j], circuits.factor_offset[j]
            if n_categories[u] == 0:
                peaks[c, u] = max(peaks[c, u], parameters[o + 2])


def widen(
    leaves: Leaves,
    forest: Forest,
    n_categories: np.ndarray,
    smallest_sd: np.ndarray,
    truncate: bool,
    n_jobs: int | None,
) -> Leaves:
    """Leaves whose Gaussians have at least these standard deviations, as if they had been learned so."""
    circuits = leaves.circuits._replace(
        parameters=leaves.circuits.parameters.copy(), peaks=leaves.circuits.peaks.copy()
    )
    out = leaves._replace(parameters=leaves.parameters.copy(), circuits=circuits)
    has_circuits = len(circuits.parent) > 0
    with_class = np.append(n_categories, leaves.class_proba.shape[1])

    def one(tree: int) -> None:
        first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        cells = cells_of_tree(forest, tree, n_categories)
        _widen_leaves(out.parameters[first:last], out.offset, n_categories, smallest_sd, cells)
        if has_circuits:
            _widen_circuits(circuits, first, cells, truncate, with_class, smallest_sd)

    run(one, [(tree,) for tree in range(forest.n_trees)], n_jobs)
    return out


Learn = Callable[[float], Leaves]  # smoothing -> leaves with the smallest standard deviations there are


class Search:
    """The search for settings of one forest.

    Parameters
    ----------
    forest : Forest
    data : TrainingData
    given : mapping from the fields of `Settings` to what the user gave, ``"auto"`` for what is to be chosen
    objective : {"log_loss", "likelihood"}
    relative_sd, truncate : bool
        As in `joints.GenerativeForestClassifier`.
    rows_of_tree : function, default=None
        Where the forest was not grown by `joints.forest.arrays.grow_forest`.
    verbose : int, default=0
        Above 0, every trial is printed.
    n_jobs : int or None, default=None
    """

    def __init__(
        self,
        forest: Forest,
        data: TrainingData,
        given: Settings,
        objective: str,
        *,
        relative_sd: bool,
        truncate: bool,
        rows_of_tree: RowsOfTree | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.forest, self.data, self.given, self.objective = forest, data, given, objective
        self.truncate, self.relative_sd, self.verbose, self.n_jobs = truncate, relative_sd, verbose, n_jobs
        self.sd = feature_moments(data)[1]
        self.questions = Questions.draw(forest, data, rows_of_tree, n_jobs)
        self.n_observed = (~np.isnan(self.questions.X)).sum(axis=1)
        self.trials: list[Trial] = []

    def leaves(self, raw: Leaves, min_sd: float) -> Leaves:
        """The leaves with this smallest standard deviation."""
        smallest_sd = smallest_sds(self.sd, min_sd, self.relative_sd)
        return widen(raw, self.forest, self.data.n_categories, smallest_sd, self.truncate, self.n_jobs)

    def choose(self, learn: Learn) -> tuple[Trial, Leaves]:
        """The best of what was tried, and the leaves that belong to it."""
        n_categories, given = self.data.n_categories, self.given
        smoothings = SMOOTHINGS if given.smoothing == "auto" and n_categories.any() else (given.smoothing,)
        if smoothings == ("auto",):
            smoothings = (PUBLISHED.smoothing,)
        raw = learn(smoothings[0])
        best = self._best(self._try(raw, min_sd, smoothings[0]) for min_sd in self._widths())
        if given.min_sd == "auto" and not n_categories.all():
            between = best.min_sd * sqrt(2.0), best.min_sd / sqrt(2.0)
            best = self._best([best, *(self._try(raw, min_sd, smoothings[0]) for min_sd in between)])
        for smoothing in smoothings[1:]:
            other = learn(smoothing)
            found = self._try(other, best.min_sd, smoothing)
            if self._loss(found) < self._loss(best):
                best, raw = found, other
        return best, self.leaves(raw, best.min_sd)

    def _widths(self) -> Iterable[float]:
        if self.given.min_sd != "auto":
            return (self.given.min_sd,)
        if self.data.n_categories.all():
            return (PUBLISHED.min_sd,)
        # in a unit that all features share, where they are not measured in units of their own
        unit = 1.0 if self.relative_sd else float(np.sqrt(np.mean(self.sd[self.data.n_categories == 0] ** 2)))
        return [unit * width for width in WIDTHS]

    def _loss(self, trial: Trial) -> float:
        return trial.log_loss if self.objective == "log_loss" else -trial.log_likelihood

    def _best(self, trials: Iterable[Trial]) -> Trial:
        return min(trials, key=self._loss)

    def _try(self, raw: Leaves, min_sd: float, smoothing: float) -> Trial:
        """Ask all questions; returns the best way to combine the trees."""
        log_evidence, conditional = self._ask(self.leaves(raw, min_sd))
        given = self.given.combine
        ways = STRENGTHS if given == "auto" else (strength_of(given),)
        found = [self._score(log_evidence, conditional, min_sd, smoothing, strength) for strength in ways]
        self.trials += found
        best = min(found, key=lambda trial: trial.log_loss)
        if self.verbose:
            print(
                f"min_sd {best.min_sd:.3g}, smoothing {best.smoothing:g}, combine {best.combine}: log-loss "
                f"{best.log_loss:.4f}, accuracy {best.score:.3f}, log-likelihood {best.log_likelihood:.3f} out of bag"
            )
        return best

    def _ask(self, leaves: Leaves) -> tuple[np.ndarray, np.ndarray]:
        """log p_t(x) and p_t(y | x) by tree and question, the first NaN where a tree saw the row."""
        forest, n_categories = self.forest, self.data.n_categories
        targets = Targets.of(forest, leaves, n_categories)
        X, _, left_out = self.questions
        log_evidence = np.full(left_out.shape, np.nan)
        conditional = np.zeros((*left_out.shape, targets.n))

        def one(tree: int) -> None:
            asked = np.flatnonzero(left_out[tree])
            complete = ~np.isnan(X[asked]).any(axis=1)
            rows = Rows(X[asked], np.arange(len(asked)), complete, int((~complete).sum()))
            sums = ask_trees(rows, forest, leaves, n_categories, targets, tree, tree + 1)
            log_evidence[tree, asked], conditional[tree, asked] = sums.log_evidence(), sums.average

        run(one, [(tree,) for tree in range(forest.n_trees)], self.n_jobs)
        return log_evidence, conditional

    def _score(
        self, log_evidence: np.ndarray, conditional: np.ndarray, min_sd: float, smoothing: float, strength: float
    ) -> Trial:
        y = self.questions.y
        weights = tree_weights(log_evidence, self.n_observed, strength)
        proba = np.einsum("tq,tqk->qk", weights, conditional)
        loss = -np.log(np.maximum(proba[np.arange(len(y)), y], SMALLEST_PROBABILITY)).mean()
        likelihood = np.maximum(_log_mean(log_evidence), SMALLEST_LOG).mean()
        score = (proba.argmax(axis=1) == y).mean()
        return Trial(min_sd, smoothing, combine_of(strength), float(loss), float(score), float(likelihood))


def _log_mean(log_evidence: np.ndarray) -> np.ndarray:
    """log of the mean of p_t(x) over the trees that answer."""
    largest = np.maximum(np.nanmax(log_evidence, axis=0), SMALLEST_LOG)
    return largest + np.log(np.nanmean(np.exp(log_evidence - largest), axis=0) + np.exp(SMALLEST_LOG))


def strength_of(combine: str | float) -> float:
    """The number of features whose evidence weighs the trees."""
    return {"average": 0.0, "mixture": np.inf}[combine] if isinstance(combine, str) else float(combine)


def combine_of(strength: float) -> str | float:
    """The parameter `combine` that stands for this number of features.

    >>> combine_of(0.0), combine_of(2.0), combine_of(np.inf)
    ('average', 2.0, 'mixture')
    """
    return {0.0: "average", np.inf: "mixture"}.get(strength, strength)


def table_of(trials: list[Trial]) -> dict[str, np.ndarray]:
    """The trials as columns."""
    columns = dict(zip(Trial._fields, zip(*trials, strict=True), strict=True))
    return {
        name: np.array(values, dtype=object if name == "combine" else np.float64) for name, values in columns.items()
    }


def nothing_left_out(given: Settings) -> Settings:
    """The published settings in place of what is to be chosen, with a warning."""
    found = Settings(*(old if new == "auto" else new for new, old in zip(given, PUBLISHED, strict=True)))
    warnings.warn(
        "Every tree saw every training row, so that nothing can be chosen out of bag: "
        f"{', '.join(f'{name}={value!r}' for name, value in found._asdict().items())} are used.  "
        "Give them yourself, or grow the forest with bootstrap=True.",
        stacklevel=2,
    )
    return found
