"""Choosing how smooth the leaves are and how the trees answer together, from the training data alone.

Leaves of deep trees hold few rows, so the smallest standard deviation of their Gaussians is the bandwidth of a kernel
density: it decides how good the answers are, and no value suits all data.  Here questions are put to the forest:
training rows of which random features are removed, from all but one of them to none.  Only the trees that did not see a
row answer, as in the out-of-bag estimates of random forests, so nothing is held out and no second forest is grown.

Complete rows are another matter: the forest itself is good at them.  Trees weigh in their answers only in a way that
gets at least as many of the complete training rows right as the forest's own answer, out of bag again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from joints.circuit.infer import Combine, Way, ask_left_out, strength_of
from joints.circuit.leaves import (
    Leaves,
    RowsOfTree,
    cells_of_tree,
    feature_moments,
    gaussian_entries,
    smallest_sds,
)
from joints.forest.arrays import Forest, TrainingData
from joints.forest.reach import TREES_PER_BLOCK
from joints.numerics.compiled import kernel
from joints.numerics.threads import blocks, run

MOST_QUESTIONS = 1000  # whatever the size of the table
MOST_ANSWERS = 1 << 24  # numbers that the trees' answers to all questions may take: 128 MiB
FIRST_WIDTH, NARROWEST = 0.25, 1 / 256  # where the search begins, and how far it goes; the widest is the published 1
SMOOTHINGS = 0.1, 1.0, 0.01, 1e-6  # the first is that of the search for a width
STRENGTHS = 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, np.inf
SMALLEST_PROBABILITY, SMALLEST_LOG = 1e-6, -700.0  # so that no single row decides


class Choice(NamedTuple):
    """What can be chosen; see `joints.GenerativeForestClassifier`."""

    min_sd: Any
    smoothing: Any
    combine: Any


PUBLISHED = Choice(1.0, 1e-6, "average")


class Trial(NamedTuple):
    """One choice that was tried, and how well it does on rows that the answering trees did not see."""

    min_sd: float
    smoothing: float
    combine: Way
    log_loss: float
    score: float
    log_likelihood: float
    complete: bool  # whether the rows were complete, or features had been removed
    leaves: str  # the kind of leaves


class Questions(NamedTuple):
    """Training rows with features removed.

    Attributes
    ----------
    row : int64 of shape (n_questions,)
        The training rows.
    X, y : float64 of shape (n_questions, n_features), int64 of shape (n_questions,)
    left_out : bool of shape (n_trees, n_questions)
        Whether a tree did not see the row.
    """

    row: np.ndarray
    X: np.ndarray
    y: np.ndarray
    left_out: np.ndarray

    @classmethod
    def draw(cls, forest: Forest, data: TrainingData, rows_of_tree: RowsOfTree | None, n_jobs: int | None) -> Questions:
        """At most 1,000 questions, each about another row that at least one tree did not see.

        They depend on the seeds of the trees alone.
        """

        def weights(tree: int) -> np.ndarray:
            return rows_of_tree(tree)[1] if rows_of_tree else data.weights(forest.seeds[tree])

        left_out = np.array(run(weights, [(tree,) for tree in range(forest.n_trees)], n_jobs)) == 0
        random = np.random.default_rng(forest.seeds)
        rows = random.permutation(np.flatnonzero(left_out.any(axis=0)))
        most = max(1, MOST_ANSWERS // (forest.n_trees * data.n_classes))
        rows = rows[: min(MOST_QUESTIONS, most)]
        return cls(rows, _without_some(data.X[rows], random), data.y[rows], left_out[:, rows])

    def complete(self, data: TrainingData) -> Questions:
        """The same rows with nothing removed, as far as they are complete."""
        kept = np.flatnonzero(~np.isnan(data.X[self.row]).any(axis=1))
        rows = self.row[kept]
        return Questions(rows, data.X[rows], data.y[rows], self.left_out[:, kept])


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


@kernel
def _widen_trees(leaves, forest, first_tree, last_tree, n_categories, smallest_sd, truncate):
    """The same for all leaves of some trees; `n_categories` includes the class."""
    of_features = n_categories[:-1]
    for tree in range(first_tree, last_tree):
        first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        cells = cells_of_tree(forest, tree, of_features)
        _widen_leaves(leaves.parameters[first:last], leaves.offset, of_features, smallest_sd, cells)
        if len(leaves.circuits.parent):
            _widen_circuits(leaves.circuits, first, cells, truncate, n_categories, smallest_sd)


@kernel
def _combine(log_evidence, conditional, n_observed, strengths, out):
    """The trees' answers together, for each strength of `joints.circuit.infer.tree_weights`, into `out`."""
    n_trees, n_questions = log_evidence.shape
    for q in range(n_questions):
        largest = -np.inf
        for t in range(n_trees):
            if log_evidence[t, q] > largest:
                largest = log_evidence[t, q]
        for s in range(len(strengths)):
            power, total = min(1.0, strengths[s] / max(n_observed[q], 1)), 0.0
            for t in range(n_trees):
                if np.isnan(log_evidence[t, q]):
                    continue
                weight = 1.0
                if power > 0.0 and largest > -np.inf:
                    weight = np.exp(power * (log_evidence[t, q] - largest))
                total += weight
                for k in range(out.shape[2]):
                    out[s, q, k] += weight * conditional[t, q, k]
            out[s, q] /= total


def widen(
    leaves: Leaves,
    forest: Forest,
    n_categories: np.ndarray,
    smallest_sd: np.ndarray,
    truncate: bool,
    n_jobs: int | None = None,
) -> Leaves:
    """Leaves whose Gaussians have at least these standard deviations, as if they had been learned so."""
    circuits = leaves.circuits._replace(
        parameters=leaves.circuits.parameters.copy(), peaks=leaves.circuits.peaks.copy()
    )
    out = leaves._replace(parameters=leaves.parameters.copy(), circuits=circuits)
    with_class = np.append(n_categories, leaves.class_proba.shape[1])

    def one(first: int, last: int) -> None:
        _widen_trees(out, forest, first, last, with_class, smallest_sd, truncate)

    run(one, blocks(forest.n_trees, 8 * TREES_PER_BLOCK), n_jobs)
    return out


Learn = Callable[[float], Leaves]  # smoothing -> leaves with the smallest standard deviations there are


class Search:
    """The search for settings of one forest.

    Parameters
    ----------
    forest : Forest
    data : TrainingData
    given : mapping from the fields of `Choice` to what the user gave, ``"auto"`` for what is to be chosen
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
        given: Choice,
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
        self.trials: list[Trial] = []

    def leaves(self, raw: Leaves, min_sd: float) -> Leaves:
        """The leaves with this smallest standard deviation."""
        smallest_sd = smallest_sds(self.sd, min_sd, self.relative_sd)
        return widen(raw, self.forest, self.data.n_categories, smallest_sd, self.truncate, self.n_jobs)

    def choose(self, learn: Learn, kind: str) -> tuple[Trial, Leaves]:
        """The best of what was tried with this kind of leaves, and the leaves that belong to it."""
        self.kind, n_categories, given = kind, self.data.n_categories, self.given
        smoothings = SMOOTHINGS if given.smoothing == "auto" and n_categories.any() else (given.smoothing,)
        if smoothings == ("auto",):
            smoothings = (PUBLISHED.smoothing,)
        raw = learn(smoothings[0])
        best = self._climb(raw, smoothings[0])
        for smoothing in smoothings[1:]:
            other = learn(smoothing)
            found = self._try(other, best.min_sd, smoothing)
            if self._loss(found) < self._loss(best):
                best, raw = found, other
        return best, self.leaves(raw, best.min_sd)

    def _climb(self, raw: Leaves, smoothing: float) -> Trial:
        """The best width: from the first one, by factors of two, in the direction in which it gets better."""
        if self.given.min_sd != "auto":
            return self._try(raw, self.given.min_sd, smoothing)
        if self.data.n_categories.all():
            return self._try(raw, PUBLISHED.min_sd, smoothing)
        # in a unit that all features share, where they are not measured in units of their own
        unit = 1.0 if self.relative_sd else float(np.sqrt(np.mean(self.sd[self.data.n_categories == 0] ** 2)))
        first = best = self._try(raw, unit * FIRST_WIDTH, smoothing)
        for factor in (0.5, 2.0):
            while best is first or (best.min_sd < first.min_sd) == (factor < 1.0):
                min_sd = factor * best.min_sd
                if not NARROWEST <= min_sd / unit <= PUBLISHED.min_sd:
                    break
                found = self._try(raw, min_sd, smoothing)
                if self._loss(found) >= self._loss(best):
                    break
                best = found
        return best

    def _loss(self, trial: Trial) -> float:
        return trial.log_loss if self.objective == "log_loss" else -trial.log_likelihood

    def combine(self, best: Trial, leaves: Leaves) -> Combine:
        """How the trees answer together: as in the best trial, and about complete rows in the way chosen for these."""
        if self.given.combine != "auto":
            return self.given.combine
        questions = self.questions.complete(self.data)
        if not len(questions.y):
            return best.combine
        found = self._ask(questions, leaves, best._replace(complete=True))
        own = next(trial for trial in found if trial.combine == "average")  # the forest's own answer
        chosen = min((trial for trial in found if trial.score >= own.score), key=lambda trial: trial.log_loss)
        self._say(chosen)
        return best.combine if chosen.combine == best.combine else (best.combine, chosen.combine)

    def _try(self, raw: Leaves, min_sd: float, smoothing: float) -> Trial:
        """Ask all questions; returns the best way to combine the trees."""
        nothing = Trial(min_sd, smoothing, "average", np.nan, np.nan, np.nan, complete=False, leaves=self.kind)
        found = self._ask(self.questions, self.leaves(raw, min_sd), nothing)
        best = min(found, key=lambda trial: trial.log_loss)
        self._say(best)
        return best

    def _ask(self, questions: Questions, leaves: Leaves, like: Trial) -> list[Trial]:
        """A trial for each way to combine the trees."""
        (_, X, y, left_out), given = questions, self.given.combine
        log_evidence, conditional = ask_left_out(X, left_out, self.forest, leaves, self.data.n_categories, self.n_jobs)
        way = given[0] if isinstance(given, tuple) else given  # of a pair the one for incomplete rows, as most are
        strengths = np.array(STRENGTHS if way == "auto" else [strength_of(way)])
        proba = np.zeros((len(strengths), len(y), conditional.shape[2]))
        _combine(log_evidence, conditional, (~np.isnan(X)).sum(axis=1), strengths, proba)
        loss = -np.log(np.maximum(proba[:, np.arange(len(y)), y], SMALLEST_PROBABILITY)).mean(axis=1)
        score = (proba.argmax(axis=2) == y).mean(axis=1)
        likelihood = _mean_log_likelihood(log_evidence)
        found = [
            like._replace(combine=combine_of(float(k)), log_loss=float(a), score=float(b), log_likelihood=likelihood)
            for k, a, b in zip(strengths, loss, score, strict=True)
        ]
        self.trials += found
        return found

    def _say(self, best: Trial) -> None:
        if self.verbose:
            print(
                f"{'complete rows: ' if best.complete else ''}min_sd {best.min_sd:.3g}, smoothing {best.smoothing:g}, "
                f"combine {best.combine}: log-loss {best.log_loss:.4f}, accuracy {best.score:.3f}, "
                f"log-likelihood {best.log_likelihood:.3f} out of bag"
            )


def _mean_log_likelihood(log_evidence: np.ndarray) -> float:
    """Mean over the questions of log p(observed features) under the mixture of the trees that answer."""
    answers = ~np.isnan(log_evidence)
    largest = np.maximum(np.where(answers, log_evidence, -np.inf).max(axis=0), SMALLEST_LOG)
    total = np.where(answers, np.exp(log_evidence - largest), 0.0).sum(axis=0)
    logs = largest + np.log(np.maximum(total / answers.sum(axis=0), np.exp(SMALLEST_LOG)))
    return float(np.maximum(logs, SMALLEST_LOG).mean())


def combine_of(strength: float) -> Way:
    """The parameter `combine` that stands for this number of features.

    >>> combine_of(0.0), combine_of(2.0), combine_of(np.inf)
    ('average', 2.0, 'mixture')
    """
    return {0.0: "average", np.inf: "mixture"}.get(strength, strength)


def table_of(trials: list[Trial]) -> dict[str, np.ndarray]:
    """The trials as columns."""
    columns = dict(zip(Trial._fields, zip(*trials, strict=True), strict=True))
    kinds = {"combine": object, "complete": bool, "leaves": object}
    return {name: np.array(values, dtype=kinds.get(name, np.float64)) for name, values in columns.items()}


def nothing_left_out(given: Choice) -> Choice:
    """The published settings in place of what is to be chosen, with a warning."""
    found = Choice(*(old if new == "auto" else new for new, old in zip(given, PUBLISHED, strict=True)))
    warnings.warn(
        "Every tree saw every training row, so that nothing can be chosen out of bag: "
        f"{', '.join(f'{name}={value!r}' for name, value in found._asdict().items())} are used.  "
        "Give them yourself, or grow the forest with bootstrap=True.",
        stacklevel=2,
    )
    return found
