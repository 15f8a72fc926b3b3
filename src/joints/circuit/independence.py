"""Pairwise independence tests for LearnSPN's product nodes: Kendall's tau, Kruskal-Wallis and Pearson's chi-square.

Two continuous variables are tested by Kendall's tau-b, a continuous and a categorical one by Kruskal-Wallis over the
categories, two categorical ones by chi-square with Yates' correction for two by two tables.  The p-values are those of
`scipy.stats`.  Rows in which either variable is missing do not count.
"""

from __future__ import annotations

from math import erfc, exp, lgamma, log, sqrt

import numpy as np

from joints.numerics.bits import ones
from joints.numerics.compiled import kernel

EXACT_ROWS = 33  # up to here, without ties, Kendall's p-value is exact


def _kendall_tails() -> np.ndarray:
    """``[n, c]``: probability that a random order of n things has at most c inversions."""
    largest = EXACT_ROWS * (EXACT_ROWS - 1) // 2 + 1
    tails = np.zeros((EXACT_ROWS + 1, largest))
    share = np.zeros(largest)  # of the orders of n things, those with exactly c inversions
    share[0] = 1.0
    tails[:2] = 1.0
    for n in range(2, EXACT_ROWS + 1):
        total = np.cumsum(share)
        share = (total - np.concatenate([np.zeros(n), total[:-n]])) / n  # the n-th thing adds 0, ..., n - 1
        tails[n] = np.cumsum(share)
    return tails


KENDALL_TAILS = _kendall_tails()


@kernel
def chi2_tail(x, dof):
    """Upper tail of the chi-square distribution with an integer number of degrees of freedom."""
    if x <= 0.0:
        return 1.0
    half = 0.5 * x
    if dof % 2:  # Q(a + 1, h) = Q(a, h) + h^a e^-h / Gamma(a + 1) from Q(1/2, h) = erfc(sqrt(h))
        tail, a = erfc(sqrt(half)), 0.5
    else:
        tail, a = exp(-half), 1.0
    while a < 0.5 * dof - 0.25:
        tail += exp(a * log(half) - half - lgamma(a + 1.0))
        a += 1.0
    return min(tail, 1.0)


@kernel
def _inversions(values, spare, n):
    """Pairs out of order in ``values[:n]``, which is sorted on the way (merge sort, from runs of one)."""
    count = 0
    source, target = values, spare
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, end):
                if j >= end or (i < middle and source[i] <= source[j]):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
                    count += middle - i
        source, target = target, source
        width *= 2
    return count, source


@kernel
def _tie_sums(ordered, n):
    """Over the groups of equal values t: sums of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5)."""
    pairs, triples, spread = 0.0, 0.0, 0.0
    start = 0
    for i in range(1, n + 1):
        if i == n or ordered[i] != ordered[start]:
            t = float(i - start)
            pairs += t * (t - 1.0) / 2.0
            triples += t * (t - 1.0) * (t - 2.0)
            spread += t * (t - 1.0) * (2.0 * t + 5.0)
            start = i
    return pairs, triples, spread


@kernel
def _kendall_p(n, difference, discordant, x_ties, y_ties):
    """Two-sided p-value from concordant minus discordant pairs, discordant pairs, and both variables' tie sums."""
    x_pairs, x_triples, x_spread = x_ties
    y_pairs, y_triples, y_spread = y_ties
    total = n * (n - 1) / 2.0
    if x_pairs == total or y_pairs == total:
        return np.nan
    if x_pairs == 0.0 and y_pairs == 0.0:
        fewer = min(discordant, total - discordant)
        if n <= EXACT_ROWS:
            return 1.0 if 2.0 * fewer == total else min(1.0, 2.0 * KENDALL_TAILS[n, int(fewer)])
        if fewer <= 1.0:
            return 2.0 * exp((log(n) if fewer == 1.0 else 0.0) - lgamma(n + 1.0))
    m = n * (n - 1.0)
    variance = (
        (m * (2.0 * n + 5.0) - x_spread - y_spread) / 18.0
        + 2.0 * x_pairs * y_pairs / m
        + (x_triples * y_triples / (9.0 * m * (n - 2.0)) if n > 2 else 0.0)
    )
    return erfc(abs(difference) / sqrt(variance) / sqrt(2.0))


@kernel(counted=True)
def kendall(x, y):
    """Two-sided p-value of Kendall's tau-b; NaN where a variable is constant.

    `x` and `y` are pairs of observed values, `x` in ascending order.
    """
    n = len(x)
    y = y.copy()
    spare = np.empty_like(y)
    # within equal x, y in ascending order, so that pairs tied in x are no inversions; count pairs tied in both
    both = 0.0
    start = 0
    for i in range(1, n + 1):
        if i == n or x[i] != x[start]:
            if i - start > 1:
                y[start:i].sort()
                both += _tie_sums(y[start:i], i - start)[0]
            start = i
    x_ties = _tie_sums(x, n)
    discordant, ordered = _inversions(y, spare, n)
    y_ties = _tie_sums(ordered, n)
    total = n * (n - 1) / 2.0
    difference = total - x_ties[0] - y_ties[0] + both - 2.0 * discordant
    return _kendall_p(n, difference, float(discordant), x_ties, y_ties)


@kernel(inline="always")
def _with_group(sums, size):
    """Tie sums with a further group of equal values."""
    t = float(size)
    pairs, triples, spread = sums
    return pairs + t * (t - 1.0) / 2.0, triples + t * (t - 1.0) * (t - 2.0), spread + t * (t - 1.0) * (2.0 * t + 5.0)


@kernel(counted=False)
def kendall_of_table(a, b, table, before):
    """`kendall` of two variables with few different values, given as codes in their order, -1 where missing.

    `table` and `before` are room for counts, by both codes and by the second.
    """
    n_a, n_b = table.shape
    for j in range(n_b):
        before[j] = 0
    for i in range(n_a):
        for j in range(n_b):
            table[i, j] = 0
    for row in range(len(a)):
        if a[row] >= 0 and b[row] >= 0:
            table[a[row], b[row]] += 1
    n, discordant, both = np.int64(0), np.int64(0), np.int64(0)
    x_ties, y_ties = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(n_a):  # `before` has the rows with smaller codes a
        smaller, size = np.int64(0), np.int64(0)
        for j in range(n_b):
            count, others = np.int64(table[i, j]), np.int64(before[j])
            smaller += others
            discordant += count * (n - smaller)
            both += count * (count - 1)
            size += count
            before[j] = others + count
        n += size
        x_ties = _with_group(x_ties, size)
    for j in range(n_b):
        y_ties = _with_group(y_ties, before[j])
    total = n * (n - 1) / 2.0
    difference = total - x_ties[0] - y_ties[0] + both / 2.0 - 2.0 * discordant
    return _kendall_p(n, difference, float(discordant), x_ties, y_ties)


@kernel(counted=False)
def order_bits(codes, above, below, double_ranks, ties):
    """For each of up to 64 values the bit sets of those above and of those below it, a row for each.

    Their ranks and ties are found with them, as by `take_ranks`.
    """
    n = len(codes)
    ties[:] = 0.0
    for i in range(n):
        x, more, less = codes[i], np.uint64(0), np.uint64(0)
        for j in range(n):
            more |= np.uint64(codes[j] > x) << np.uint64(j)
            less |= np.uint64(codes[j] < x) << np.uint64(j)
        above[i, 0], below[i, 0] = more, less
        n_less = np.int64(ones(less))
        size = n - np.int64(ones(more)) - n_less
        double_ranks[i] = 2 * n_less + size + 1
        t = float(size)
        ties[0] += (t - 1.0) / 2.0
        ties[1] += (t - 1.0) * (t - 2.0)
        ties[2] += (t - 1.0) * (2.0 * t + 5.0)
        ties[3] += t * t - 1.0


@kernel(counted=True)
def order_bits_of_sorted(codes, order, above, below):
    """The bit sets of any number of values; `order` has all rows by ascending code.

    The sets change only from one group of equal values to the next.
    """
    n, n_words = len(order), above.shape[1]
    more, less = np.zeros(n_words, dtype=np.uint64), np.zeros(n_words, dtype=np.uint64)
    for i in range(n):
        more[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    start = 0
    while start < n:
        end = start
        while end < n and codes[order[end]] == codes[order[start]]:
            more[order[end] >> 6] ^= np.uint64(1) << np.uint64(order[end] & 63)
            end += 1
        for row in order[start:end]:
            for w in range(n_words):
                above[row, w], below[row, w] = more[w], less[w]
        for row in order[start:end]:
            less[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        start = end


@kernel
def kendall_of_bits(n, x_above, x_ties, y_above, y_below, y_ties):
    """`kendall` of two variables without missing values, from their bit sets and ties: all pairs, 64 at a time."""
    n_words = (n + 63) // 64
    concordant, discordant = np.int64(0), np.int64(0)
    for i in range(n):
        for w in range(n_words):
            concordant += np.int64(ones(x_above[i, w] & y_above[i, w]))
            discordant += np.int64(ones(x_above[i, w] & y_below[i, w]))
    x_sums, y_sums = (x_ties[0], x_ties[1], x_ties[2]), (y_ties[0], y_ties[1], y_ties[2])
    return _kendall_p(n, float(concordant - discordant), float(discordant), x_sums, y_sums)


@kernel(counted=False)
def take_ranks(codes, order, double_ranks, ties):
    """Rank a column; its codes become 0, 1, ... in the order of the different ones; returns how many these are.

    `order` has the rows that count by ascending code.  `double_ranks` gets the ranks from 1 on, the mean of them where
    codes are equal, times two.  `ties` gets the tie sums and that of t^3 - t, over the groups of t equal codes.
    """
    n, n_different, start = len(order), 0, 0
    ties[:] = 0.0
    while start < n:
        code, end = codes[order[start]], start + 1
        while end < n and codes[order[end]] == code:
            end += 1
        for row in order[start:end]:
            codes[row], double_ranks[row] = n_different, start + 1 + end
        t = float(end - start)
        ties[0] += t * (t - 1.0) / 2.0
        ties[1] += t * (t - 1.0) * (t - 2.0)
        ties[2] += t * (t - 1.0) * (2.0 * t + 5.0)
        ties[3] += t * t * t - t
        n_different += 1
        start = end
    return n_different


@kernel(counted=False)
def kruskal(double_ranks, ties, codes, size):
    """p-value of Kruskal-Wallis over the categories that occur; NaN where all values are equal or of one category.

    `double_ranks` and `ties` are those of `take_ranks`; `size` has the number of rows of each category.
    """
    n, n_groups, h = len(codes), 0, 0.0
    for c in range(len(size)):
        if size[c] > 0:
            double_sum = np.int64(0)
            for i in range(n):
                double_sum += np.int64(double_ranks[i]) if codes[i] == c else np.int64(0)
            rank_sum = 0.5 * double_sum
            n_groups += 1
            h += rank_sum * rank_sum / size[c]
    h = 12.0 / (n * (n + 1.0)) * h - 3.0 * (n + 1.0)
    correction = 1.0 - ties[3] / (float(n) ** 3 - n) if n > 1 else 0.0
    if correction == 0.0 or n_groups < 2:
        return np.nan
    return chi2_tail(h / correction, n_groups - 1)


@kernel(counted=False)
def count_table(a, b, table, rows, columns):
    """Count a contingency table from the bit sets of two variables' categories, and its margins.

    Returns the number of rows that have both values, and how many categories of each occur in these.
    """
    n_a, n_b = table.shape
    n, n_rows, n_columns = 0.0, 0, 0
    for j in range(n_b):
        columns[j] = 0.0
    for i in range(n_a):
        rows[i] = 0.0
        for j in range(n_b):
            count = np.int64(0)
            for w in range(a.shape[1]):
                count += np.int64(ones(a[i, w] & b[j, w]))
            table[i, j] = count
            rows[i] += table[i, j]
            columns[j] += table[i, j]
        n += rows[i]
        n_rows += rows[i] > 0.0
    for j in range(n_b):
        n_columns += columns[j] > 0.0
    return n, n_rows, n_columns


@kernel(counted=False)
def chi_square(table, rows, columns, n, dof):
    """p-value of Pearson's test of a contingency table with its margins, over the categories that occur."""
    if dof <= 0:
        return 1.0
    statistic = 0.0
    for i in range(table.shape[0]):
        if rows[i] == 0.0:
            continue
        for j in range(table.shape[1]):
            if columns[j] > 0.0:
                expected = rows[i] * columns[j] / n
                difference = abs(table[i, j] - expected)
                if dof == 1:
                    difference -= min(0.5, difference)
                statistic += difference * difference / expected
    return chi2_tail(statistic, dof)
