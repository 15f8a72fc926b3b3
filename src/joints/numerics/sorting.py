"""Sorting short arrays of integer keys, which is most of the work of growing a tree."""

import numpy as np

from joints.numerics.compiled import kernel

INSERTION = 40  # keys up to which insertion sort beats the alternatives


@kernel
def insertion_sort(keys, n, shift):
    """Sort ``keys[:n]`` (uint64) in place by ``key >> shift``; equal ones keep their order.

    A `shift` of ``np.uint64(0)`` compares the keys whole.
    """
    for i in range(1, n):
        key = keys[i]
        j = i
        while j > 0 and (keys[j - 1] >> shift) > (key >> shift):
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@kernel
def _move_by_digit(source, target, n, shift, ends):
    """One round of a radix sort: to `target`, ordered by the eight bits of a key from `shift` on."""
    ends[:] = 0
    for i in range(n):
        ends[(source[i] >> shift) & np.uint64(255)] += 1
    total = 0
    for digit in range(256):
        size = ends[digit]
        ends[digit] = total
        total += size
    for i in range(n):
        digit = (source[i] >> shift) & np.uint64(255)
        target[ends[digit]] = source[i]
        ends[digit] += 1


@kernel
def sort_by_rank(keys, spare, n, largest):
    """Sort ``keys[:n]`` (rank in the upper half, ranks up to `largest`) by rank; returns the array that holds them."""
    shift = np.uint64(32)
    if n <= INSERTION:
        insertion_sort(keys, n, shift)
        return keys
    ends = np.empty(256, dtype=np.int64)
    source, target = keys, spare
    while largest > 0:
        _move_by_digit(source, target, n, shift, ends)
        source, target = target, source
        shift += np.uint64(8)
        largest >>= 8
    return source
