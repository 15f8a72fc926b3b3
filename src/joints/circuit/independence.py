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


@kernel
def order_bits(column, above, below):
    """For each of up to 64 values the bit sets of those above and of those below it, a row for each.

    Returns the tie sums.
    """
    n = len(column)
    pairs, triples, spread = 0.0, 0.0, 0.0
    for i in range(n):
        x, more, less = column[i], np.uint64(0), np.uint64(0)
        for j in range(n):
            more |= np.uint64(column[j] > x) << np.uint64(j)
            less |= np.uint64(column[j] < x) << np.uint64(j)
        above[i, 0], below[i, 0] = more, less
        t = float(n - np.int64(ones(more)) - np.int64(ones(less)))
        pairs += (t - 1.0) / 2.0
        triples += (t - 1.0) * (t - 2.0)
        spread += (t - 1.0) * (2.0 * t + 5.0)
    return pairs, triples, spread


@kernel
def order_bits_of_sorted(column, order, above, below):
    """The same for any number of values; `order` has all rows by ascending value.

    The sets change only from one group of equal values to the next.
    """
    n, n_words = len(order), above.shape[1]
    more, less = np.zeros(n_words, dtype=np.uint64), np.zeros(n_words, dtype=np.uint64)
    for i in range(n):
        more[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    start = 0
    while start < n:
        end = start
        while end < n and column[order[end]] == column[order[start]]:
            more[order[end] >> 6] ^= np.uint64(1) << np.uint64(order[end] & 63)
            end += 1
        for row in order[start:end]:
            for w in range(n_words):
                above[row, w], below[row, w] = more[w], less[w]
        for row in order[start:end]:
            less[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        start = end
    return _tie_sums(column[order], n)


@kernel
def kendall_of_bits(n, x_above, x_ties, y_above, y_below, y_ties):
    """`kendall` of two variables without missing values, from their `order_bits`: all pairs, 64 at a time."""
    n_words = (n + 63) // 64
    concordant, discordant = np.int64(0), np.int64(0)
    for i in range(n):
        for w in range(n_words):
            concordant += np.int64(ones(x_above[i, w] & y_above[i, w]))
            discordant += np.int64(ones(x_above[i, w] & y_below[i, w]))
    return _kendall_p(n, float(concordant - discordant), float(discordant), x_ties, y_ties)


@kernel
def mean_ranks(column, order, ranks):
    """The ranks of a column's values from 1 on, the mean of them where values are equal; returns the sum of t^3 - t.

    `order` has the rows that count by ascending value.
    """
    ties, start, n = 0.0, 0, len(order)
    for i in range(1, n + 1):
        if i == n or column[order[i]] != column[order[start]]:
            for row in order[start:i]:
                ranks[row] = 0.5 * (start + 1 + i)
            t = float(i - start)
            ties += t * t * t - t
            start = i
    return ties


@kernel(counted=False)
def kruskal(ranks, ties, codes, rank_sum, size):
    """p-value of Kruskal-Wallis over the categories that occur; NaN where all values are equal or of one category.

    `ranks` and `ties` are those of `mean_ranks`; `rank_sum` and `size` are room for a number per category.
    """
    n, n_groups, h = len(ranks), 0, 0.0
    for c in range(len(size)):
        rank_sum[c], size[c] = 0.0, 0.0
    for i in range(n):
        rank_sum[codes[i]] += ranks[i]
        size[codes[i]] += 1.0
    for c in range(len(size)):
        if size[c] > 0:
            n_groups += 1
            h += rank_sum[c] * rank_sum[c] / size[c]
    h = 12.0 / (n * (n + 1.0)) * h - 3.0 * (n + 1.0)
    correction = 1.0 - ties / (float(n) ** 3 - n) if n > 1 else 0.0
    if correction == 0.0 or n_groups < 2:
        return np.nan
    return chi2_tail(h / correction, n_groups - 1)


@kernel(counted=False)
def chi_square(a, b, table, rows, columns):
    """p-value of Pearson's test of a contingency table of codes, over the categories that occur; 1 if only one does.

    `table`, `rows` and `columns` are room for counts.
    """
    n_a, n_b = table.shape
    for i in range(n_a):
        rows[i] = 0.0
        for j in range(n_b):
            table[i, j] = 0.0
    for j in range(n_b):
        columns[j] = 0.0
    for i in range(len(a)):
        table[a[i], b[i]] += 1.0
    for i in range(n_a):
        for j in range(n_b):
            rows[i] += table[i, j]
            columns[j] += table[i, j]
    n, n_rows, n_columns = float(len(a)), 0, 0
    for i in range(n_a):
        n_rows += rows[i] > 0.0
    for j in range(n_b):
        n_columns += columns[j] > 0.0
    dof = (n_rows - 1) * (n_columns - 1)
    if dof <= 0:
        return 1.0
    statistic = 0.0
    for i in range(n_a):
        if rows[i] == 0.0:
            continue
        for j in range(n_b):
            if columns[j] > 0.0:
                expected = rows[i] * columns[j] / n
                difference = abs(table[i, j] - expected)
                if dof == 1:
                    difference -= min(0.5, difference)
                statistic += difference * difference / expected
    return chi2_tail(statistic, dof)
