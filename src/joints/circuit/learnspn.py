"""LearnSPN (Gens and Domingos 2013) on mixed data with missing values: the structure of a circuit from rows.

Sum nodes cut the rows in two by 2-means, product nodes cut the variables into groups that no independence test holds
together.  After a product node comes a sum, after a sum node a product where the tests find one; variables that neither
way takes apart are fully factorised.  Nodes are numbered from the root, parents before their children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.circuit.independence import (
    chi_square,
    kendall,
    kendall_of_bits,
    kruskal,
    mean_ranks,
    order_bits,
    order_bits_of_sorted,
)
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
from joints.forest.arrays import Forest, TrainingData, join_trees, leaves_of_training_rows, whole_weights
from joints.forest.grow import Tree
from joints.numerics.buffers import partition, with_room
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix
from joints.numerics.threads import run

MOST_ROUNDS = 100  # of 2-means
FEWEST_ROWS = 5  # for a test of independence
FEW_ROWS = 2048  # up to here Kendall's tau counts all pairs by bits, beyond it sorts
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


@kernel(counted=False)
def _mean_of_sides(x, labels, centre, seen, o, j):
    """The mean of a continuous variable's values on each side, into column `o` of the centres."""
    for side in range(2):
        n, total = 0.0, 0.0
        for r in range(len(x)):
            counts = labels[r] == side and x[r] == x[r]
            n += 1.0 if counts else 0.0
            total += x[r] if counts else 0.0
        seen[side, j], centre[side, o] = n, total / max(n, 1.0)


@kernel(counted=False)
def _shares_of_sides(x, labels, centre, seen, o, end, j):
    """The shares of a categorical variable's categories on each side, into the centres from column `o` up to `end`."""
    centre[:, o:end] = 0.0
    seen[:, j] = 0.0
    for r in range(len(x)):
        if labels[r] >= 0 and x[r] == x[r]:
            centre[labels[r], o + np.int64(x[r])] += 1.0
            seen[labels[r], j] += 1.0
    for side in range(2):
        for c in range(o, end):
            centre[side, c] /= max(seen[side, j], 1.0)


@kernel(inline="always")
def _find_centres(variables, columns, scope, labels, centre, seen):
    """The centres of the rows with labels 0 and 1: means and shares of categories, variable after variable.

    `seen` gets the number of values that each is made of; `columns` are the rows variable by variable.
    """
    o = 0
    for j in range(len(scope)):
        n_categories = variables.n_categories[scope[j]]
        if n_categories:
            _shares_of_sides(columns[j], labels, centre, seen, o, o + n_categories, j)
        else:
            _mean_of_sides(columns[j], labels, centre, seen, o, j)
        o += max(n_categories, 1)


@kernel(counted=False)
def _add_distances(x, first, second, scale, difference):
    """Add a continuous variable's distance to the first centre minus that to the second, where it has a value."""
    square = scale * scale
    for r in range(len(x)):
        d = ((x[r] - first) ** 2 - (x[r] - second) ** 2) / square
        difference[r] += d if d == d else 0.0


@kernel(counted=False)
def _add_shares(x, first, second, difference):
    """The same for a categorical variable: the centres are shares of its categories."""
    for r in range(len(x)):
        if x[r] == x[r]:
            difference[r] += second[np.int64(x[r])] - first[np.int64(x[r])]


@kernel(inline="always")
def _assign_rows(variables, columns, scope, centre, seen, difference, labels):
    """Label each row by the nearer centre; returns whether a label changed, and how many rows have label 1."""
    difference[:] = 0.0
    o = 0
    for j in range(len(scope)):
        v = scope[j]
        n_entries = max(variables.n_categories[v], 1)
        if seen[0, j] > 0.0 and seen[1, j] > 0.0:
            if variables.n_categories[v]:
                _add_shares(columns[j], centre[0, o : o + n_entries], centre[1, o : o + n_entries], difference)
            else:
                _add_distances(columns[j], centre[0, o], centre[1, o], variables.scale[v], difference)
        o += n_entries
    changed, n_second = False, 0
    for i in range(len(difference)):
        label = 1 if difference[i] > 0.0 else 0
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
    columns, difference = np.empty((len(scope), n)), np.empty(n)
    for j in range(len(scope)):
        width += max(variables.n_categories[scope[j]], 1)
        for i in range(n):
            columns[j, i] = variables.values[rows[i], scope[j]]
    centre, seen = np.zeros((2, width)), np.zeros((2, len(scope)))
    for attempt in range(RETRY):
        _draw_centres(n, seed, attempt, labels)
        for _ in range(MOST_ROUNDS):
            _find_centres(variables, columns, scope, labels, centre, seen)
            changed, n_second = _assign_rows(variables, columns, scope, centre, seen, difference, labels)
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
    """The variables to be tested, one after another, and what is known of their values.

    Attributes
    ----------
    values : float64 of shape (n_variables, n_rows)
    n_categories, n_observed : int64 of shape (n_variables,)
    constant : bool of shape (n_variables,)
    codes, n_seen : int64 of shape (n_variables, n_rows) and (n_variables,)
        Of a categorical variable: the categories, -1 where missing, and how many different ones there are.
    sorted : bool of shape (n_variables,)
        Whether the order of a continuous variable is known; this and what follows is found when it is first needed.
    order : int64 of shape (n_variables, n_rows)
        The rows that have a value, in ascending order of it; then the others.
    ranks, rank_ties : float64 of shape (n_variables, n_rows) and (n_variables,)
        See `joints.circuit.independence.mean_ranks`; the second is NaN where they are not known.
    above, below, ties : uint64 of shape (n_variables, n_rows, words) and float64 of shape (n_variables, 3)
        See `joints.circuit.independence.order_bits`; `ties` is NaN where they are not known.  Empty for many rows.
    """

    values: np.ndarray
    n_categories: np.ndarray
    n_observed: np.ndarray
    constant: np.ndarray
    codes: np.ndarray
    n_seen: np.ndarray
    sorted: np.ndarray
    order: np.ndarray
    ranks: np.ndarray
    rank_ties: np.ndarray
    above: np.ndarray
    below: np.ndarray
    ties: np.ndarray


class _Room(NamedTuple):
    """Room for the rows that have both values of two variables, and for counts of categories."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    identity: np.ndarray
    table: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


@kernel(inline="always")
def _room_for(n, most_categories):
    return _Room(
        np.empty(n),
        np.empty(n),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.arange(n),
        np.empty((most_categories, most_categories)),
        np.empty(most_categories),
        np.empty(most_categories),
    )


@kernel(inline="always")
def _columns_of(values, rows, scope, n_categories):
    m, n = len(scope), len(rows)
    n_bits, n_words = m if n <= FEW_ROWS else 0, (n + 63) // 64
    columns = _Columns(
        np.empty((m, n)),
        n_categories,
        np.zeros(m, dtype=np.int64),
        np.ones(m, dtype=np.bool_),
        np.empty((m, n), dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.bool_),
        np.empty((m, n), dtype=np.int64),
        np.empty((m, n)),
        np.full(m, np.nan),
        np.empty((n_bits, n, n_words), dtype=np.uint64),
        np.empty((n_bits, n, n_words), dtype=np.uint64),
        np.full((n_bits, 3), np.nan),
    )
    seen = np.empty(max(n_categories.max(), 1), dtype=np.bool_)
    for i in range(m):
        first = np.nan
        seen[:] = False
        for r in range(n):
            x = values[rows[r], scope[i]]
            columns.values[i, r] = x
            columns.codes[i, r] = -1
            if np.isnan(x):
                continue
            columns.n_observed[i] += 1
            if np.isnan(first):
                first = x
            elif x != first:
                columns.constant[i] = False
            if n_categories[i]:
                code = np.int64(x)
                columns.codes[i, r] = code
                columns.n_seen[i] += not seen[code]
                seen[code] = True
    return columns


@kernel
def _sort_column(i, columns):
    columns.order[i] = np.argsort(columns.values[i])  # missing values last
    columns.sorted[i] = True


@kernel
def _take_bits(i, columns):
    column, above, below = columns.values[i], columns.above[i], columns.below[i]
    if len(column) <= 64:
        pairs, triples, spread = order_bits(column, above, below)
    else:
        if not columns.sorted[i]:
            _sort_column(i, columns)
        pairs, triples, spread = order_bits_of_sorted(column, columns.order[i], above, below)
    columns.ties[i, 0], columns.ties[i, 1], columns.ties[i, 2] = pairs, triples, spread


@kernel(inline="always")
def _p_kendall(i, j, columns, room):
    n_rows, ties = columns.values.shape[1], columns.ties
    if len(columns.above) and columns.n_observed[i] == n_rows and columns.n_observed[j] == n_rows:
        for v in (i, j):
            if np.isnan(ties[v, 0]):
                _take_bits(v, columns)
        x_ties, y_ties = (ties[i, 0], ties[i, 1], ties[i, 2]), (ties[j, 0], ties[j, 1], ties[j, 2])
        return kendall_of_bits(n_rows, columns.above[i], x_ties, columns.above[j], columns.below[j], y_ties)
    if not columns.sorted[i]:
        _sort_column(i, columns)
    n = 0
    for row in columns.order[i, : columns.n_observed[i]]:
        if not np.isnan(columns.values[j, row]):
            room.x[n], room.y[n] = columns.values[i, row], columns.values[j, row]
            n += 1
    return kendall(room.x[:n], room.y[:n]) if n >= FEWEST_ROWS else 1.0


@kernel(inline="always")
def _p_kruskal(i, j, columns, room):
    k, n, n_b = columns.n_categories[j], columns.values.shape[1], columns.n_seen[j]
    rank_sum, size = room.rows[:k], room.columns[:k]
    complete = columns.n_observed[i] == n and columns.n_observed[j] == n
    if complete and (n < FEWEST_ROWS or n_b < 2 or n <= 4 * n_b):
        return 1.0
    if not columns.sorted[i]:
        _sort_column(i, columns)
    if complete:
        if np.isnan(columns.rank_ties[i]):
            columns.rank_ties[i] = mean_ranks(columns.values[i], columns.order[i], columns.ranks[i])
        return kruskal(columns.ranks[i], columns.rank_ties[i], columns.codes[j], rank_sum, size)
    n = 0
    for row in columns.order[i, : columns.n_observed[i]]:
        if columns.codes[j, row] >= 0:
            room.x[n], room.b[n] = columns.values[i, row], columns.codes[j, row]
            n += 1
    n_b = _n_different(room.b[:n], size)
    if n < FEWEST_ROWS or n_b < 2 or n <= 4 * n_b:
        return 1.0
    ties = mean_ranks(room.x, room.identity[:n], room.y)
    return kruskal(room.y[:n], ties, room.b[:n], rank_sum, size)


@kernel(inline="always")
def _p_chi_square(i, j, columns, room):
    n, n_a, n_b = columns.values.shape[1], columns.n_seen[i], columns.n_seen[j]
    a, b = columns.codes[i], columns.codes[j]
    if columns.n_observed[i] < n or columns.n_observed[j] < n:
        n = 0
        for row in range(len(a)):
            if a[row] >= 0 and b[row] >= 0:
                room.a[n], room.b[n] = a[row], b[row]
                n += 1
        a, b = room.a[:n], room.b[:n]
        n_a, n_b = _n_different(a, room.rows), _n_different(b, room.columns)
    if n < FEWEST_ROWS or n_a < 2 or n_b < 2 or n <= 2 * n_a * n_b:
        return 1.0
    table = room.table[: columns.n_categories[i], : columns.n_categories[j]]
    return chi_square(a, b, table, room.rows, room.columns)


@kernel(counted=False)
def _n_different(codes, room):
    """How many different codes there are."""
    for c in range(len(room)):
        room[c] = 0.0
    n = 0
    for code in codes:
        n += room[code] == 0.0
        room[code] = 1.0
    return n


@kernel(inline="always")
def _has_turn(i, j, n_categories):
    """Whether a pair is tested from its side i: each pair once, a mixed pair from its continuous side."""
    if (n_categories[i] > 0) == (n_categories[j] > 0):
        return i < j
    return n_categories[i] == 0


@kernel(inline="always")
def _p_value(i, j, columns, room):
    """p-value of the test of two variables, over the rows that have both; 1 where these are too few."""
    n_categories = columns.n_categories
    if n_categories[i] > 0:
        return _p_chi_square(i, j, columns, room)
    if n_categories[j] > 0:
        return _p_kruskal(i, j, columns, room)
    return _p_kendall(i, j, columns, room)


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
    columns = _columns_of(variables.values, rows, scope, n_categories)
    room = _room_for(len(rows), max(n_categories.max(), 1))
    for i in range(m):
        if columns.constant[i]:
            continue  # independent of everything
        for j in range(m):
            if columns.constant[j] or not _has_turn(i, j, n_categories) or _root_of(group, i) == _root_of(group, j):
                continue
            if _p_value(i, j, columns, room) < variables.threshold:
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
        by_leaf = np.argsort(row_leaf, kind="stable")
        drawn = np.repeat(by_leaf, whole_weights(weights[by_leaf] * data.unit))
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
    weight = data.weights(seed) * data.unit
    counts = np.bincount(data.y, weights=weight, minlength=data.n_classes)
    nowhere = np.empty(0, dtype=np.int64)
    parts = [Circuit(np.array([-1]), np.array([True]), np.array([0.0]), nowhere, nowhere, nowhere, np.empty(0))]
    n_nodes = 1
    for k in range(data.n_classes):
        rows, class_seed = np.flatnonzero(data.y == k), np.uint64(mix(seed, np.uint64(k)))
        rows = np.repeat(rows, whole_weights(weight[rows]))
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
