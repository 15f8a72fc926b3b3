"""How the benchmarks measure, and how they state it: one line for each measurement with its target, and an exit code.

Seconds are CPU seconds, of all threads and child processes, so that other work on the machine counts little.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable


class Targets:
    """Measurements with a target each; a script prints them by `at_most` and `at_least` and ends by `finish`."""

    def __init__(self) -> None:
        self.missed = 0

    def at_most(self, what: str, measured: float, target: float) -> None:
        self._line(what, measured, f"at most {target:g}", measured <= target)

    def at_least(self, what: str, measured: float, target: float) -> None:
        self._line(what, measured, f"at least {target:g}", measured >= target)

    def _line(self, what: str, measured: float, target: str, met: bool) -> None:
        self.missed += not met
        print(f"  {what:72s} {measured:8.3f}, target {target:14s} {'ok' if met else 'MISSED'}", flush=True)

    def finish(self) -> None:
        """End the program, with exit code 1 where a target was missed."""
        sys.exit(1 if self.missed else 0)


def cpu_seconds(function: Callable[[], object]) -> float:
    start = _cpu_clock()
    function()
    return _cpu_clock() - start


def best_seconds(functions: list[Callable[[], object]], repeats: int) -> list[float]:
    """The best time of each function; they take turns, so that load on the machine affects all alike."""
    times = [[cpu_seconds(function) for function in functions] for _ in range(repeats)]
    return [min(record) for record in zip(*times, strict=True)]


def gibibytes() -> float:
    """Peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _cpu_clock() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
