"""No lock of Snakemake's outlives its run, and no run removes the locks of another.

Upstream: Snakemake locks the working directory by files that do not say who made them, and that a killed run leaves
behind.  The next run refuses to start until somebody calls `snakemake --unlock`; its message says that the lock was
"likely caused by a kill signal or a power loss" (see snakemake/snakemake#2919).  A run that ends deletes the whole
folder of locks, with those of every other run (`FilePersistence._delete_locks`).

Seen: a run that is ended by SIGKILL leaves `.snakemake/locks/0.input.lock` and `0.output.lock`, and the next one stops.
Of two runs in one folder the first to end deletes the locks of the second, and a third one may then start beside it.

Here a run asks before it locks, tells which locks it has made (the system's own locks end with the process that holds
them, so that the caller can tell what is left of a killed run), and removes only these.  Locks in a database
(`--persistence-backend db`) are left to Snakemake, and `snakemake --unlock` still removes everything.

Tested with Snakemake 9.20.0 to 9.27.1.  With another version nothing is changed, with a warning; `snakemake --unlock`
is the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from joints.patches.versions import Tested, warn

TESTED = Tested("snakemake", "9.20.0", "9.27.1")


def ask_before_locking(enter: Callable[[], None], made: Callable[[Sequence[Path]], None]) -> bool:
    """Let Snakemake call `enter` before it locks, and `made` with its locks; False, with a warning, if it cannot be."""
    from snakemake.persistence import file

    doubt = TESTED.doubt()
    if doubt:
        warn(f"{doubt}: locks of killed runs are left; remove them by `snakemake --unlock`.")
        return False
    usual = file.FilePersistence.lock, file.FilePersistence._delete_locks

    @contextmanager
    def lock(self: Any) -> Iterator[None]:
        enter()
        # a job of a killed run may have removed a file since Snakemake saw it; Snakemake does this a moment later
        self.dag.workflow.iocache.deactivate()
        with usual[0](self):
            made([Path(path) for path in self._lockfile.values()])
            yield

    def delete_locks(self: Any) -> None:
        if not self._lockfile:  # `snakemake --unlock`
            usual[1](self)
        for path in self._lockfile.values():
            Path(path).unlink(missing_ok=True)
        self._lockfile.clear()

    file.FilePersistence.lock, file.FilePersistence._delete_locks = lock, delete_locks
    return True
