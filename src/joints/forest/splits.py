"""The best split of a node by Gini impurity: a threshold for a continuous feature, two subsets for a categorical one.

A split into L and R scores ``n + sum_k L_k^2 / |L| + sum_k R_k^2 / |R|``, where only the n rows count on which the
feature is observed.  Where all rows are observed that ranks splits exactly as the weighted Gini impurity does; where
some are not it prefers complete features.
"""

import numpy as np

from joints.numerics.compiled import kernel

MISSING = np.uint32(0xFFFFFFFF)  # the rank of a missing value
EXHAUSTIVE_GROUPS = 14  # up to here all 2^(g-1) - 1 two-way partitions of g groups of categories are scored


@kernel
def best_threshold(keys, n, right, min_rows):
    """Best cut of rows sorted by rank, as (score, last rank on the left); -inf where there is none.

    A key holds the rank in its upper half, then the class and the row's weight in 16 bits each.  `right` comes with
    the class weights of these rows and is used up.
    """
    left = np.zeros(len(right))
    n_left, n_right, left_squares, right_squares = 0.0, 0.0, 0.0, 0.0
    for weight in right:
        n_right += weight
        right_squares += weight * weight
    total = n_right
    best, best_rank = -np.inf, np.int64(-1)
    rank = np.int64(keys[0] >> np.uint64(32))
    for i in range(n - 1):
        k = np.int64((keys[i] >> np.uint64(16)) & np.uint64(0xFFFF))
        w = np.float64(keys[i] & np.uint64(0xFFFF))
        left_squares += w * (2.0 * left[k] + w)
        right_squares -= w * (2.0 * right[k] - w)
        left[k] += w
        right[k] -= w
        n_left += w
        n_right -= w
        following = np.int64(keys[i + 1] >> np.uint64(32))
        if following != rank:
            if n_left >= min_rows and n_right >= min_rows:
                score = left_squares / n_left + right_squares / n_right
                if score > best:
                    best, best_rank = score, rank
            rank = following
    return total + best, best_rank


@kernel
def _partition_score(left, totals, n):
    n_left, left_squares, right_squares = 0.0, 0.0, 0.0
    for k in range(totals.shape[0]):
        n_left += left[k]
        left_squares += left[k] * left[k]
        right_squares += (totals[k] - left[k]) ** 2
    return n_left, left_squares / max(n_left, 1.0) + right_squares / max(n - n_left, 1.0)


@kernel
def published_order(counts):
    """Categories by their number of rows of class 1, as the published numbers rest on (`counts` is categories x 2).

    The sort is numba's own, which keeps equal categories in the order of their codes up to 15 categories and moves them
    about beyond that.  Many are equal: all that do not occur, and all without rows of class 1.
    """
    return np.argsort(counts[:, 1].copy())


@kernel(counted=True)
def best_ordered_subset(counts, by_proportion, min_rows, goes_left):
    """Best two subsets of the categories for two classes, as a cut of the ordered categories.

    `counts` (categories x 2) are class weights at the node.  Ordered by the proportion of class 1 this is the optimum
    (Breiman et al. 1984); categories that do not occur come first, so they join the left side.  In the published order
    a category that does not occur stands among those without rows of class 1, and the first of equally good cuts may
    leave it on the right.  Fills `goes_left`, returns the score (-inf: no split).
    """
    n_categories = counts.shape[0]
    proportion = np.full(n_categories, -1.0)
    totals = np.zeros(2)
    for c in range(n_categories):
        size = counts[c, 0] + counts[c, 1]
        if size > 0:
            proportion[c] = counts[c, 1] / size
        totals[0] += counts[c, 0]
        totals[1] += counts[c, 1]
    order = np.argsort(proportion, kind="mergesort") if by_proportion else published_order(counts)
    n = totals[0] + totals[1]
    left = np.zeros(2)
    best, cut = -np.inf, 0
    for i in range(n_categories - 1):
        left[0] += counts[order[i], 0]
        left[1] += counts[order[i], 1]
        n_left, score = _partition_score(left, totals, n)
        if score > best and n_left >= min_rows and n - n_left >= min_rows:
            best, cut = score, i + 1
    goes_left[:] = True
    for i in range(cut, n_categories):
        goes_left[order[i]] = False
    return n + best


@kernel(counted=True)
def best_subset(counts, min_rows, goes_left):
    """Best two subsets of the categories for any number of classes.

    Categories whose rows are all of one class belong together in some optimum and are one group; all two-way
    partitions of up to `EXHAUSTIVE_GROUPS` groups are scored.  Beyond that the best cut of the categories ordered by
    each class's proportion is improved by moving single groups while that helps; on random tables of 16 groups that
    finds the best for three classes, and 99.9 % of its gain for eleven (99.2 % at worst).
    Categories that do not occur join the right side, that of the last category.  Fills `goes_left`, returns the score.
    """
    n_categories, n_classes = counts.shape
    totals = np.zeros(n_classes)
    for c in range(n_categories):
        for k in range(n_classes):
            totals[k] += counts[c, k]
    group_of, groups = _group_categories(counts)
    goes_left[:] = False
    if len(groups) < 2:
        return -np.inf
    best_side = np.zeros(len(groups), dtype=np.bool_)
    if len(groups) <= EXHAUSTIVE_GROUPS:
        best = _try_all_subsets(groups, totals, min_rows, best_side)
    else:
        best = _search_subset(groups, totals, min_rows, best_side)
    if best == -np.inf:
        return best
    last = n_categories - 1
    while group_of[last] < 0:
        last -= 1
    for c in range(n_categories):
        if group_of[c] >= 0:
            goes_left[c] = best_side[group_of[c]] != best_side[group_of[last]]
    return totals.sum() + best


@kernel(inline="always")
def _group_categories(counts):
    """The group of each category (-1: does not occur) and the class weights of the groups.

    Categories whose rows are all of one class are one group, every other one has its own.
    """
    n_categories, n_classes = counts.shape
    group_of = np.full(n_categories, -1, dtype=np.int64)
    pure_group = np.full(n_classes, -1, dtype=np.int64)
    groups = np.zeros((n_categories, n_classes))
    n_groups = 0
    for c in range(n_categories):
        size, largest, k_largest = 0.0, 0.0, 0
        for k in range(n_classes):
            size += counts[c, k]
            if counts[c, k] > largest:
                largest, k_largest = counts[c, k], k
        if size == 0:
            continue
        if largest == size and pure_group[k_largest] >= 0:
            g = pure_group[k_largest]
        else:
            g = n_groups
            n_groups += 1
            if largest == size:
                pure_group[k_largest] = g
        group_of[c] = g
        for k in range(n_classes):
            groups[g, k] += counts[c, k]
    return group_of, groups[:n_groups]


@kernel(inline="always")
def _try_all_subsets(groups, totals, min_rows, best_side):
    """The best of all two-way partitions of the groups, one group changing sides at a time."""
    n_groups, n_classes = groups.shape
    n = totals.sum()
    side, left = np.zeros(n_groups, dtype=np.bool_), np.zeros(n_classes)
    best = -np.inf
    for i in range(1, 1 << (n_groups - 1)):
        g = 0  # the Gray code's i-th change: the lowest bit set in i
        while not (i >> g) & 1:
            g += 1
        sign = -1.0 if side[g] else 1.0
        side[g] = not side[g]
        for k in range(n_classes):
            left[k] += sign * groups[g, k]
        n_left, score = _partition_score(left, totals, n)
        if score > best and n_left >= min_rows and n - n_left >= min_rows:
            best = score
            best_side[:] = side
    return best


@kernel
def _best_ordered_cut(groups, order, totals, min_rows):
    """How many groups of the given order the best cut leaves on the left (0: no cut), and its score."""
    n = totals.sum()
    left = np.zeros(groups.shape[1])
    cut, cut_score = 0, -np.inf
    for i in range(len(groups) - 1):
        left += groups[order[i]]
        n_left, score = _partition_score(left, totals, n)
        if score > cut_score and n_left >= min_rows and n - n_left >= min_rows:
            cut, cut_score = i + 1, score
    return cut, cut_score


@kernel
def _improve_subset(groups, totals, min_rows, side, left, score_now):
    """Move single groups to the other side while that helps; `left` has the class weights of the left side."""
    n = totals.sum()
    improved = True
    while improved:
        improved = False
        for g in range(len(groups)):
            sign = -1.0 if side[g] else 1.0
            for c in range(len(left)):
                left[c] += sign * groups[g, c]
            n_left, score = _partition_score(left, totals, n)
            if score > score_now + 1e-12 * n and n_left >= min_rows and n - n_left >= min_rows:
                side[g] = not side[g]
                score_now = score
                improved = True
            else:
                for c in range(len(left)):
                    left[c] -= sign * groups[g, c]
    return score_now


@kernel
def _search_subset(groups, totals, min_rows, best_side):
    """The best cut of the groups ordered by each class's proportion, improved."""
    n_groups, n_classes = groups.shape
    size = np.zeros(n_groups)
    for g in range(n_groups):
        size[g] = groups[g].sum()
    side, left = np.zeros(n_groups, dtype=np.bool_), np.zeros(n_classes)
    best = -np.inf
    for k in range(n_classes):
        order = np.argsort(groups[:, k] / size)
        cut, score = _best_ordered_cut(groups, order, totals, min_rows)
        if cut == 0:
            continue
        side[:] = False
        left[:] = 0.0
        for i in range(cut):
            side[order[i]] = True
            left += groups[order[i]]
        score = _improve_subset(groups, totals, min_rows, side, left, score)
        if score > best:
            best = score
            best_side[:] = side
    return best
