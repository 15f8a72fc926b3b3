"""LearnSPN (Gens and Domingos 2013) on mixed data with missing values: the structure of a circuit from rows.

Sum nodes cut the rows in two by 2-means, product nodes cut the variables into groups that no independence test holds
together.  After a product node comes a sum, after a sum node a product where the tests find one; variables that neither
way takes apart are fully factorised.  Nodes are numbered from the root, parents before their children.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from joints.circuit.independence import chi_square, kendall, kendall_of_bits, kruskal, order_bits
from joints.circuit.leaves import (
    Leaves,
    RowsOfTree,
    cells,
    feature_moments,
    fit_categorical,
    fit_gaussian,
    offsets,
    smallest_sds,
)
from joints.circuit.nodes import join_circuits
from joints.forest.arrays import Forest, TrainingData, join_trees, leaves_of_training_rows
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix
from joints.numerics.threads import run

MOST_ROUNDS = 100  # of 2-means
FEW_ROWS = 1024  # up to here Kendall's tau counts all pairs by bits, beyond it sorts
INITIAL, RETRY = np.uint64(5) << np.uint64(40), 3


@kernel
def two_means(data, rows, scope, n_categories, scale, seed, labels):
    """Cut rows in two by their variables in `scope`; returns whether both sides got rows.

    The distance to a centre is the squared difference in units of `scale` for a continuous variable and, for a
    categorical one, the share of the centre's rows that are of another category; missing values do not count.
    The first centres are two rows drawn at random, several times if these are equal.
    """
    n, m = len(rows), len(scope)
    width = 0
    for v in scope:
        width += max(n_categories[v], 1)
    centre = np.zeros((2, width))
    seen = np.zeros((2, m))
    for attempt in range(RETRY):
        first = below(mix(seed, np.uint64(2 * attempt)), n)
        second = below(mix(seed, np.uint64(2 * attempt + 1)), n - 1)
        if second >= first:
            second += 1
        labels[:n] = -1
        labels[first], labels[second] = 0, 1
        for _ in range(MOST_ROUNDS):
            centre[:] = 0.0
            seen[:] = 0.0
            for i in range(n):
                side = labels[i]
                if side < 0:
                    continue
                o = 0
                for j in range(m):
                    v = scope[j]
                    x = data[rows[i], v]
                    if not np.isnan(x):
                        seen[side, j] += 1.0
                        if n_categories[v]:
                            centre[side, o + np.int64(x)] += 1.0
                        else:
                            centre[side, o] += x
                    o += max(n_categories[v], 1)
            for side in range(2):
                o = 0
                for j in range(m):
                    n_entries = max(n_categories[scope[j]], 1)
                    centre[side, o : o + n_entries] /= max(seen[side, j], 1.0)
                    o += n_entries
            changed, n_second = False, 0
            for i in range(n):
                difference = 0.0  # distance to the first centre minus that to the second
                o = 0
                for j in range(m):
                    v = scope[j]
                    x = data[rows[i], v]
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


@kernel
def dependent_groups(data, rows, scope, n_categories, threshold, group):
    """Join the variables of `scope` that a test holds together (p below `threshold`); returns how many groups are left.

    A pair with too few rows for its test counts as independent: 5 for Kendall, more than 4 for each category for
    Kruskal-Wallis, more than 2 for each cell of the table for chi-square.  Pairs already joined are not tested.
    """
    n, m = len(rows), len(scope)
    n_groups = m
    for i in range(m):
        group[i] = i
    if n < 5:
        return n_groups
    x, y = np.empty(n), np.empty(n)
    a, b = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    columns = np.empty((m, n))
    constant, incomplete = np.ones(m, dtype=np.bool_), np.zeros(m, dtype=np.bool_)
    for i in range(m):
        first = np.nan
        for r in range(n):
            columns[i, r] = data[rows[r], scope[i]]
            if np.isnan(columns[i, r]):
                incomplete[i] = True
            elif np.isnan(first):
                first = columns[i, r]
            elif columns[i, r] != first:
                constant[i] = False
    # all pairs of rows as bits, for the complete continuous variables
    n_bits = m if n <= FEW_ROWS else 0
    above = np.empty((n_bits, n, (n + 63) // 64), dtype=np.uint64)
    below_bits = np.empty((n_bits, n, (n + 63) // 64), dtype=np.uint64)
    ties = [(0.0, 0.0, 0.0)] * m
    has_bits = np.zeros(m, dtype=np.bool_)
    for i in range(n_bits):
        if n_categories[scope[i]] == 0 and not constant[i] and not incomplete[i]:
            ties[i] = order_bits(columns[i], n, above[i], below_bits[i])
            has_bits[i] = True
    for i in range(m):
        u = scope[i]
        if constant[i]:
            continue  # independent of everything
        column = columns[i]
        order = np.empty(0, dtype=np.int64)
        n_seen = 0
        for j in range(m):
            v = scope[j]
            # each pair once; a mixed pair from its continuous side
            if (n_categories[u] > 0) == (n_categories[v] > 0):
                if j <= i:
                    continue
            elif n_categories[u] > 0:
                continue
            if constant[j] or _root_of(group, i) == _root_of(group, j):
                continue
            if has_bits[i] and has_bits[j]:
                p = kendall_of_bits(n, above[i], ties[i], above[j], below_bits[j], ties[j])
                if p < threshold:
                    group[_root_of(group, j)] = _root_of(group, i)
                    n_groups -= 1
                    if n_groups == 1:
                        return 1
                continue
            if len(order) == 0:
                order = np.argsort(column)  # missing values last
                n_seen = n
                while np.isnan(column[order[n_seen - 1]]):
                    n_seen -= 1
            k = 0
            for r in range(n_seen):
                other = columns[j, order[r]]
                if not np.isnan(other):
                    x[k], y[k] = column[order[r]], other
                    k += 1
            if k < 5:
                continue
            if n_categories[v] == 0:
                p = kendall(x[:k], y[:k])
            else:
                present_u, present_v = 1, 0
                used = np.zeros(n_categories[v], dtype=np.bool_)
                for r in range(k):
                    b[r] = np.int64(y[r])
                    if not used[b[r]]:
                        used[b[r]] = True
                        present_v += 1
                if n_categories[u]:
                    for r in range(k):
                        a[r] = np.int64(x[r])
                        if r > 0 and a[r] != a[r - 1]:
                            present_u += 1
                    if present_u < 2 or present_v < 2 or k <= 2 * present_u * present_v:
                        continue
                    p = chi_square(a[:k], b[:k], n_categories[u], n_categories[v])
                else:
                    if present_v < 2 or k <= 4 * present_v:
                        continue
                    p = kruskal(x[:k], b[:k], n_categories[v])
            if p < threshold:
                group[_root_of(group, j)] = _root_of(group, i)
                n_groups -= 1
                if n_groups == 1:
                    return 1
    return n_groups


@kernel
def _more(array, size):
    out = np.empty(max(size, 2 * len(array)), dtype=array.dtype)
    out[: len(array)] = array
    return out


@kernel
def learn(data, rows, scope, n_categories, threshold, after_product, mean, scale, smallest_sd, smoothing,
          count_missing, low, high, allowed, category_start, seed):  # fmt: skip
    """Learn a circuit over the variables in `scope` from the given rows of `data` (a row may be given several times).

    Parameters
    ----------
    data : float64 of shape (n_rows, n_variables)
        Continuous values or codes; the class is a categorical variable among them.
    after_product : bool
        Begin with a sum node (True) or try a product node first.
    low, high, allowed
        Gaussians are cut to (low, high] and categories to the allowed ones, variable by variable.

    Returns
    -------
    parent, is_sum, log_weight : one entry a node
        The log weight is that of the edge from a sum node, 0 below a product node.
    factor_node, factor_variable, factor_offset, parameters
        For each univariate density its product node, its variable, and where its entries begin.
    """
    n_rows = len(rows)
    rows = rows.copy()
    spare = np.empty(n_rows, dtype=np.int64)
    labels = np.empty(n_rows, dtype=np.int64)
    group = np.empty(len(scope), dtype=np.int64)

    parent, is_sum, log_weight = np.empty(16, dtype=np.int64), np.empty(16, dtype=np.bool_), np.empty(16)
    owner, variable, offset = (
        np.empty(32, dtype=np.int64), np.empty(32, dtype=np.int64), np.empty(32, dtype=np.int64)
    )  # fmt: skip
    parameters = np.empty(64)
    n_nodes, n_factors, n_parameters = 0, 0, 0

    scopes = np.empty(4 * len(scope) + 8, dtype=np.int64)  # the scopes of tasks, behind one another
    scopes[: len(scope)] = scope
    n_scopes = len(scope)
    tasks = np.empty((64, 6), dtype=np.int64)  # first row, end, first of scope, end, parent, after a product node
    weights = np.empty(64)
    tasks[0] = np.array([0, n_rows, 0, len(scope), -1, 1 if after_product else 0])
    weights[0] = 0.0
    height = 1
    while height > 0:
        height -= 1
        start, end, s_start, s_end = tasks[height, 0], tasks[height, 1], tasks[height, 2], tasks[height, 3]
        above, was_product, weight = tasks[height, 4], tasks[height, 5], weights[height]
        here, own = rows[start:end], scopes[s_start:s_end].copy()
        node = n_nodes
        n_nodes += 1
        if n_nodes > len(parent):
            parent, is_sum, log_weight = _more(parent, 0), _more(is_sum, 0), _more(log_weight, 0)
        parent[node], log_weight[node], is_sum[node] = above, weight, False

        n_groups = len(own)  # fully factorised, unless the rows or the variables are cut otherwise
        cut_rows = False
        if len(own) > 1:
            if not was_product:
                n_groups = dependent_groups(data, here, own, n_categories, threshold, group)
            if was_product or n_groups == 1:
                node_seed = mix(seed ^ INITIAL, np.uint64(node))
                cut_rows = len(here) > 2 and two_means(data, here, own, n_categories, scale, node_seed, labels)
                n_groups = len(own)
        if cut_rows:
            is_sum[node] = True
            n_first, n_second = 0, 0
            for i in range(len(here)):
                if labels[i] == 0:
                    here[n_first] = here[i]
                    n_first += 1
                else:
                    spare[n_second] = here[i]
                    n_second += 1
            here[n_first:] = spare[:n_second]
            if height + 2 > len(weights):
                tasks, weights = _taller(tasks), _more(weights, 0)
            for a, b in ((start, start + n_first), (start + n_first, end)):
                tasks[height, 0], tasks[height, 1], tasks[height, 2], tasks[height, 3] = a, b, s_start, s_end
                tasks[height, 4], tasks[height, 5] = node, 0
                weights[height] = np.log((b - a) / (end - start))
                height += 1
            continue

        if n_groups == len(own):
            group[: len(own)] = np.arange(len(own))
        for g in range(len(own)):
            if _root_of(group, g) != g:
                continue
            size = 0
            for i in range(len(own)):
                size += _root_of(group, i) == g
            if size == 1:  # a univariate density
                v = own[g]
                n_entries = n_categories[v] if n_categories[v] else 3
                if n_factors + 1 > len(variable):
                    owner, variable, offset = _more(owner, 0), _more(variable, 0), _more(offset, 0)
                if n_parameters + n_entries > len(parameters):
                    parameters = _more(parameters, n_parameters + n_entries)
                owner[n_factors], variable[n_factors], offset[n_factors] = node, v, n_parameters
                out = parameters[n_parameters : n_parameters + n_entries]
                if n_categories[v]:
                    o = category_start[v]
                    fit_categorical(data, here, v, allowed[o : o + n_categories[v]], smoothing, count_missing, out)
                else:
                    fit_gaussian(data, here, v, low[v], high[v], mean[v], smallest_sd[v], out)
                n_factors += 1
                n_parameters += n_entries
                continue
            if n_scopes + size > len(scopes):
                scopes = _more(scopes, n_scopes + size)
            first_of = n_scopes
            for i in range(len(own)):
                if _root_of(group, i) == g:
                    scopes[n_scopes] = own[i]
                    n_scopes += 1
            if height + 1 > len(weights):
                tasks, weights = _taller(tasks), _more(weights, 0)
            tasks[height, 0], tasks[height, 1], tasks[height, 2], tasks[height, 3] = start, end, first_of, n_scopes
            tasks[height, 4], tasks[height, 5] = node, 1
            weights[height] = 0.0
            height += 1
    return (
        parent[:n_nodes].copy(), is_sum[:n_nodes].copy(), log_weight[:n_nodes].copy(), owner[:n_factors].copy(),
        variable[:n_factors].copy(), offset[:n_factors].copy(), parameters[:n_parameters].copy(),
    )  # fmt: skip


@kernel
def _taller(tasks):
    out = np.empty((2 * tasks.shape[0], tasks.shape[1]), dtype=tasks.dtype)
    out[: tasks.shape[0]] = tasks
    return out


@dataclass(frozen=True)
class Variables:
    """The features and, last, the class as variables of a circuit: values, moments and settings of the densities."""

    data: np.ndarray  # float64 (n_rows, n_features + 1)
    n_categories: np.ndarray  # int64 (n_features + 1,)
    mean: np.ndarray
    scale: np.ndarray
    smallest_sd: np.ndarray
    smoothing: float
    threshold: float
    count_missing: bool

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
        return cls(
            np.column_stack([data.X, data.y]),
            np.append(data.n_categories, data.n_classes),
            np.append(mean, 0.0),
            np.append(scale, 1.0),
            np.append(smallest_sds(scale, min_sd, relative_sd), 1.0),
            smoothing,
            threshold,
            count_missing,
        )

    @property
    def category_start(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.n_categories)[:-1]])

    def anywhere(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cell without bounds: low, high, allowed."""
        n = len(self.n_categories)
        return np.full(n, -np.inf), np.full(n, np.inf), np.ones(self.n_categories.sum(), dtype=np.bool_)

    def learn(
        self,
        rows: np.ndarray,
        scope: np.ndarray,
        cell: tuple[np.ndarray, np.ndarray, np.ndarray],
        seed: np.uint64,
        after_product: bool,
    ) -> tuple[np.ndarray, ...]:
        """See `learn`."""
        return learn(
            self.data, rows, scope, self.n_categories, self.threshold, after_product, self.mean, self.scale,
            self.smallest_sd, self.smoothing, self.count_missing, *cell, self.category_start, seed,
        )  # fmt: skip


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

    def one(tree: int) -> list[tuple[int, tuple[np.ndarray, ...]]]:
        first, last = forest.leaf_start[tree], forest.leaf_start[tree + 1]
        row_leaf, weights = rows_of_tree(tree) if rows_of_tree else leaves_of_training_rows(forest, data, tree)
        drawn = np.repeat(np.arange(len(weights)), weights)
        drawn = drawn[np.argsort(row_leaf[drawn], kind="stable")]
        start = np.searchsorted(row_leaf[drawn], np.arange(first, last + 1))
        if truncate:
            low, high, allowed = cells(*forest.splits, data.n_categories, forest.tree_start[tree], last - first)
        found = []
        for leaf in np.flatnonzero(np.diff(start) > min_rows):
            cell = anywhere
            if truncate:
                ours = np.ones(data.n_classes, dtype=np.bool_)
                cell = (
                    np.append(low[leaf], -np.inf),
                    np.append(high[leaf], np.inf),
                    np.concatenate([allowed[leaf], ours]),
                )
            seed = np.uint64(mix(forest.seeds[tree] + np.uint64(tree), np.uint64(leaf)))
            circuit = variables.learn(drawn[start[leaf] : start[leaf + 1]], scope, cell, seed, True)
            found.append((first + leaf, circuit))
        return found

    found = [pair for part in run(one, [(tree,) for tree in range(forest.n_trees)], n_jobs) for pair in part]
    of_leaf = np.full(forest.n_leaves, -1, dtype=np.int64)
    of_leaf[[leaf for leaf, _ in found]] = np.arange(len(found))
    circuits = join_circuits([circuit for _, circuit in found], of_leaf, len(scope))
    return replace(leaves, circuits=circuits)


def learn_class_selective(data: TrainingData, variables: Variables, seed: np.uint64) -> tuple[Forest, Leaves]:
    """A circuit whose root is a sum over the classes, with a circuit over the features below each.

    In the terms of a forest it is one tree of a single leaf, and that leaf is the circuit.
    """
    n_features = data.X.shape[1]
    counts = np.bincount(data.y, minlength=data.n_classes).astype(np.float64)
    scope = np.arange(n_features)
    below = [
        variables.learn(
            np.flatnonzero(data.y == k), scope, variables.anywhere(), np.uint64(mix(seed, np.uint64(k))), False
        )
        for k in range(data.n_classes)
    ]
    nowhere = np.empty(0, dtype=np.int64)
    parts: list[tuple[np.ndarray, ...]] = [
        (np.array([-1]), np.array([True]), np.array([0.0]), nowhere, nowhere, nowhere, np.empty(0))
    ]
    n_nodes = 1
    for k, circuit in enumerate(below):
        indicator = np.where(np.arange(data.n_classes) == k, 0.0, -np.inf)
        log_weight = np.array([np.log(counts[k] / counts.sum())])
        zero = np.array([0])
        parts.append((zero, np.array([False]), log_weight, zero, np.array([n_features]), zero, indicator))
        parts.append((np.where(circuit[0] < 0, n_nodes, circuit[0] + n_nodes + 1), *circuit[1:]))
        n_nodes += 1 + len(circuit[0])
    circuits = join_circuits(parts, np.zeros(1, dtype=np.int64), n_features + 1, one=True)
    leaf = (
        np.array([-1], dtype=np.int32), np.array([np.nan]), np.array([-1], dtype=np.int32),
        np.array([-1], dtype=np.int64), np.empty(0, dtype=np.bool_), counts[None],
    )  # fmt: skip
    forest = join_trees([leaf], np.array([seed], dtype=np.uint64))
    offset, width = offsets(data.n_categories)
    unused = np.zeros((1, width))
    return forest, Leaves(offset, unused, np.zeros(1), counts[None] / counts.sum(), circuits)
