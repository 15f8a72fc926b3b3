"""A Slurm of one node for tests: everything in a temporary folder, except for its configuration.

The executor drops SLURM_* variables inside of jobs, so that the configuration has to be at its default place.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
PLACE = Path("/etc/slurm/slurm.conf")
OURS = "ClusterName=joints_tests"
SECONDS = 60
SECONDS_OF_OTHERS = 600
SECONDS_TO_START = 30


class NoSlurm(Exception):
    """Why there can be no Slurm on this machine."""


class Slurm:
    """munged, slurmctld and slurmd on free ports; `close` ends the processes that were started, by their ids.

    Jobs that use more memory than they ask for are killed, and none may ask for more `minutes`.
    """

    def __init__(self, folder: Path, cpus: int = 2, megabytes: int = 6000, minutes: int = 10) -> None:
        missing = [name for name in PROGRAMS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
        if missing:
            raise NoSlurm(f"there is no {missing[0]}")
        if os.getuid() != 0:
            raise NoSlurm("only root can start slurmd")
        _wait_for_others()
        if PLACE.exists() or PLACE.is_symlink():
            raise NoSlurm(f"there is a configuration already ({PLACE})")
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        for name in ("state", "spool"):
            (folder / name).mkdir(parents=True)
        PLACE.parent.mkdir(exist_ok=True)
        PLACE.write_text(self._configuration(cpus, megabytes, minutes))
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _configuration(self, cpus: int, megabytes: int, minutes: int) -> str:
        host, folder = socket.gethostname().split(".")[0], self.folder
        ports = [_free_port(), _free_port()]
        return f"""\
{OURS}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={megabytes} State=UNKNOWN
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
PartitionName=main Nodes=ALL Default=YES MaxTime={minutes} State=UP
"""

    def _start(self) -> None:
        folder = self.folder
        folder.chmod(0o755)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in ("pid-file", "log-file", "seed-file")]
        munged = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket", *files]
        self._run(munged)
        self._wait(lambda: (folder / "munge.socket").exists(), "munged")
        self._run(["slurmctld", "-D", "-c"])
        self._run(["slurmd", "-D"])
        self._wait(lambda: "idle" in _output("sinfo", "--noheader", "--format=%T"), "the node")

    def _run(self, command: list[str]) -> None:
        paths = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
        log = (self.folder / f"{command[0]}.out").open("wb")
        self.processes.append(subprocess.Popen(command, env=paths, stdout=log, stderr=log, start_new_session=True))

    def _wait(self, ready, what: str) -> None:
        end = time.monotonic() + SECONDS
        while not ready():
            if time.monotonic() > end or any(process.poll() is not None for process in self.processes):
                raise NoSlurm(f"{what} did not start: {_tails(self.folder)}")
            time.sleep(0.2)

    def jobs(self) -> list[str]:
        """The ids of jobs that wait or run."""
        return _output("squeue", "--noheader", "--format=%i").split()

    def close(self) -> None:
        if len(self.processes) == 3:
            for job in self.jobs():
                subprocess.run(["scancel", job], check=False, capture_output=True)
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        PLACE.unlink(missing_ok=True)


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def _tails(folder: Path) -> str:
    return " | ".join(path.read_text(errors="replace")[-300:] for path in folder.glob("*.[ol]*") if path.is_file())


def _wait_for_others() -> None:
    """Wait while another process tests with a Slurm of its own; remove what a killed one has left."""
    end, silent = time.monotonic() + SECONDS_OF_OTHERS, 0
    while time.monotonic() < end:
        try:
            text = PLACE.read_text()
        except FileNotFoundError:
            return
        if not text.startswith(OURS):
            return
        port = re.search(r"SlurmctldPort=(\d+)", text)
        with socket.socket() as there:
            silent = silent + 1 if port is None or there.connect_ex(("127.0.0.1", int(port[1]))) else 0
        if silent == SECONDS_TO_START:
            PLACE.unlink(missing_ok=True)
            return
        time.sleep(1)
