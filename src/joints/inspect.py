"""Looking into fitted circuits: what to measure next, which features matter, how robust a prediction is.

Each function says which fitted models it takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from joints.circuit.estimator import CircuitClassifier
from joints.circuit.evidence import Given
from joints.circuit.generative import GenerativeForestClassifier
from joints.circuit.generative_regressor import GenerativeForestRegressor
from joints.circuit.robustness import robustness_of
from joints.features import encode_table
from joints.forest.arrays import Forest
from joints.forest.classifier import ForestClassifier
from joints.parameters import AT_LEAST_ONE


def information_gain(model: CircuitClassifier, X: Any, n_points: int = 16) -> np.ndarray:
    """By how much measuring each missing feature would reduce the entropy of the class, on average.

    The feature worth measuring next is that of the largest gain.  With ``combine="mixture"`` the gain is the mutual
    information of class and feature given what is observed, exact for categories; averages of trees are not one joint
    distribution, so that their gains can be slightly negative.

    Parameters
    ----------
    model : fitted GenerativeForestClassifier or LearnSPNClassifier
    X : array or DataFrame of shape (n_samples, n_features)
        NaN where a value is missing.
    n_points : int, default=16
        For continuous features: quantiles at which the class is predicted, in the middle of intervals of the same
        probability.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        In nats; 0 for features that are observed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from joints import GenerativeForestClassifier
    >>> from joints.inspect import information_gain
    >>> gef = GenerativeForestClassifier(20, combine="mixture", min_sd=0.1, random_state=0)
    >>> gain = information_gain(gef.fit(*load_iris(return_X_y=True)), np.full((1, 4), np.nan))
    >>> gain.argsort()[0, -2:]  # the petals
    array([2, 3])
    """
    _check_kind(model, CircuitClassifier)
    if not AT_LEAST_ONE.is_satisfied_by(n_points):
        raise ValueError(f"n_points is {n_points!r}: give a number of at least 1.")
    codes = encode_table(model, X)
    gain = np.zeros(codes.shape)
    entropy = entr(model._conditional(codes)).sum(axis=1)
    for f in range(codes.shape[1]):
        rows = np.flatnonzero(np.isnan(codes[:, f]))
        if len(rows):
            expected = sum(p * h for p, h in _entropies(model, codes[rows], f, n_points))
            gain[rows, f] = entropy[rows] - expected
    return gain


def _check_kind(model: Any, *kinds: type) -> None:
    """Refuse a model that is of none of these classes, or not fitted."""
    if not isinstance(model, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        names = names.replace(CircuitClassifier.__name__, "GenerativeForestClassifier or LearnSPNClassifier")
        raise TypeError(f"The model is a {type(model).__name__}: this function takes a {names}.")
    check_is_fitted(model)


def _entropies(model: CircuitClassifier, codes: np.ndarray, f: int, n_points: int) -> list[tuple[np.ndarray, Any]]:
    """The probabilities of values of feature f, and the entropies of the class given each of them."""
    categories = model.features_.categories[f]
    if categories is not None and not len(categories):
        return [(np.ones(len(codes)), entr(model._conditional(codes)).sum(axis=1))]
    if categories is not None:
        proba = model._conditional(codes, f)
        values = np.tile(np.arange(len(categories), dtype=np.float64), (len(codes), 1))
    else:
        given = Given.values(codes, model.features_.n_categories, len(model.classes_), None)
        values = model._distributions(given, f).quantile((np.arange(n_points) + 0.5) / n_points)
        proba = np.full(values.shape, 1.0 / n_points)
    found = []
    for p, value in zip(proba.T, values.T, strict=True):
        filled = codes.copy()
        filled[:, f] = value
        found.append((p, entr(model._conditional(filled)).sum(axis=1)))
    return found


def feature_importances(model: Any) -> np.ndarray:
    """The share of each feature in what the splits of all trees reduce: Gini impurity, or squared error in regression.

    As `feature_importances_` of scikit-learn's forests: no rows are needed, and nothing is permuted.

    Parameters
    ----------
    model : fitted ForestClassifier, GenerativeForestClassifier or GenerativeForestRegressor

    Returns
    -------
    ndarray of shape (n_features,)
        Sums to one, or is all zeros where no tree has a split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from joints import ForestClassifier
    >>> from joints.inspect import feature_importances
    >>> forest = ForestClassifier(20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> feature_importances(forest).argmax() in (2, 3)
    True
    """
    _check_kind(model, ForestClassifier, GenerativeForestClassifier, GenerativeForestRegressor)
    forest: Forest = model.forest_
    total = np.zeros(model.n_features_in_)
    if isinstance(model, GenerativeForestRegressor):
        impurity = _squared_error(forest, model.leaves_.parameters[:, model.leaves_.offset[-1]])
    else:
        impurity = _weighted_gini(forest.counts)
    for tree in range(forest.n_trees):
        nodes = np.arange(forest.tree_start[tree], forest.tree_start[tree + 1])
        nodes = nodes[forest.feature[nodes] >= 0]
        gain = impurity[nodes] - impurity[nodes + 1] - impurity[forest.right[nodes]]
        of_tree = np.bincount(forest.feature[nodes], gain, len(total))
        total += of_tree / (of_tree.sum() or 1.0)
    return total / (total.sum() or 1.0)


def _squared_error(forest: Forest, means: np.ndarray) -> np.ndarray:
    """Squared error of nodes around their means but for what all nodes of a tree share, given the means of leaves."""
    rows, inner = forest.counts.sum(axis=1), forest.feature >= 0
    total = np.zeros(len(rows))
    total[~inner] = rows[~inner] * means[forest.leaf[~inner]]
    for node in np.flatnonzero(inner)[::-1]:  # children come after their parents
        total[node] = total[node + 1] + total[forest.right[node]]
    return -(total**2) / rows


def _weighted_gini(counts: np.ndarray) -> np.ndarray:
    """Gini impurity of nodes times their rows."""
    rows = counts.sum(axis=1)
    return rows - (counts**2).sum(axis=1) / rows


def robustness(model: CircuitClassifier, X: Any) -> np.ndarray:
    """How far all weights of the circuit may be off before the predicted class changes.

    The largest e such that the predicted class stays the most probable one whatever the weights are, if those of every
    sum node are (1 - e) times the learned ones plus e times any distribution, another one at every node (Correia et al.
    2020).  Sum nodes are the splits, the nodes of LearnSPN, the mixture of the trees, and all categorical
    distributions, of features and of the class; Gaussians stay as they are.  With ``combine="mixture"``, which the
    definition is made for, the least p(x, y) - p(x, y') of all such circuits is exact.  Averages of trees are not one
    circuit: each tree takes the least p(y | x) - p(y' | x) of its own, and these are averaged with the learned shares.
    Predictions of low robustness are often wrong, also where their probability is high.

    Parameters
    ----------
    model : fitted GenerativeForestClassifier or LearnSPNClassifier
    X : array or DataFrame of shape (n_samples, n_features)
        NaN where a value is missing.

    Returns
    -------
    ndarray of shape (n_samples,)
        Between 0 and 1; 1 where there is only one class, and at most 0.5 where the classes of leaves are counted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from joints import GenerativeForestClassifier
    >>> from joints.inspect import robustness
    >>> X, y = load_iris(return_X_y=True)
    >>> gef = GenerativeForestClassifier(20, random_state=0).fit(X, y)
    >>> typical, between = robustness(gef, X[[0, 77]])  # the second flower is between two species
    >>> bool(typical > between)
    True
    """
    _check_kind(model, CircuitClassifier)
    codes = encode_table(model, X)
    predicted = model._conditional(codes).argmax(axis=1)
    given = Given.values(codes, model.features_.n_categories, len(model.classes_), None)
    return robustness_of(given, predicted, model.forest_, model.leaves_, model.combine_, model.n_jobs)
