"""Compiled kernels on several threads.

The kernels release Python's global interpreter lock, so ordinary threads run them in parallel; no other threading layer
is needed, and estimators may themselves be used from threads.  Work is divided into pieces that do not depend on the
number of threads, so results do not either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs


def run(function: Callable[..., Any], pieces: Iterable[tuple], n_jobs: int | None) -> list[Any]:
    """``[function(*piece) for piece in pieces]`` on `n_jobs` threads (None: one, -1: one per core)."""
    tasks = list(pieces)
    n_threads = min(effective_n_jobs(n_jobs), len(tasks))
    if n_threads <= 1:
        return [function(*task) for task in tasks]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda task: function(*task), tasks))


def blocks(total: int, size: int) -> list[tuple[int, int]]:
    """0, ..., total - 1 as half-open ranges of at most `size`."""
    return [(start, min(start + size, total)) for start in range(0, total, size)]
