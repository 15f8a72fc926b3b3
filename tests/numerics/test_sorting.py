"""Sorting keys agrees with Python's stable sort."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from joints.numerics.sorting import insertion_sort, sort_by_rank


def numbered(ranks):
    """Keys with their rank in the upper half and their place in the lower one, which shows whether order is kept."""
    return (np.array(ranks, dtype=np.uint64) << np.uint64(32)) | np.arange(len(ranks), dtype=np.uint64)[::-1]


@given(st.lists(st.integers(0, 70_000), min_size=1, max_size=300))
def test_by_rank(ranks):
    keys = numbered(ranks)
    expected = sorted(keys.tolist(), key=lambda key: key >> 32)
    result = sort_by_rank(keys.copy(), np.empty_like(keys), len(keys), max(ranks))
    assert result.tolist() == expected


@given(st.lists(st.integers(0, 5), max_size=50), st.integers(0, 50))
def test_by_insertion(ranks, n):
    keys = numbered(ranks)
    n = min(n, len(keys))
    for shift in (0, 32):
        ordered = keys.copy()
        insertion_sort(ordered, n, np.uint64(shift))
        expected = sorted(keys[:n].tolist(), key=lambda key, shift=shift: key >> shift)
        assert ordered.tolist() == expected + keys[n:].tolist()
