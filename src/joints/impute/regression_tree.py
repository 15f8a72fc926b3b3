"""A compiled grower of regression trees, for the continuous features of MissForest; see `joints.impute.trees`.

All features are tried at every node.  The rows of a node are not sorted: their targets are added up by the rank of
each feature, for all features side by side, and one sweep over the ranks finds the best split of every feature at once.
As nodes get smaller, so do the ranks: those of a node are counted among its own rows once they are few.

Where a feature has many values, its rank is the number of rows up to it, so that bins of ranks are bins of rows, and a
frequent value shares its bin with few others.  Features are compared bin by bin first, and only those that come close
to the best rank by rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joints.impute.trees import MOST_ROWS, WEIGHT_BITS, finished, midpoint, next_node, split_node, start_growth
from joints.numerics.compiled import kernel
from joints.numerics.random import below, mix

# Weight and weighted target of some rows are one integer, so that one addition adds both: the weight in the lower bits.
TARGET_BITS = 38  # of the sum of all absolute targets; with the weight, a sign, and a bit for rounding, 64
SPARSE = 2  # ranks per row from which on a node ranks its rows among themselves
BINS = 128  # of ranks, by which features of more values are compared at first
CLOSE = 0.98  # features whose binned gain is at least this part of the best are compared exactly
FEW = 24  # rows that are ranked by comparing each with each


class Sample(NamedTuple):
    """The rows of a bootstrap sample, each once.

    Attributes
    ----------
    row : int64 ndarray of shape (n_drawn,)
        The row of the table.
    rank : uint ndarray of shape (n_drawn, n_lanes)
        The ranks of its values, in each feature, among some of the rows; zero for the target.
    target : float64 ndarray of shape (n_drawn,)
        The value to predict.
    packed : int64 ndarray of shape (n_drawn,)
        How often it was drawn in the lower bits, and this weight times its target, as an integer, in the upper ones.
    order : int64 ndarray of shape (n_drawn,)
        The rows of each node next to each other.
    spare : int64 ndarray of shape (n_drawn,)
        Space for rows.
    """

    row: np.ndarray
    rank: np.ndarray
    target: np.ndarray
    packed: np.ndarray
    order: np.ndarray
    spare: np.ndarray


class Sweep(NamedTuple):
    """Space for the search of a split.

    Attributes
    ----------
    sums : int64 ndarray of shape (n_ranks, n_lanes)
        What the rows with a rank add up to, packed; zero between two nodes.
    column : int64 ndarray of shape (n_ranks,)
        The same of one feature.
    seen : uint ndarray of shape (n_ranks, n_lanes)
        Whether there are any, or how many, and then the new rank.
    left : int64 ndarray of shape (n_lanes,)
        What the rows up to a rank add up to.
    gain, scale : float32 ndarray of shape (n_lanes,)
        The best split of each feature: its gain is a fraction.
    n_values, shift : int64 ndarray of shape (n_lanes,)
        The number of values of each feature in the table, and the bits of its ranks that do not count while they are
        binned.
    is_long : uint ndarray of shape (n_lanes,)
        Whether a feature has more values than there are bins.
    """

    sums: np.ndarray
    column: np.ndarray
    seen: np.ndarray
    left: np.ndarray
    gain: np.ndarray
    scale: np.ndarray
    n_values: np.ndarray
    shift: np.ndarray
    is_long: np.ndarray


class Cut(NamedTuple):
    """The best split of a node by a feature: the ranks on both sides of it, and its gain, which is a fraction."""

    column: int
    last: int | np.int64
    following: int | np.int64
    gain: float
    scale: float


NO_CUT = Cut(-1, 0, 0, -1.0, 1.0)


class Asked(NamedTuple):
    """The rows that a tree will be asked for, if it is to answer nothing else.

    Attributes
    ----------
    rows : int64 ndarray of shape (n_asked,)
        Rows of the table, those of each node next to each other; none if the tree is to answer for any row.
    bounds : int64 ndarray of shape (n_nodes, 3)
        Where in `rows` those of a node begin, where those of its right child do, and where they end.
    """

    rows: np.ndarray
    bounds: np.ndarray


@kernel
def grow_regression_tree(table, target, y, counts, asked_rows, seed):
    """Grow one tree that predicts a continuous feature from all others.

    Parameters
    ----------
    table : RankedTable
    target : int
        The feature that is predicted, and left out of the predictors.
    y : float64 ndarray of shape (n_samples,)
        Its values.
    counts : int64 ndarray of shape (n_samples,)
        How often the bootstrap sample has each row; `MOST_ROWS` in all at most.
    asked_rows : int64 ndarray
        Rows of the table that the tree will be asked for: branches that they do not reach are not grown.  If there are
        none, all are.
    seed : int
        Decides between features that split a node equally well.

    Returns
    -------
    tree : GrownTree
        With one output, the mean.
    """
    sample = _draw_sample(table, target, y, counts)
    sweep = _start_sweep(sample.rank, table.n_values)
    growth = start_growth(len(sample.row), 1)
    n_ranks = np.full(len(growth.feature), _rank_again(sample, 0, len(sample.row), table.n_values.max(), sweep))
    asked = Asked(asked_rows.copy(), np.full((len(growth.feature), 3), len(asked_rows)))
    asked.bounds[0, 0] = asked.bounds[0, 1] = 0
    _grow_nodes(table, sample, sweep, growth, n_ranks, asked, seed)
    return finished(growth)


@kernel(counted=False)
def _grow_nodes(table, sample, sweep, growth, n_ranks, asked, seed):
    """Grow all nodes: the root is waiting."""
    value, sizes, row, rank = growth.value, growth.sizes, sample.row, table.by_row
    while sizes[1] > 0:
        node = next_node(growth)
        cut = NO_CUT
        if _is_asked(asked, node) and not _is_constant(sample, node):
            bits = mix(np.uint64(seed), np.uint64(node.start << 32 | node.end))
            if node.end - node.start == 2:
                cut = _cut_of_two(sample, node, bits)
            else:
                n = n_ranks[node.parent]
                if n > SPARSE * (node.end - node.start):
                    n = _rank_again(sample, node.start, node.end, n, sweep)
                n_ranks[node.number] = n
                cut = _best_cut(sample, node, n, sweep, bits)
        if cut.column < 0:
            value[node.number, 0] = _mean(sample, node)
            continue
        column = cut.column
        middle, under, over = _divide(sample, node, column, cut.last, cut.following)
        threshold = midpoint(table.values, column, rank[row[under], column], rank[row[over], column])
        split_node(growth, node, column, threshold, middle)
        _divide_asked(asked, node, table, column, threshold)


@kernel
def _draw_sample(table, target, y, counts):
    """The rows that were drawn, with targets that are integers once they are centred and scaled."""
    row = np.flatnonzero(counts)
    weight, goal = counts[row], y[row]
    rank = table.by_row[row]
    rank[:, target] = 0
    centre = np.sum(weight * goal) / np.sum(weight)
    spread = np.sum(weight * np.abs(goal - centre))
    scale = 2.0**TARGET_BITS / spread if spread > 0 else 0.0
    packed = np.empty(len(row), dtype=np.int64)
    for i in range(len(row)):
        packed[i] = (np.int64(round((goal[i] - centre) * scale)) * weight[i] << WEIGHT_BITS) + weight[i]
    return Sample(row, rank, goal, packed, np.arange(len(row)), np.empty(len(row), dtype=np.int64))


@kernel
def _start_sweep(rank, n_values):
    n_ranks, n_lanes = max(n_values.max(), len(rank)), rank.shape[1]
    values = np.ones(n_lanes, dtype=np.int64)
    values[: len(n_values)] = n_values
    is_long = (values > BINS).astype(rank.dtype)
    return Sweep(
        np.zeros((n_ranks, n_lanes), dtype=np.int64),
        np.zeros(n_ranks, dtype=np.int64),
        np.empty((n_ranks, n_lanes), dtype=rank.dtype),
        np.empty(n_lanes, dtype=np.int64),
        np.empty(n_lanes, dtype=np.float32),
        np.empty(n_lanes, dtype=np.float32),
        values,
        np.empty(n_lanes, dtype=np.int64),
        is_long,
    )


@kernel(inline="always")
def _is_constant(sample, node):
    """Whether all rows of a node have the same target."""
    order, goal = sample.order, sample.target
    p = node.start + 1
    while p < node.end and goal[order[p]] == goal[order[node.start]]:
        p += 1
    return p == node.end


@kernel(inline="always")
def _mean(sample, node):
    """The mean target of a node."""
    order, goal, packed = sample.order, sample.target, sample.packed
    sum_of_targets, sum_of_weights = 0.0, 0
    for p in range(node.start, node.end):
        i = order[p]
        weight = packed[i] & MOST_ROWS
        sum_of_targets += weight * goal[i]
        sum_of_weights += weight
    return sum_of_targets / sum_of_weights


@kernel(inline="always")
def _cut_of_two(sample, node, bits):
    """The split of a node of two rows: any feature that tells them apart does it equally well."""
    rank = sample.rank
    i, j = sample.order[node.start], sample.order[node.start + 1]
    n_equal = 0
    for k in range(rank.shape[1]):
        n_equal += rank[i, k] != rank[j, k]
    if n_equal == 0:
        return NO_CUT
    chosen = below(bits, n_equal)
    column = -1
    while chosen >= 0:
        column += 1
        chosen -= rank[i, column] != rank[j, column]
    one, other = np.int64(rank[i, column]), np.int64(rank[j, column])
    return Cut(column, min(one, other), max(one, other), 0.0, 1.0)


@kernel(counted=False)
def _rank_again(sample, start, end, n_ranks, sweep):
    """Rank the rows of a node among themselves, by each feature, and return the number of ranks."""
    order, rank, seen, is_long = sample.order, sample.rank, sweep.seen, sweep.is_long
    n_lanes, few = rank.shape[1], end - start <= FEW
    for r in range(end - start if few else n_ranks):
        for k in range(n_lanes):
            seen[r, k] = 0
    if few:
        _count_smaller(sample, start, end, seen)
        return end - start
    for p in range(start, end):
        i = order[p]
        for k in range(n_lanes):
            r = rank[i, k]
            seen[r, k] = seen[r, k] * is_long[k] + 1
    for r in range(1, n_ranks):
        for k in range(n_lanes):
            seen[r, k] += seen[r - 1, k]
    for p in range(start, end):
        i = order[p]
        for k in range(n_lanes):
            rank[i, k] = seen[rank[i, k], k] - 1
    most = 0
    for k in range(n_lanes):
        most = seen[n_ranks - 1, k] if seen[n_ranks - 1, k] > most else most
    return most


@kernel(counted=False)
def _count_smaller(sample, start, end, smaller):
    """Rank a few rows, each by the number of smaller ones."""
    order, rank = sample.order, sample.rank
    n_lanes = rank.shape[1]
    for p in range(start, end):
        i = order[p]
        for q in range(start, end):
            j = order[q]
            for k in range(n_lanes):
                smaller[p - start, k] += rank[j, k] < rank[i, k]
    for p in range(start, end):
        i = order[p]
        for k in range(n_lanes):
            rank[i, k] = smaller[p - start, k]


@kernel(counted=False)
def _best_cut(sample, node, n_ranks, sweep, bits):
    """The best split of a node.  With many ranks, bins of them tell which features to compare rank by rank."""
    order, packed = sample.order, sample.packed
    total = 0
    for p in range(node.start, node.end):
        total += packed[order[p]]
    n_bins, binned = _choose_bins(sweep, n_ranks, BINS)
    first = _best_binned(sample, node, sweep, n_bins, total, bits)
    if first < 0 and binned:
        n_bins, binned = _choose_bins(sweep, n_ranks, n_ranks)
        first = _best_binned(sample, node, sweep, n_bins, total, bits)
    if first < 0:
        return NO_CUT
    best = _best_rank(sample, node, first, n_ranks, total, sweep.column)
    if binned:
        gain, scale = sweep.gain, sweep.scale
        least = np.float32(CLOSE) * gain[first]
        for k in range(len(gain)):
            if k != first and gain[k] * scale[first] >= least * scale[k]:
                cut = _best_rank(sample, node, k, n_ranks, total, sweep.column)
                if cut.gain * best.scale > best.gain * cut.scale:
                    best = cut
    return best


@kernel(inline="always")
def _choose_bins(sweep, n_ranks, most):
    """Divide the ranks of each feature into so many bins at most; how many there are, and whether any hold several."""
    n_values, shift, is_long, n_bins, binned = sweep.n_values, sweep.shift, sweep.is_long, 1, False
    for k in range(len(shift)):
        last = (n_ranks if is_long[k] else min(n_values[k], n_ranks)) - 1
        shift[k] = 0
        while last >> shift[k] >= most:
            shift[k] += 1
        n_bins, binned = max(n_bins, (last >> shift[k]) + 1), binned or shift[k] > 0
    return n_bins, binned


@kernel(counted=False)
def _best_binned(sample, node, sweep, n_bins, total, bits):
    """The feature that splits a node best between two of its bins; -1 if none does."""
    centre = (total >> WEIGHT_BITS) // (total & MOST_ROWS)
    _add_rows(sample, node, centre, sweep.shift, sweep.sums)
    _sweep_all(sweep, n_bins, total - ((total & MOST_ROWS) * centre << WEIGHT_BITS))
    return _best_column(sweep, bits)


@kernel(counted=False)
def _add_rows(sample, node, centre, shift, sums):
    """Add up the rows of a node, centred, by each bin of ranks of each feature."""
    order, rank, packed = sample.order, sample.rank, sample.packed
    for p in range(node.start, node.end):
        i = order[p]
        term = packed[i] - ((packed[i] & MOST_ROWS) * centre << WEIGHT_BITS)
        for k in range(rank.shape[1]):
            sums[rank[i, k] >> shift[k], k] += term


@kernel(counted=False)
def _sweep_all(sweep, n_ranks, total):
    """The best split of a node by each feature; a gain of -1 where there is none.  Clears the sums.

    Left and right are treated alike, to the last bit: features that divide the rows in the same way must tie, whichever
    side they put them on.
    """
    sums, left, best_gain, best_scale = sweep.sums, sweep.left, sweep.gain, sweep.scale
    for k in range(len(left)):
        left[k], best_gain[k], best_scale[k] = 0, -1.0, 1.0
    for r in range(n_ranks):
        for k in range(len(left)):
            left[k] += sums[r, k]
            sums[r, k] = 0
            right = total - left[k]
            product = np.float32(left[k] >> WEIGHT_BITS) * np.float32(right >> WEIGHT_BITS)
            gain = -product if product < 0 else np.float32(0.0)
            scale = np.float32(left[k] & MOST_ROWS) * np.float32(right & MOST_ROWS)
            better = (gain * best_scale[k] > best_gain[k] * scale) & (scale > 0)
            best_gain[k] = gain if better else best_gain[k]
            best_scale[k] = scale if better else best_scale[k]


@kernel(inline="always")
def _best_column(sweep, bits):
    """The feature with the best split, drawn from those that are equally good; -1 if none has any."""
    gain, scale = sweep.gain, sweep.scale
    best, n_equal, best_gain, best_scale = -1, 0, np.float32(-1.0), np.float32(1.0)
    for k in range(len(gain)):
        ours, theirs = gain[k] * best_scale, best_gain * scale[k]
        if ours > theirs:
            best, n_equal, best_gain, best_scale = k, 1, gain[k], scale[k]
        elif ours == theirs:
            n_equal += 1
    chosen = below(bits, n_equal) if n_equal > 1 else 0
    while best >= 0 and chosen > 0:
        best += 1
        chosen -= gain[best] * best_scale == best_gain * scale[best]
    return best


@kernel(counted=False)
def _best_rank(sample, node, column, n_ranks, total, sums):
    """The ranks on both sides of a feature's best split."""
    order, rank, packed = sample.order, sample.rank, sample.packed
    for p in range(node.start, node.end):
        i = order[p]
        sums[rank[i, column]] += packed[i]
    all_weight, all_targets = float(total & MOST_ROWS), float(total >> WEIGHT_BITS)
    left = 0
    last = before = following = -1
    best_gain, best_scale = -1.0, 1.0
    for r in range(n_ranks):
        if sums[r] != 0:
            following = r if before == last else following
            before = r
            left += sums[r]
            sums[r] = 0
            weight = float(left & MOST_ROWS)
            excess = float(left >> WEIGHT_BITS) * all_weight - all_targets * weight
            gain, scale = excess * excess, weight * (all_weight - weight)
            if gain * best_scale > best_gain * scale:
                best_gain, best_scale, last = gain, scale, r
    return Cut(column, last, following, best_gain, best_scale)


@kernel(inline="always")
def _divide(sample, node, column, last, following):
    """Put the rows of the left child before the others; where those start, and rows with the ranks next to the cut."""
    order, rank, spare = sample.order, sample.rank, sample.spare
    to_left, to_right = node.start, 0
    under = over = order[node.start]
    for p in range(node.start, node.end):
        i = order[p]
        r = np.int64(rank[i, column])
        left = 1 if r <= last else 0
        under = i if r == last else under
        over = i if r == following else over
        order[to_left] = i
        spare[to_right] = i
        to_left += left
        to_right += 1 - left
    for p in range(to_right):
        order[to_left + p] = spare[p]
    return to_left, under, over


@kernel(inline="always")
def _is_asked(asked, node):
    """Whether a node is to be grown; finds its rows among those that are asked for."""
    bounds = asked.bounds
    if node.number > 0:
        is_left = node.number == node.parent + 1
        bounds[node.number, 0] = bounds[node.parent, 0 if is_left else 1]
        bounds[node.number, 2] = bounds[node.parent, 1 if is_left else 2]
    return len(asked.rows) == 0 or bounds[node.number, 0] < bounds[node.number, 2]


@kernel(inline="always")
def _divide_asked(asked, node, table, column, threshold):
    """Put the rows that are asked for and go to the left child before the others."""
    rows, bounds = asked.rows, asked.bounds
    middle = bounds[node.number, 0]
    for p in range(bounds[node.number, 0], bounds[node.number, 2]):
        i = rows[p]
        if table.values[column, table.by_row[i, column]] <= threshold:
            rows[p] = rows[middle]
            rows[middle] = i
            middle += 1
    bounds[node.number, 1] = middle
