"""Tables of mixed features with missing values, and a forest evaluated naively: node by node, in Python."""

import numpy as np
from scipy import stats

from joints import GenerativeForestClassifier
from joints.circuit.generative import PUBLISHED_DENSITIES

PUBLISHED = {name: PUBLISHED_DENSITIES[name] for name in ("min_sd", "smoothing", "combine")}


def published(*arguments, **parameters):
    """A GenerativeForestClassifier that chooses nothing: what is not given is as in the paper."""
    return GenerativeForestClassifier(*arguments, **{**PUBLISHED, **parameters})


def published_from(forest, **parameters):
    """The same from a fitted forest."""
    return GenerativeForestClassifier.from_forest(forest, **{**PUBLISHED, **parameters})


def mixed_table(rng, n=120, continuous=2, categories=(3, 2), n_classes=3, missing=0.0):
    """Features that say something about the class, in encoded form: X, y, number of categories."""
    y = rng.integers(0, n_classes, n)
    columns = [rng.normal(y * 0.8 * (-1) ** j, 1.0, n) for j in range(continuous)]
    columns += [np.where(rng.random(n) < 0.5, y % k, rng.integers(0, k, n)).astype(float) for k in categories]
    X = np.column_stack(columns)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, np.array([0] * continuous + list(categories), dtype=np.int64)


def hide(rng, X, rate):
    """The table with each cell missing with probability `rate`."""
    return np.where(rng.random(X.shape) < rate, np.nan, X)


def weights_in_bootstrap_samples(model):
    """What estimators with bootstrap samples fail of scikit-learn's checks, scikit-learn's own forests too."""
    reason = "a bootstrap sample has each row times its weight"
    return {"check_sample_weight_equivalence_on_dense_data": reason} if model.bootstrap else {}


class PlainTree:
    """One tree of a fitted GenerativeForestClassifier, its densities computed by SciPy from the training rows."""

    def __init__(self, model, data, tree, min_sd=1.0, smoothing=1e-6):
        forest = model.forest_
        self.model, self.forest, self.n_categories = model, forest, data.n_categories
        self.min_sd, self.smoothing = min_sd, smoothing
        weights = data.weights(forest.seeds[tree])
        rows = np.repeat(np.arange(len(data.X)), weights)
        self.sd = np.array([np.nanstd(data.X[:, f]) if k == 0 else 0.0 for f, k in enumerate(data.n_categories)])
        self.leaves = []  # weight, cell, univariate densities, class frequencies
        cell = [(-np.inf, np.inf) if k == 0 else set(range(k)) for k in data.n_categories]
        self.n = len(rows)
        self._visit(forest.tree_start[tree], cell, data.X[rows], data.y[rows], data.n_classes)

    def _visit(self, node, cell, X, y, n_classes):
        forest = self.forest
        f = forest.feature[node]
        if f < 0:
            densities = [self._density(f, cell[f], X[:, f]) for f in range(X.shape[1])]
            frequencies = np.bincount(y, minlength=n_classes) / len(y)
            self.leaves.append((len(y) / self.n, cell, densities, frequencies))
            return
        inside = list(cell), list(cell)
        if self.n_categories[f]:
            left = forest.goes_left[forest.subset[node] :][: self.n_categories[f]]
            inside[0][f] = {c for c in cell[f] if left[c]}
            inside[1][f] = cell[f] - inside[0][f]
            goes = np.array([c in inside[0][f] for c in X[:, f]])
        else:
            t = forest.threshold[node]
            low, high = cell[f]
            inside[0][f], inside[1][f] = (low, min(high, t)), (max(low, t), high)
            goes = X[:, f] <= t
        self._visit(node + 1, inside[0], X[goes], y[goes], n_classes)
        self._visit(forest.right[node], inside[1], X[~goes], y[~goes], n_classes)

    def _density(self, f, cell, values):
        if self.n_categories[f]:
            counts = {c: (values == c).sum() + self.smoothing for c in cell}
            total = sum(counts.values())
            return lambda x: counts.get(int(x), 0.0) / total
        mean, sd = values.mean(), max(self.min_sd * self.sd[f], values.std())
        low, high = cell
        normal = stats.truncnorm((low - mean) / sd, (high - mean) / sd, loc=mean, scale=sd)
        return lambda x: normal.pdf(x) if low < x <= high else 0.0

    def joint(self, x):
        """p(observed features, class) for every class."""
        total = 0.0
        for weight, _, densities, frequencies in self.leaves:
            observed = [density(v) for density, v in zip(densities, x, strict=True) if not np.isnan(v)]
            total = total + weight * np.prod(observed) * frequencies
        return total
