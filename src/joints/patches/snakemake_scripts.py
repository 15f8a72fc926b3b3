"""The jobs of a run are forks of one process that has imported the libraries.

Upstream: Snakemake starts a new Python for every script.

Seen: Python with scikit-learn, numba, pandas and Snakemake takes more than a second to start, which is longer than many
jobs take (`benchmarks/overhead.py`).

Here a server, Python's own (`multiprocessing`, start method "forkserver"), imports `LIBRARIES` when the run starts:
before any job, since it takes its environment from that of the main process, which must not change while jobs, in
threads of their own, read it.  Only the libraries: code of the project is imported by each job.  Jobs with several
threads, in environments of their own, or on other machines start as usual, because libraries ask for their number of
threads when they are imported.

Tested with Snakemake 9.27.1.  With another version scripts start as usual, which is only slower.
"""

from __future__ import annotations

import atexit
import functools
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from joints.patches.versions import Tested

TESTED = Tested("snakemake", "9.27.1", "9.27.1")
LIBRARIES = (
    "snakemake.iocontainers",
    "snakemake.logging",
    "numpy",
    "scipy.stats",
    "pandas",
    "pyarrow.parquet",
    "sklearn.base",
    "sklearn.model_selection",
    "numba",
    "matplotlib.figure",
)
FOLDERS = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")  # for temporary files, as Snakemake sets them
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

_one_at_a_time = threading.Lock()


def fork_jobs() -> bool:
    """Let the scripts of this Snakemake start as forks; False if that is not possible."""
    if TESTED.doubt() or "forkserver" not in multiprocessing.get_all_start_methods():
        return False
    from snakemake.script import PythonScript

    try:
        start_server()
    except OSError:  # its socket is a file in the folder for temporary files, which may be full, or have a long name
        return False
    PythonScript.execute_script = _forking(PythonScript.execute_script)
    return True


def _forking(usual: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(usual)
    def execute_script(self: Any, fname: str, edit: bool = False) -> None:
        elsewhere = self.container_img or self.conda_env or self.env_modules or self.shadow_dir
        if self.threads == 1 and not elsewhere and self.bench_record is None:
            run_forked(fname, dict.fromkeys(FOLDERS, self.resources.tmpdir))
        else:
            usual(self, fname, edit)

    return execute_script


def run_forked(path: str, variables: Mapping[str, str] | None = None) -> None:
    """Run a script in a fork of the server, and wait for it; CalledProcessError if it fails."""
    environment = {**os.environ, **(variables or {})}
    process = multiprocessing.get_context("forkserver").Process(target=_run_script, args=(path, environment))
    with _one_at_a_time, _without_main():
        process.start()
    multiprocessing.connection.wait([process.sentinel])
    with _one_at_a_time:  # whoever starts a process asks for the exit codes of all others, which can be read once
        process.join()
    if process.exitcode and process.exitcode < 0:
        # such a job could not say anything itself
        name = signal.Signals(-process.exitcode).name
        print(f"Error: a job was ended by {name} while it ran {Path(path).name.partition('.')[2]}.", file=sys.stderr)
    if process.exitcode:
        raise subprocess.CalledProcessError(process.exitcode, f"{sys.executable} {path}")


@contextmanager
def _without_main() -> Iterator[None]:
    """The main program is Snakemake's, which a job would import again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def start_server() -> None:
    """Start the server in an environment in which libraries use one thread each."""
    before = dict(os.environ)
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        multiprocessing.set_forkserver_preload(list(LIBRARIES))
        multiprocessing.forkserver.ensure_running()
    finally:
        for name in THREADS:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def _run_script(path: str, environment: dict[str, str]) -> None:
    """Run a script as Python would run it as a program; in a fork of the server."""
    os.environ.update(environment)
    os.environ.update(dict.fromkeys(THREADS, "1"))
    sys.argv = [path]
    code: Any = 0
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    atexit._run_exitfuncs()
    sys.exit(code)
