"""Missing completely at random, as in the paper: every cell is as likely to go missing as any other (appendix C)."""

from __future__ import annotations

import numpy as np

from joints.interface import Mechanism


class CompletelyAtRandom(Mechanism):
    """All cells in random order."""

    def order(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        return random.permutation(X.size)
