"""Circuits asked for many rows at once say what `evaluate_circuit` says row by row."""

from typing import NamedTuple

import numpy as np
import pytest
from mixed import hide, mixed_table, published

from joints import LearnSPNClassifier
from joints.circuit.batches import ROWS, batch_of, visit_circuits, visits_of
from joints.circuit.nodes import above_variable, evaluate_circuit, scratch_of


class Query(NamedTuple):
    target: int
    given_class: float
    n_categories: np.ndarray
    above_target: np.ndarray


def ask_in_batches(circuits, X, query, n_targets):
    """Log-density and scaled targets, for every circuit and row."""
    n_circuits, n = len(circuits.node_start) - 1, len(X)
    visits, n_visits = visits_of(n_circuits, True, n_targets), n_circuits * n
    visits.leaf[:n_visits] = np.tile(np.arange(n_circuits), n)
    visits.row_end[:n] = n_circuits * np.arange(1, n + 1)
    batch = batch_of(X.shape[1] + 1, circuits.most_nodes, circuits.most_depths, n_targets)
    nodes = scratch_of(circuits.most_nodes, n_targets)
    circuit = np.arange(n_circuits)
    visit_circuits(np.ascontiguousarray(X.T)[:, 0:n], circuit, query, circuits, batch, nodes, visits)
    log, given = visits.log[:n_visits], visits.given[:n_visits]
    return log.reshape(n, n_circuits), given.reshape(n, n_circuits, n_targets)


def ask_row_by_row(circuits, X, query, n_targets):
    n_circuits = len(circuits.node_start) - 1
    nodes = scratch_of(circuits.most_nodes, n_targets)
    values = np.empty((len(X), n_circuits, n_targets))
    for i, x in enumerate(X):
        for c in range(n_circuits):
            evaluate_circuit(np.append(x, query.given_class), query.target, c, circuits, query.n_categories, nodes)
            values[i, c] = nodes.value[0]
    largest = values.max(axis=2)
    return largest, np.exp(values - largest[..., None])


@pytest.mark.parametrize("rate", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("target", "given"), [(5, np.nan), (3, np.nan), (3, 1.0)])
def test_batches_equal_rows(rate, target, given):
    rng = np.random.default_rng(0)
    X, y, n_categories = mixed_table(rng, n=400, continuous=3, categories=(3, 2))
    X[:, 1] += X[:, 0]
    model = published(
        3, leaves="lspn", min_rows=10, min_samples_leaf=12, max_depth=3, threshold=0.2, random_state=0,
        categorical_features={3: 3, 4: 2}, truncate=False,
    ).fit(X, y)  # fmt: skip
    circuits = model.leaves_.circuits
    assert circuits.is_sum.sum() > 20 and len(X) > 3 * ROWS
    queries = hide(rng, X[: 3 * ROWS + 7], rate)
    queries[:, target : target + 1] = np.nan
    queries[::10, :2] *= 30.0  # hardly possible: numbers run out of range
    n_targets = 3
    query = Query(target, given, np.append(n_categories, 3), above_variable(target, circuits))
    log, shares = ask_in_batches(circuits, queries, query, n_targets)
    expected_log, expected_shares = ask_row_by_row(circuits, queries, query, n_targets)
    np.testing.assert_allclose(log, expected_log, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(shares, expected_shares, rtol=1e-10, atol=1e-200)
    assert rate > 0.8 or (expected_log < -600).any()


def test_nodes_come_in_preorder():
    """One array per depth is enough because every node's parent is the last node before it that is one step higher."""
    X, y, _ = mixed_table(np.random.default_rng(0), n=300, continuous=6, categories=(3,))
    model = LearnSPNClassifier(categorical_features={6: 3}, random_state=0, threshold=0.3).fit(X, y)
    circuits = model.leaves_.circuits
    last = {}
    for node, (parent, depth) in enumerate(zip(circuits.parent, circuits.depth, strict=True)):
        assert parent == last.get(depth - 1, -1)
        last = {d: v for d, v in last.items() if d < depth} | {depth: node}
    assert circuits.depth.max() > 3
