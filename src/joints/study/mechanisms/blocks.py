"""Missing in blocks: neighbouring features go missing together, as when a sensor or a questionnaire's page fails."""

from __future__ import annotations

import numpy as np

from joints.interface import Mechanism


class MissingInBlocks(Mechanism):
    """The m features are cut, in the order of the table, into blocks of about sqrt(m) features.

    The pairs of a row and a block go missing completely at random: at the missing rate r, the first floor(r * cells)
    cells of the pairs in random order.  So at most one pair is missing in part.
    """

    def order(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        n, m = X.shape
        n_blocks = round(m / max(1, round(np.sqrt(m))))
        block = np.arange(m) * n_blocks // m
        place = random.permutation(n * n_blocks).reshape(n, n_blocks)
        return np.argsort(place[:, block].ravel(), kind="stable")
