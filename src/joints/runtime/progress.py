"""Progress lines in the log of a long job."""

from __future__ import annotations

import logging
from time import perf_counter

logger = logging.getLogger(__name__)


class FoldProgress:
    """How many folds are done, and how long the rest may take."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self.start = perf_counter()

    def step(self) -> None:
        """Count one more fold as done."""
        self.done += 1
        spent = perf_counter() - self.start
        left = spent / self.done * (self.total - self.done)
        logger.info("%s: %d of %d folds in %.0f s, about %.0f s left", self.what, self.done, self.total, spent, left)
