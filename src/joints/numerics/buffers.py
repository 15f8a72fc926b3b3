"""Small pieces for kernels that fill arrays: room for more entries, and a partition that keeps its order."""

import numpy as np

from joints.numerics.compiled import kernel


@kernel
def with_room(array, size):
    """The array itself where it has `size` entries along its first axis, else a copy at least twice as long."""
    if size <= array.shape[0]:
        return array
    out = np.empty((max(size, 2 * array.shape[0]), *array.shape[1:]), dtype=array.dtype)
    out[: array.shape[0]] = array
    return out


@kernel
def partition(items, first, spare):
    """Move the items that are flagged in `first` to the front, both parts in their order; returns how many there are.

    `spare` has room for the others.
    """
    n_first, n_other = 0, 0
    for i in range(len(items)):
        if first[i]:
            items[n_first] = items[i]
            n_first += 1
        else:
            spare[n_other] = items[i]
            n_other += 1
    items[n_first:] = spare[:n_other]
    return n_first
