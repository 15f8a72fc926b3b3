"""LearnSPN (Gens and Domingos 2013) on mixed data with missing values: the structure of a circuit from rows.

Sum nodes cut the rows in two by 2-means, product nodes cut the variables into groups that no independence test holds
together.  After a product node comes a sum, after a sum node a product where the tests find one; variables that neither
way takes apart are fully factorised.  Nodes are numbered from the root, parents before their children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.circuit.independence import chi_square, kendall, kendall_of_bits, kruskal, order_bits
from joints.circuit.leaves import (
    Cells,
    Leaves,
    RowsOfTree,
    Smoothing,
    cells_of_tree,
    feature_moments,
    fit_categorical,
    fit_gaussian,
    fit_leaves,
    smallest_sds,
)
from joints.circuit.nodes import Circuit, chain_circuits, join_circuits
from joints.forest.arrays import Forest, TrainingData, join_trees, leaves_of_training_rows
from joints.forest.grow import Tree
from joints.numerics.buffers import partition, with_room
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix
from joints.numerics.threads import run

MOST_ROUNDS = 100  # of 2-means
FEWEST_ROWS = 5  # for a test of independence
FEW_ROWS = 256  # up to here Kendall's tau counts all pairs by bits, beyond it sorts
INITIAL, RETRY = np.uint64(5) << np.uint64(40), 3


class Variables(NamedTuple):
    """The features and, last, the class as variables of a circuit, and how the circuit is learned.

    Attributes
    ----------
    values : float64 of shape (n_rows, n_variables)
        Continuous values or codes, NaN where missing.
    n_categories, category_start : int64 of shape (n_variables,)
        0 for a continuous variable; where the variable's categories begin in ``Cells.allowed``.
    scale : float64 of shape (n_variables,)
        Standard deviation in the training data: the unit of distances.
    threshold : float
        Two variables are held dependent when the p-value of their test is below this.
    smoothing : joints.circuit.leaves.Smoothing
    """

    values: np.ndarray
    n_categories: np.ndarray
    category_start: np.ndarray
    scale: np.ndarray
    threshold: float
    smoothing: Smoothing

    @classmethod
    def of(
        cls,
        data: TrainingData,
        min_sd: float,
        smoothing: float,
        threshold: float,
        relative_sd: bool = True,
        count_missing: bool = False,
    ) -> Variables:
        mean, scale = feature_moments(data)
        smallest_sd = np.append(smallest_sds(scale, min_sd, relative_sd), 1.0)
        n_categories = np.append(data.n_categories, data.n_classes)
        return cls(
            np.column_stack([data.X, data.y]),
            n_categories,
            np.concatenate([[0], np.cumsum(n_categories)[:-1]]),
            np.append(scale, 1.0),
            float(threshold),
            Smoothing(np.append(mean, 0.0), smallest_sd, float(smoothing), bool(count_missing)),
        )

    def anywhere(self) -> Cells:
        """The cell without bounds."""
        n = len(self.n_categories)
        return Cells(np.full(n, -np.inf), np.full(n, np.inf), np.ones(self.n_categories.sum(), dtype=np.bool_))


@kernel(inline="always")
def _draw_centres(n, seed, attempt, labels):
    """Two different rows out of n get the labels 0 and 1, the others -1."""
    first = below(mix(seed, np.uint64(2 * attempt)), n)
    second = below(mix(seed, np.uint64(2 * attempt + 1)), n - 1)
    if second >= first:
        second += 1
    labels[:n] = -1
    labels[first], labels[second] = 0, 1


@kernel(inline="always")
def _find_centres(variables, rows, scope, labels, centre, seen):
    """The centres of the rows with labels 0 and 1: means and shares of categories, variable after variable.

    `seen` gets the number of values that each is made of.
    """
    values, n_categories = variables.values, variables.n_categories
    centre[:] = 0.0
    seen[:] = 0.0
    for i in range(len(rows)):
        side = labels[i]
        if side < 0:
            continue
        o = 0
        for j in range(len(scope)):
            v = scope[j]
            x = values[rows[i], v]
            if not np.isnan(x):
                seen[side, j] += 1.0
                if n_categories[v]:
                    centre[side, o + np.int64(x)] += 1.0
                else:
                    centre[side, o] += x
            o += max(n_categories[v], 1)
    for side in range(2):
        o = 0
        for j in range(len(scope)):
            n_entries = max(n_categories[scope[j]], 1)
            centre[side, o : o + n_entries] /= max(seen[side, j], 1.0)
            o += n_entries


@kernel(inline="always")
def _assign_rows(variables, rows, scope, centre, seen, labels):
    """Label each row by the nearer centre; returns whether a label changed, and how many rows have label 1."""
    values, n_categories, scale = variables.values, variables.n_categories, variables.scale
    changed, n_second = False, 0
    for i in range(len(rows)):
        difference = 0.0  # distance to the first centre minus that to the second
        o = 0
        for j in range(len(scope)):
            v = scope[j]
            x = values[rows[i], v]
            if not np.isnan(x) and seen[0, j] > 0.0 and seen[1, j] > 0.0:
                if n_categories[v]:
                    difference += centre[1, o + np.int64(x)] - centre[0, o + np.int64(x)]
                else:
                    difference += ((x - centre[0, o]) ** 2 - (x - centre[1, o]) ** 2) / (scale[v] * scale[v])
            o += max(n_categories[v], 1)
        label = 1 if difference > 0.0 else 0
        changed |= label != labels[i]
        labels[i] = label
        n_second += label
    return changed, n_second


@kernel
def two_means(variables, rows, scope, seed, labels):
    """Cut rows in two by their variables in `scope`; returns whether both sides got rows.

    The distance to a centre is the squared difference in units of `scale` for a continuous variable and, for a
    categorical one, the share of the centre's rows that are of another category; missing values do not count.
    The first centres are two rows drawn at random, several times if these are equal.
    """
    n, width = len(rows), 0
    for v in scope:
        width += max(variables.n_categories[v], 1)
    centre, seen = np.zeros((2, width)), np.zeros((2, len(scope)))
    for attempt in range(RETRY):
        _draw_centres(n, seed, attempt, labels)
        for _ in range(MOST_ROUNDS):
            _find_centres(variables, rows, scope, labels, centre, seen)
            changed, n_second = _assign_rows(variables, rows, scope, centre, seen, labels)
            if n_second in (0, n):
                break
            if not changed:
                return True
        if 0 < labels[:n].sum() < n:
            return True
    return False


@kernel
def _root_of(group, v):
    while group[v] != v:
        group[v] = group[group[v]]
        v = group[v]
    return v


class _Columns(NamedTuple):
    """The variables to be tested, one after another, and what their values allow.

    Attributes
    ----------
    values : float64 of shape (n_variables, n_rows)
    constant, complete : bool of shape (n_variables,)
    """

    values: np.ndarray
    constant: np.ndarray
    complete: np.ndarray


class _Orders(NamedTuple):
    """All pairs of rows as bits, for the complete continuous variables; see `joints.circuit.independence.order_bits`.

    Attributes
    ----------
    known : bool of shape (n_variables,)
    above, below : uint64 of shape (n_variables, n_rows, words)
    ties : float64 of shape (n_variables, 3)
    """

    known: np.ndarray
    above: np.ndarray
    below: np.ndarray
    ties: np.ndarray


@kernel(inline="always")
def _columns_of(values, rows, scope):
    m, n = len(scope), len(rows)
    columns = _Columns(np.empty((m, n)), np.ones(m, dtype=np.bool_), np.ones(m, dtype=np.bool_))
    for i in range(m):
        column, first = columns.values[i], np.nan
        for r in range(n):
            column[r] = values[rows[r], scope[i]]
            if np.isnan(column[r]):
                columns.complete[i] = False
            elif np.isnan(first):
                first = column[r]
            elif column[r] != first:
                columns.constant[i] = False
    return columns


@kernel(inline="always")
def _orders_of(columns, n_categories):
    m, n = columns.values.shape
    n_bits, n_words = m if n <= FEW_ROWS else 0, (n + 63) // 64
    orders = _Orders(
        np.zeros(m, dtype=np.bool_),
        np.empty((n_bits, n, n_words), dtype=np.uint64),
        np.empty((n_bits, n, n_words), dtype=np.uint64),
        np.empty((n_bits, 3)),
    )
    for i in range(n_bits):
        if n_categories[i] == 0 and columns.complete[i] and not columns.constant[i]:
            pairs, triples, spread = order_bits(columns.values[i], n, orders.above[i], orders.below[i])
            orders.ties[i, 0], orders.ties[i, 1], orders.ties[i, 2] = pairs, triples, spread
            orders.known[i] = True
    return orders


@kernel(inline="always")
def _kendall_of_orders(orders, i, j):
    ties = orders.ties
    x_ties, y_ties = (ties[i, 0], ties[i, 1], ties[i, 2]), (ties[j, 0], ties[j, 1], ties[j, 2])
    n = orders.above.shape[1]
    return kendall_of_bits(n, orders.above[i], x_ties, orders.above[j], orders.below[j], y_ties)


@kernel(inline="always")
def _ascending(column):
    """The rows that have a value, in ascending order of it."""
    order = np.argsort(column)  # missing values last
    n = len(order)
    while np.isnan(column[order[n - 1]]):
        n -= 1
    return order[:n]


class _Pairs(NamedTuple):
    """Room for the rows that have both values of two variables, as numbers and as codes, and for the codes seen."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    seen: np.ndarray


@kernel(counted=False)
def _code(column, n, n_categories, codes, seen):
    """The first n values as integers; returns how many different ones there are."""
    for c in range(n_categories):
        seen[c] = False
    n_seen = 0
    for r in range(n):
        code = np.int64(column[r])
        codes[r] = code
        n_seen += not seen[code]
        seen[code] = True
    return n_seen


@kernel(counted=False)
def _p_value(column, other, order, n_categories, n_others, pairs):
    """p-value of the test of two variables, over the rows that have both; 1 where these are too few.

    `order` has the rows by the first variable, which is continuous where only one of them is.
    """
    n = 0
    for row in order:
        if not np.isnan(other[row]):
            pairs.x[n], pairs.y[n] = column[row], other[row]
            n += 1
    if n < FEWEST_ROWS:
        return 1.0
    if n_others == 0:
        return kendall(pairs.x[:n], pairs.y[:n])
    n_b = _code(pairs.y, n, n_others, pairs.b, pairs.seen)
    if n_categories == 0:
        return kruskal(pairs.x[:n], pairs.b[:n], n_others) if n_b > 1 and n > 4 * n_b else 1.0
    n_a = _code(pairs.x, n, n_categories, pairs.a, pairs.seen)
    if n_a < 2 or n_b < 2 or n <= 2 * n_a * n_b:
        return 1.0
    return chi_square(pairs.a[:n], pairs.b[:n], n_categories, n_others)


@kernel(inline="always")
def _has_turn(i, j, n_categories):
    """Whether a pair is tested from its side i: each pair once, a mixed pair from its continuous side."""
    if (n_categories[i] > 0) == (n_categories[j] > 0):
        return i < j
    return n_categories[i] == 0


@kernel
def dependent_groups(variables, rows, scope, group):
    """Join the variables of `scope` that a test holds together (p below the threshold); returns how many groups remain.

    A pair with too few rows for its test counts as independent: 5 for Kendall, more than 4 for each category for
    Kruskal-Wallis, more than 2 for each cell of the table for chi-square.  Pairs already joined are not tested.
    """
    m = len(scope)
    n_groups = m
    group[:m] = np.arange(m)
    if len(rows) < FEWEST_ROWS:
        return n_groups
    n_categories = variables.n_categories[scope]
    columns = _columns_of(variables.values, rows, scope)
    orders = _orders_of(columns, n_categories)
    n = len(rows)
    a, b = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    pairs = _Pairs(np.empty(n), np.empty(n), a, b, np.empty(n_categories.max(), dtype=np.bool_))
    for i in range(m):
        if columns.constant[i]:
            continue  # independent of everything
        order = np.empty(0, dtype=np.int64)
        for j in range(m):
            if columns.constant[j] or not _has_turn(i, j, n_categories) or _root_of(group, i) == _root_of(group, j):
                continue
            if orders.known[i] and orders.known[j]:
                p = _kendall_of_orders(orders, i, j)
            else:
                if len(order) == 0:
                    order = _ascending(columns.values[i])
                p = _p_value(columns.values[i], columns.values[j], order, n_categories[i], n_categories[j], pairs)
            if p < variables.threshold:
                group[_root_of(group, j)] = _root_of(group, i)
                n_groups -= 1
                if n_groups == 1:
                    return 1
    return n_groups


class _Task(NamedTuple):
    """A part of the data that a node is to be learned from: ranges of rows and of scopes, and the node above."""

    first_row: int
    end_row: int
    first_scope: int
    end_scope: int
    parent: int | np.int64
    after_product: bool
    log_weight: float


class _Tasks(NamedTuple):
    """A stack of tasks."""

    spans: np.ndarray  # int64, a column for each field of a task but the last
    log_weight: np.ndarray


@kernel
def _push(tasks, height, task):
    tasks = _Tasks(with_room(tasks.spans, height + 1), with_room(tasks.log_weight, height + 1))
    span = tasks.spans[height]
    span[0], span[1], span[2], span[3] = task.first_row, task.end_row, task.first_scope, task.end_scope
    span[4], span[5] = task.parent, 1 if task.after_product else 0
    tasks.log_weight[height] = task.log_weight
    return tasks


@kernel(inline="always")
def _task_at(tasks, height):
    span = tasks.spans[height]
    return _Task(span[0], span[1], span[2], span[3], span[4], span[5] == 1, tasks.log_weight[height])


@kernel(inline="always")
def _circuit_of(n_nodes, n_factors, n_parameters):
    """Room for a circuit."""
    return Circuit(
        np.empty(n_nodes, dtype=np.int64),
        np.empty(n_nodes, dtype=np.bool_),
        np.empty(n_nodes),
        np.empty(n_factors, dtype=np.int64),
        np.empty(n_factors, dtype=np.int64),
        np.empty(n_factors, dtype=np.int64),
        np.empty(n_parameters),
    )


@kernel(inline="always")
def _circuit_with_room(circuit, n_nodes, n_factors, n_parameters):
    return Circuit(
        with_room(circuit.parent, n_nodes),
        with_room(circuit.is_sum, n_nodes),
        with_room(circuit.log_weight, n_nodes),
        with_room(circuit.factor_node, n_factors),
        with_room(circuit.factor_variable, n_factors),
        with_room(circuit.factor_offset, n_factors),
        with_room(circuit.parameters, n_parameters),
    )


@kernel(inline="always")
def _trimmed(circuit, n_nodes, n_factors, n_parameters):
    return Circuit(
        circuit.parent[:n_nodes].copy(),
        circuit.is_sum[:n_nodes].copy(),
        circuit.log_weight[:n_nodes].copy(),
        circuit.factor_node[:n_factors].copy(),
        circuit.factor_variable[:n_factors].copy(),
        circuit.factor_offset[:n_factors].copy(),
        circuit.parameters[:n_parameters].copy(),
    )


@kernel(inline="always")
def _n_entries(n_categories):
    return n_categories if n_categories else 3


@kernel(counted=False)
def _add_density(circuit, n_factors, n_parameters, node, v, variables, rows, cell):
    """Add the density of variable v to a product node of a circuit that has room; returns where its parameters end."""
    n_categories, o = variables.n_categories[v], variables.category_start[v]
    end = n_parameters + _n_entries(n_categories)
    circuit.factor_node[n_factors], circuit.factor_variable[n_factors] = node, v
    circuit.factor_offset[n_factors] = n_parameters
    out = circuit.parameters[n_parameters:end]
    if n_categories:
        allowed = cell.allowed[o : o + n_categories]
        fit_categorical(variables.values, rows, v, allowed, variables.smoothing, out)
    else:
        fit_gaussian(variables.values, rows, v, cell.low[v], cell.high[v], variables.smoothing, out)
    return end


@kernel(inline="always")
def _cut(variables, rows, scope, after_product, seed, labels, group):
    """Whether a node cuts its rows, by `labels`; otherwise it cuts its variables, into the groups in `group`."""
    m = len(scope)
    n_groups = m
    if m > 1:
        if not after_product:
            n_groups = dependent_groups(variables, rows, scope, group)
        if after_product or n_groups == 1:
            if len(rows) > 2 and two_means(variables, rows, scope, seed, labels):
                return True
            n_groups = m
    if n_groups == m:
        group[:m] = np.arange(m)
    return False


@kernel
def learn(variables, rows, scope, cell, seed, after_product):
    """Learn a circuit over the variables in `scope` from the given rows (a row may be given several times).

    Parameters
    ----------
    variables : Variables
    rows, scope : int64
    cell : joints.circuit.leaves.Cells
        Of one leaf: Gaussians are cut to (low, high] and categories to the allowed ones.
    seed : uint64
    after_product : bool
        Begin with a sum node (True) or try a product node first.

    Returns
    -------
    joints.circuit.nodes.Circuit
    """
    rows = rows.copy()
    spare, labels = np.empty_like(rows), np.empty(len(rows), dtype=np.int64)
    group = np.empty(len(scope), dtype=np.int64)
    circuit = _circuit_of(16, 32, 64)
    n_nodes, n_factors, n_parameters = np.int64(0), np.int64(0), np.int64(0)
    scopes = np.empty(4 * len(scope) + 8, dtype=np.int64)  # the scopes of tasks, one after another
    scopes[: len(scope)] = scope
    n_scopes = len(scope)
    tasks = _Tasks(np.empty((64, 6), dtype=np.int64), np.empty(64))
    height = np.int64(0)
    tasks = _push(tasks, height, _Task(0, len(rows), 0, len(scope), -1, after_product, 0.0))
    height += 1
    while height > 0:
        height -= 1
        task = _task_at(tasks, height)
        start, end = task.first_row, task.end_row
        here, own = rows[start:end], scopes[task.first_scope : task.end_scope].copy()
        node = n_nodes
        n_nodes += 1
        most_parameters = n_parameters
        for v in own:
            most_parameters += _n_entries(variables.n_categories[v])
        most_factors = n_factors + len(own)
        if (
            n_nodes > len(circuit.parent)
            or most_factors > len(circuit.factor_node)
            or most_parameters > len(circuit.parameters)
        ):
            circuit = _circuit_with_room(circuit, n_nodes, most_factors, most_parameters)
        circuit.parent[node], circuit.log_weight[node] = task.parent, task.log_weight
        node_seed = mix(seed ^ INITIAL, np.uint64(node))
        circuit.is_sum[node] = _cut(variables, here, own, task.after_product, node_seed, labels, group)
        if circuit.is_sum[node]:
            middle = start + partition(here, labels[: len(here)] == 0, spare)
            for a, b in ((start, middle), (middle, end)):
                weight = np.log((b - a) / (end - start))
                tasks = _push(tasks, height, _Task(a, b, task.first_scope, task.end_scope, node, False, weight))
                height += 1
            continue
        for g in range(len(own)):
            if _root_of(group, g) != g:
                continue
            scopes = with_room(scopes, n_scopes + len(own))
            first_scope = n_scopes
            for i in range(len(own)):
                if _root_of(group, i) == g:
                    scopes[n_scopes] = own[i]
                    n_scopes += 1
            if n_scopes > first_scope + 1:
                tasks = _push(tasks, height, _Task(start, end, first_scope, n_scopes, node, True, 0.0))
                height += 1
                continue
            n_scopes = first_scope  # a single variable is a density
            n_parameters = _add_density(circuit, n_factors, n_parameters, node, own[g], variables, here, cell)
            n_factors += 1
    return _trimmed(circuit, n_nodes, n_factors, n_parameters)


def learn_leaves(
    forest: Forest,
    data: TrainingData,
    leaves: Leaves,
    variables: Variables,
    *,
    min_rows: int,
    truncate: bool,
    rows_of_tree: RowsOfTree | None = None,
    n_jobs: int | None = None,
) -> Leaves:
    """The same leaves, those with more than `min_rows` rows learned by LearnSPN over features and class."""
    scope = np.arange(len(variables.n_categories))
    anywhere = variables.anywhere()
    any_class = np.ones(data.n_classes, dtype=np.bool_)

    def one(tree: int) -> list[tuple[int, Circuit]]:
        first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        row_leaf, weights = rows_of_tree(tree) if rows_of_tree else leaves_of_training_rows(forest, data, tree)
        drawn = np.repeat(np.arange(len(weights)), weights)
        drawn = drawn[np.argsort(row_leaf[drawn], kind="stable")]
        start = np.searchsorted(row_leaf[drawn], np.arange(first, last + 1))
        if truncate:
            low, high, allowed = cells_of_tree(forest, tree, data.n_categories)
        found = []
        for leaf in np.flatnonzero(np.diff(start) > min_rows):
            cell = anywhere
            if truncate:
                cell = Cells(
                    np.append(low[leaf], -np.inf),
                    np.append(high[leaf], np.inf),
                    np.concatenate([allowed[leaf], any_class]),
                )
            seed = np.uint64(mix(forest.seeds[tree] + np.uint64(tree), np.uint64(leaf)))
            circuit = learn(variables, drawn[start[leaf] : start[leaf + 1]], scope, cell, seed, True)
            found.append((first + leaf, circuit))
        return found

    found = [pair for part in run(one, [(tree,) for tree in range(forest.n_trees)], n_jobs) for pair in part]
    of_leaf = np.full(forest.n_leaves, -1, dtype=np.int64)
    of_leaf[[leaf for leaf, _ in found]] = np.arange(len(found))
    return leaves._replace(circuits=join_circuits([circuit for _, circuit in found], of_leaf, variables.n_categories))


def _indicator(k: int, n_classes: int, variable: int, log_weight: float) -> Circuit:
    """A product node below node 0 with one density: `variable`, the class, is k."""
    zero = np.array([0])
    return Circuit(
        parent=zero,
        is_sum=np.array([False]),
        log_weight=np.array([log_weight]),
        factor_node=zero,
        factor_variable=np.array([variable]),
        factor_offset=zero,
        parameters=np.where(np.arange(n_classes) == k, 0.0, -np.inf),
    )


def learn_class_selective(data: TrainingData, variables: Variables, seed: np.uint64) -> tuple[Forest, Leaves]:
    """A circuit whose root is a sum over the classes, with a circuit over the features below each.

    In the terms of a forest it is one tree of a single leaf, and that leaf is the circuit.
    """
    n_features = data.X.shape[1]
    counts = np.bincount(data.y, minlength=data.n_classes).astype(np.float64)
    nowhere = np.empty(0, dtype=np.int64)
    parts = [Circuit(np.array([-1]), np.array([True]), np.array([0.0]), nowhere, nowhere, nowhere, np.empty(0))]
    n_nodes = 1
    for k in range(data.n_classes):
        rows, class_seed = np.flatnonzero(data.y == k), np.uint64(mix(seed, np.uint64(k)))
        circuit = learn(variables, rows, np.arange(n_features), variables.anywhere(), class_seed, False)
        parts.append(_indicator(k, data.n_classes, n_features, np.log(counts[k] / counts.sum())))
        parts.append(circuit._replace(parent=np.where(circuit.parent < 0, n_nodes, circuit.parent + n_nodes + 1)))
        n_nodes += 1 + len(circuit.parent)
    circuits = join_circuits([chain_circuits(parts)], np.zeros(1, dtype=np.int64), variables.n_categories)
    leaf = Tree(
        feature=np.array([-1], dtype=np.int32),
        threshold=np.array([np.nan]),
        right=np.array([-1], dtype=np.int32),
        subset=np.array([-1], dtype=np.int64),
        goes_left=np.empty(0, dtype=np.bool_),
        counts=counts[None],
    )
    forest = join_trees([leaf], np.array([seed], dtype=np.uint64))
    how = variables.smoothing  # for the frequencies of the whole table, where a row has probability zero
    leaves = fit_leaves(forest, data, smoothing=how.pseudo_count, count_missing=how.count_missing)
    return forest, leaves._replace(circuits=circuits)
