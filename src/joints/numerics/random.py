"""Random numbers for compiled code: a counter turned into bits by the SplitMix64 mixing function.

Every draw is a pure function of a seed and a few integers (tree, node, row).  A forest therefore does not depend on the
order in which its trees are grown, and any decision made while growing can be looked up again afterwards.
"""

import numpy as np

from joints.numerics.compiled import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel(inline="always")
def mix(seed, counter):
    """64 random bits from a seed and a counter, both uint64."""
    z = seed + (counter + np.uint64(1)) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel(inline="always")
def below(bits, n):
    """A number in 0, ..., n - 1 from random bits (the upper 32 bits scaled; n below 2^32)."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


def tree_seeds(random_state: np.random.RandomState, n_trees: int) -> np.ndarray:
    """One seed per tree, such that adding trees keeps the seeds of the first ones; uint64 of shape (n_trees,)."""
    seed = np.uint64(random_state.randint(0, 2**63 - 1, dtype=np.int64))
    return np.array([mix(seed, np.uint64(tree)) for tree in range(n_trees)], dtype=np.uint64)
