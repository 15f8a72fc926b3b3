"""Make Snakemake's own report of the run, by an inner call that needs no lock because it runs no jobs."""

from joints.runtime import log

log.start(snakemake.log[0])

import subprocess
import sys

from joints.errors import JointsError
from joints.runtime.files import replacing

with replacing(snakemake.output[0]) as temporary:
    path = temporary.with_suffix(".html")  # Snakemake goes by the file's extension
    command = [sys.executable, "-m", "snakemake", "artefacts", "--report", str(path), "--nolock", "--cores", "1"]
    done = subprocess.run([*command, *snakemake.params.configuration], capture_output=True, text=True, check=False)
    if done.returncode:
        raise JointsError(f"Snakemake could not make its report: {done.stdout[-500:]} {done.stderr[-2000:]}")
    path.replace(temporary)
