"""Arrays that are filled by kernels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from joints.numerics.buffers import partition, with_room


def test_room_for_more_keeps_what_there_is():
    for array in (np.arange(3), np.arange(6.0).reshape(3, 2)):
        assert with_room(array, 3) is array or np.shares_memory(with_room(array, 3), array)
        for size, expected in ((4, 6), (50, 50)):
            more = with_room(array, size)
            assert more.shape == (expected, *array.shape[1:])
            assert more.dtype == array.dtype
            np.testing.assert_array_equal(more[:3], array)
    assert len(with_room(np.empty(0), 1)) == 1


@given(st.lists(st.booleans(), max_size=30))
def test_partition_keeps_the_order_of_both_parts(flags):
    items, first = np.arange(len(flags)), np.array(flags, dtype=bool)
    expected = np.concatenate([items[first], items[~first]])
    assert partition(items, first, np.empty_like(items)) == first.sum()
    np.testing.assert_array_equal(items, expected)
