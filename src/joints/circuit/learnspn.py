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
    count_table,
    kendall,
    kendall_of_bits,
    kendall_of_table,
    kruskal,
    order_bits,
    order_bits_of_sorted,
    take_ranks,
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
from joints.numerics.sorting import sort_by_rank
from joints.numerics.threads import run

MOST_ROUNDS = 100  # of 2-means
FEWEST_ROWS = 5  # for a test of independence
# Kendall's tau counts a table where the different values make few cells, all pairs by bits up to so many rows, or sorts
FEW_CELLS, FEW_ROWS = 4, 2048  # cells per row; beyond these rows four times as many
INITIAL, RETRY = np.uint64(5) << np.uint64(40), 3


class Variables(NamedTuple):
    """The features and, last, the class as variables of a circuit, and how the circuit is learned.

    Attributes
    ----------
    values : float64 of shape (n_rows, n_variables), column by column in memory
        Continuous values or codes, NaN where missing.
    codes : int32 of the same shape and layout
        Categories, or the place of a continuous value among the different ones; -1 where missing.
    n_categories, category_start : int64 of shape (n_variables,)
        0 for a continuous variable; where the variable's categories begin in ``Cells.allowed``.
    scale : float64 of shape (n_variables,)
        Standard deviation in the training data: the unit of distances.
    threshold : float
        Two variables are held dependent when the p-value of their test is below this.
    smoothing : joints.circuit.leaves.Smoothing
    """

    values: np.ndarray
    codes: np.ndarray
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
        values = np.empty((len(data.y), len(n_categories)), order="F")
        values[:, :-1], values[:, -1] = data.X, data.y
        return cls(
            values,
            codes_of(values, n_categories),
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


@kernel
def _place_values(column, order, codes):
    """The place of each value among the different ones, -1 where missing; `order` has the rows by ascending value."""
    place = -1
    for i in range(len(order)):
        x = column[order[i]]
        if x != x:
            codes[order[i]] = -1
            continue
        if i == 0 or x != column[order[i - 1]]:
            place += 1
        codes[order[i]] = place


def codes_of(values: np.ndarray, n_categories: np.ndarray) -> np.ndarray:
    """``Variables.codes`` of values."""
    codes = np.empty(values.shape, dtype=np.int32, order="F")
    for j, k in enumerate(n_categories):
        if k:
            codes[:, j] = np.where(np.isnan(values[:, j]), -1, values[:, j])
        else:
            _place_values(values[:, j], np.argsort(values[:, j]), codes[:, j])
    return codes


@kernel(inline="always")
def _draw_centres(n, seed, attempt, labels):
    """Two different rows out of n, which get the labels 0 and 1; the others get -1."""
    first = below(mix(seed, np.uint64(2 * attempt)), n)
    second = below(mix(seed, np.uint64(2 * attempt + 1)), n - 1)
    if second >= first:
        second += 1
    labels[:n] = -1
    labels[first], labels[second] = 0, 1
    return first, second


class _Clustered(NamedTuple):
    """The rows that 2-means cuts, variable by variable, and two centres of them.

    Attributes
    ----------
    values : float64 of shape (n_variables, n_rows)
        Of continuous variables.
    codes : int32 of shape (n_variables, n_rows)
        Of categorical variables.
    complete : bool of shape (n_variables,)
        Whether no value is missing.
    n_categories, start : int64 of shape (n_variables,)
        0 for a continuous variable; where the variable's entries begin in `centre`.
    continuous : int64
        The continuous variables, the last of them repeated up to a multiple of four.
    centre : float64 of shape (2, width)
        The mean of a continuous variable; how many rows are of each category of another one.
    seen : float64 of shape (2, n_variables)
        How many values each of these is made of.
    """

    values: np.ndarray
    codes: np.ndarray
    complete: np.ndarray
    n_categories: np.ndarray
    start: np.ndarray
    continuous: np.ndarray
    centre: np.ndarray
    seen: np.ndarray


@kernel
def _cluster_of(variables, rows, scope):
    m, n = len(scope), len(rows)
    n_categories = variables.n_categories[scope]
    start, width, n_continuous = np.empty(m, dtype=np.int64), 0, 0
    continuous = np.empty(m + 3, dtype=np.int64)
    values, codes = np.empty((m, n)), np.empty((m, n), dtype=np.int32)
    complete = np.ones(m, dtype=np.bool_)
    for j in range(m):
        start[j] = width
        width += max(n_categories[j], 1)
        if n_categories[j]:
            for i in range(n):
                codes[j, i] = variables.codes[rows[i], scope[j]]
            continue
        continuous[n_continuous] = j
        n_continuous += 1
        n_missing = 0
        for i in range(n):
            x = variables.values[rows[i], scope[j]]
            values[j, i] = x
            n_missing += x != x
        complete[j] = n_missing == 0
    while n_continuous % 4:
        continuous[n_continuous] = continuous[n_continuous - 1]
        n_continuous += 1
    centre, seen = np.zeros((2, width)), np.zeros((2, m))
    return _Clustered(values, codes, complete, n_categories, start, continuous[:n_continuous], centre, seen)


@kernel(counted=False)
def _add_sides(a, b, c, d, labels, totals):
    """The sums of four columns over the rows with label 0 and with label 1; missing values do not count.

    Each is summed in the order of the rows; that there are eight lets the processor add them side by side.
    """
    a0, b0, c0, d0, a1, b1, c1, d1 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(len(a)):
        first, second = labels[r] == 0, labels[r] == 1
        x, y, z, w = a[r], b[r], c[r], d[r]
        x, y = x if x == x else 0.0, y if y == y else 0.0
        z, w = z if z == z else 0.0, w if w == w else 0.0
        a0 += x if first else 0.0
        b0 += y if first else 0.0
        c0 += z if first else 0.0
        d0 += w if first else 0.0
        a1 += x if second else 0.0
        b1 += y if second else 0.0
        c1 += z if second else 0.0
        d1 += w if second else 0.0
    totals[0, 0], totals[0, 1], totals[0, 2], totals[0, 3] = a0, b0, c0, d0
    totals[1, 0], totals[1, 1], totals[1, 2], totals[1, 3] = a1, b1, c1, d1


@kernel(counted=False)
def _n_on_side(x, labels, side):
    """How many values there are with a label."""
    n = 0
    for r in range(len(x)):
        n += labels[r] == side and x[r] == x[r]
    return n


@kernel(inline="always")
def _find_means(table, labels, totals):
    """The means of the continuous variables over the rows with labels 0 and 1."""
    values, which, n = table.values, table.continuous, table.values.shape[1]
    n_first, n_second = 0, 0
    for r in range(n):
        n_first += labels[r] == 0
        n_second += labels[r] == 1
    for b in range(0, len(which), 4):
        _add_sides(values[which[b]], values[which[b + 1]], values[which[b + 2]], values[which[b + 3]], labels, totals)
        for q in range(4):
            j = which[b + q]
            for side in range(2):
                size = n_second if side else n_first
                seen = float(size if table.complete[j] else _n_on_side(values[j], labels, side))
                table.seen[side, j] = seen
                table.centre[side, table.start[j]] = totals[side, q] / max(seen, 1.0)


@kernel(inline="always")
def _count_categories(table, moved, labels, fresh):
    """Count the categories by label: of the rows `moved` alone (`fresh`), or after these have changed their labels."""
    for j in range(len(table.start)):
        if not table.n_categories[j]:
            continue
        o, codes = table.start[j], table.codes[j]
        if fresh:
            table.centre[:, o : o + table.n_categories[j]] = 0.0
            table.seen[:, j] = 0.0
        for r in moved:
            if codes[r] >= 0:
                table.centre[labels[r], o + codes[r]] += 1.0
                table.seen[labels[r], j] += 1.0
                if not fresh:
                    table.centre[1 - labels[r], o + codes[r]] -= 1.0
                    table.seen[1 - labels[r], j] -= 1.0


@kernel(counted=False)
def _add_distances(x, first, second, scale, difference):
    """Add a continuous variable's distance to the first centre minus that to the second, where it has a value."""
    square = scale * scale
    for r in range(len(x)):
        d = ((x[r] - first) ** 2 - (x[r] - second) ** 2) / square
        difference[r] += d if d == d else 0.0


@kernel(counted=False)
def _add_shares(codes, table, j, shares, difference):
    """The same for a categorical variable: the distance is the share of the centre's rows of other categories."""
    o, centre, seen = table.start[j], table.centre, table.seen
    for c in range(table.n_categories[j]):
        shares[c] = centre[1, o + c] / max(seen[1, j], 1.0) - centre[0, o + c] / max(seen[0, j], 1.0)
    for r in range(len(codes)):
        if codes[r] >= 0:
            difference[r] += shares[codes[r]]


@kernel(inline="always")
def _assign_rows(table, scale, room, labels, fresh):
    """Label each row by the nearer centre; returns how many rows moved (all if `fresh`), and whether a label changed.

    The third number is that of the rows with label 1.
    """
    shares, difference, moved = room.shares, room.difference, room.moved
    difference[:] = 0.0
    for j in range(len(table.start)):
        if table.seen[0, j] > 0.0 and table.seen[1, j] > 0.0:
            if table.n_categories[j]:
                _add_shares(table.codes[j], table, j, shares, difference)
            else:
                o = table.start[j]
                _add_distances(table.values[j], table.centre[0, o], table.centre[1, o], scale[j], difference)
    changed, n_second, n_moved = False, 0, 0
    for i in range(len(difference)):
        label = 1 if difference[i] > 0.0 else 0
        other = label != labels[i]
        changed |= other
        moved[n_moved] = i
        n_moved += other or fresh
        labels[i] = label
        n_second += label
    return n_moved, changed, n_second


class _Rounds(NamedTuple):
    """Room for the rounds of 2-means: numbers by row, by category and of `_add_sides`, and the rows that moved."""

    difference: np.ndarray
    shares: np.ndarray
    totals: np.ndarray
    moved: np.ndarray


@kernel(counted=False)
def _separate(table, scale, room, n_moved, labels):
    """Rounds of 2-means from the first centres, of `n_moved` rows; returns whether both sides got rows."""
    n, n_second, changed = table.values.shape[1], 0, True
    for turn in range(MOST_ROUNDS):
        _find_means(table, labels, room.totals)
        _count_categories(table, room.moved[:n_moved], labels, turn < 2)
        n_moved, changed, n_second = _assign_rows(table, scale, room, labels, turn == 0)
        if not changed or n_second in (0, n):
            break
    return 0 < n_second < n


@kernel
def two_means(variables, rows, scope, seed, labels):
    """Cut rows in two by their variables in `scope`; returns whether both sides got rows.

    The distance to a centre is the squared difference in units of `scale` for a continuous variable and, for a
    categorical one, the share of the centre's rows that are of another category; missing values do not count.
    The first centres are two rows drawn at random, several times if these are equal.
    """
    n, scale = len(rows), variables.scale[scope]
    table = _cluster_of(variables, rows, scope)
    shares = np.empty(max(table.n_categories.max(), 1))
    room = _Rounds(np.empty(n), shares, np.empty((2, 4)), np.empty(n + 1, dtype=np.int64))
    for attempt in range(RETRY):
        room.moved[0], room.moved[1] = _draw_centres(n, seed, attempt, labels)
        if _separate(table, scale, room, 2, labels):
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
    codes : int32 of shape (n_variables, n_rows)
        Those of ``Variables``; of a continuous variable that is sorted, its places among the rows at hand.
    n_categories, n_observed, n_different : int64 of shape (n_variables,)
        The last, how many different codes there are, is known of categorical and of sorted variables.
    constant : bool of shape (n_variables,)
    largest : int64 of shape (n_variables,)
        The largest code.
    size, sets : int64 of shape (sum of categories,) and uint64 of shape (sum of categories, words)
        How many rows are of each category, and which: a bit for each.
    start : int64 of shape (n_variables,)
        Where a variable begins in these.
    sorted, ranked, in_bits : bool of shape (n_variables,)
        Which of the following is known of a continuous variable; it is found when it is first needed.
    order : int64 of shape (n_variables, n_rows)
        The rows that have a value, in ascending order of it.
    double_ranks, ties : int32 of shape (n_variables, n_rows) and float64 of shape (n_variables, 4)
        See `joints.circuit.independence.take_ranks`.
    above, below : uint64 of shape (n_variables, n_rows, words)
        See `joints.circuit.independence.order_bits`.  Empty for many rows.
    """

    codes: np.ndarray
    n_categories: np.ndarray
    n_observed: np.ndarray
    n_different: np.ndarray
    constant: np.ndarray
    largest: np.ndarray
    size: np.ndarray
    sets: np.ndarray
    start: np.ndarray
    sorted: np.ndarray
    ranked: np.ndarray
    in_bits: np.ndarray
    order: np.ndarray
    double_ranks: np.ndarray
    ties: np.ndarray
    above: np.ndarray
    below: np.ndarray


class _Room(NamedTuple):
    """Room for sorting, for the rows that have both values of two variables, and for counts of their values."""

    keys: np.ndarray
    spare: np.ndarray
    x: np.ndarray
    y: np.ndarray
    double_ranks: np.ndarray
    ties: np.ndarray
    size: np.ndarray
    counts: np.ndarray
    table: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


@kernel
def _room_for(n, most_categories):
    return _Room(
        np.empty(n, dtype=np.uint64),
        np.empty(n, dtype=np.uint64),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(4),
        np.empty(max(n, most_categories), dtype=np.int64),
        np.empty(4 * FEW_CELLS * n, dtype=np.int32),
        np.empty((most_categories, most_categories)),
        np.empty(most_categories),
        np.empty(most_categories),
    )


@kernel
def _columns_for(n_categories, n):
    m, n_words = len(n_categories), (n + 63) // 64
    n_bits, width = m if n <= FEW_ROWS else 0, n_categories.sum()
    return _Columns(
        np.empty((m, n), dtype=np.int32),
        n_categories,
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        np.ones(m, dtype=np.bool_),
        np.zeros(m, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros((width, n_words), dtype=np.uint64),
        np.cumsum(n_categories) - n_categories,
        np.zeros(m, dtype=np.bool_),
        np.zeros(m, dtype=np.bool_),
        np.zeros(m, dtype=np.bool_),
        np.empty((m, n), dtype=np.int64),
        np.empty((m, n), dtype=np.int32),
        np.empty((m, 4)),
        np.empty((n_bits, n, n_words), dtype=np.uint64),
        np.empty((n_bits, n, n_words), dtype=np.uint64),
    )


@kernel(counted=False)
def _count_codes(codes, size, sets):
    """The number and the bit sets of the rows of each category, both zero before; returns how many categories occur."""
    n_different = 0
    for r in range(len(codes)):
        if codes[r] >= 0:
            n_different += size[codes[r]] == 0
            size[codes[r]] += 1
            sets[codes[r], r >> 6] |= np.uint64(1) << np.uint64(r & 63)
    return n_different


@kernel
def _columns_of(codes, rows, scope, n_categories):
    columns = _columns_for(n_categories, len(rows))
    for i in range(len(scope)):
        own, v = columns.codes[i], scope[i]
        least, largest, n_observed = np.int32(2**31 - 1), np.int32(-1), 0
        for r in range(len(rows)):
            code = codes[rows[r], v]
            own[r] = code
            n_observed += code >= 0
            largest = max(largest, code)
            least = min(least, code if code >= 0 else least)
        columns.n_observed[i], columns.largest[i] = n_observed, largest
        columns.constant[i] = least >= largest
        if n_categories[i]:
            span = slice(columns.start[i], columns.start[i] + n_categories[i])
            columns.n_different[i] = _count_codes(own, columns.size[span], columns.sets[span])
    return columns


@kernel(counted=True)
def _sort_column(i, columns, room):
    """Order and rank a continuous variable."""
    codes, n = columns.codes[i], 0
    for row in range(len(codes)):
        if codes[row] >= 0:
            room.keys[n] = (np.uint64(codes[row]) << np.uint64(32)) | np.uint64(row)
            n += 1
    keys = sort_by_rank(room.keys, room.spare, n, columns.largest[i])
    order = columns.order[i, :n]
    for k in range(n):
        order[k] = np.int64(keys[k] & np.uint64(0xFFFFFFFF))
    columns.n_different[i] = take_ranks(codes, order, columns.double_ranks[i], columns.ties[i])
    columns.sorted[i] = columns.ranked[i] = True


@kernel(counted=True)
def _take_bits(i, columns):
    """The bit sets of a continuous variable without missing values, which is sorted if there are more than 64."""
    codes, above, below = columns.codes[i], columns.above[i], columns.below[i]
    if len(codes) <= 64:
        order_bits(codes, above, below, columns.double_ranks[i], columns.ties[i])
        columns.ranked[i] = True
    else:
        order_bits_of_sorted(codes, columns.order[i], above, below)
    columns.in_bits[i] = True


@kernel(inline="always")
def _is_complete(i, j, columns):
    n = columns.codes.shape[1]
    return columns.n_observed[i] == n and columns.n_observed[j] == n


@kernel(inline="always")
def _take_both(i, j, columns, room):
    """The codes of variables i and j in the rows that have both, in the order of i; returns how many these are."""
    n = 0
    for row in columns.order[i, : columns.n_observed[i]]:
        if columns.codes[j, row] >= 0:
            room.x[n], room.y[n] = columns.codes[i, row], columns.codes[j, row]
            n += 1
    return n


@kernel(inline="always")
def _p_kendall(i, j, columns, room):
    n_rows, complete = columns.codes.shape[1], _is_complete(i, j, columns)
    by_bits = complete and len(columns.above) > 0
    if n_rows > 64 or not complete:
        for v in (i, j):
            if not columns.sorted[v]:
                _sort_column(v, columns, room)
        n_i, n_j = columns.n_different[i], columns.n_different[j]
        if n_i * n_j <= (FEW_CELLS if by_bits else 4 * FEW_CELLS) * n_rows:
            if not complete and _take_both(i, j, columns, room) < FEWEST_ROWS:
                return 1.0
            table = room.counts[: n_i * n_j].reshape((n_i, n_j))
            return kendall_of_table(columns.codes[i], columns.codes[j], table, room.size[:n_j])
    if by_bits:
        for v in (i, j):
            if not columns.in_bits[v]:
                _take_bits(v, columns)
        return kendall_of_bits(
            n_rows, columns.above[i], columns.ties[i], columns.above[j], columns.below[j], columns.ties[j]
        )
    n = _take_both(i, j, columns, room)
    return kendall(room.x[:n], room.y[:n]) if n >= FEWEST_ROWS else 1.0


@kernel(inline="always")
def _p_kruskal(i, j, columns, room):
    k, n, n_j = columns.n_categories[j], columns.codes.shape[1], columns.n_different[j]
    if _is_complete(i, j, columns):
        if n <= 4 * n_j or n_j < 2:
            return 1.0
        if not columns.ranked[i]:
            if n <= 64:
                _take_bits(i, columns)
            else:
                _sort_column(i, columns, room)
        size = columns.size[columns.start[j] : columns.start[j] + k]
        return kruskal(columns.double_ranks[i], columns.ties[i], columns.codes[j], size)
    if not columns.sorted[i]:
        _sort_column(i, columns, room)
    n = _take_both(i, j, columns, room)
    size, n_j = room.size[:k], 0
    size[:] = 0
    for code in room.y[:n]:
        n_j += size[code] == 0
        size[code] += 1
    if n < FEWEST_ROWS or n_j < 2 or n <= 4 * n_j:
        return 1.0
    identity = columns.order[j, :n]  # a categorical variable has no order
    for row in range(n):
        identity[row] = row
    take_ranks(room.x, identity, room.double_ranks, room.ties)
    return kruskal(room.double_ranks, room.ties, room.y[:n], size)


@kernel(inline="always")
def _p_chi_square(i, j, columns, room):
    n, k_i, k_j = float(columns.codes.shape[1]), columns.n_categories[i], columns.n_categories[j]
    n_i, n_j = columns.n_different[i], columns.n_different[j]
    if _is_complete(i, j, columns) and n <= 2 * n_i * n_j:
        return 1.0
    a, b = columns.sets[columns.start[i] : columns.start[i] + k_i], columns.sets[columns.start[j] :][:k_j]
    table, rows, cols = room.table[:k_i, :k_j], room.rows[:k_i], room.columns[:k_j]
    n, n_i, n_j = count_table(a, b, table, rows, cols)
    if n < FEWEST_ROWS or n_i < 2 or n_j < 2 or n <= 2 * n_i * n_j:
        return 1.0
    return chi_square(table, rows, cols, n, (n_i - 1) * (n_j - 1))


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


@kernel(counted=False)
def _join_dependent(columns, room, threshold, group):
    """Test the pairs of variables that are not joined yet, and join those held together; returns how many groups."""
    m, n_categories = len(group), columns.n_categories
    n_groups = m
    for i in range(m):
        if columns.constant[i]:
            continue  # independent of everything
        for j in range(m):
            if columns.constant[j] or not _has_turn(i, j, n_categories) or _root_of(group, i) == _root_of(group, j):
                continue
            if _p_value(i, j, columns, room) < threshold:
                group[_root_of(group, j)] = _root_of(group, i)
                n_groups -= 1
                if n_groups == 1:
                    return 1
    return n_groups


@kernel
def dependent_groups(variables, rows, scope, group):
    """Join the variables of `scope` that a test holds together (p below the threshold); returns how many groups remain.

    A pair with too few rows for its test counts as independent: 5 for Kendall, more than 4 for each category for
    Kruskal-Wallis, more than 2 for each cell of the table for chi-square.  Pairs already joined are not tested.
    """
    m = len(scope)
    group[:m] = np.arange(m)
    if len(rows) < FEWEST_ROWS:
        return m
    n_categories = variables.n_categories[scope]
    columns = _columns_of(variables.codes, rows, scope, n_categories)
    room = _room_for(len(rows), max(n_categories.max(), 1))
    return _join_dependent(columns, room, variables.threshold, group[:m])


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
