"""Files that appear complete or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from joints.runtime.files import write_text


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path):
    path = tmp_path / "scores [1].csv"
    code = (
        "import os, signal\nfrom joints.runtime.files import replacing\n"
        f"with replacing({str(path)!r}) as temporary:\n"
        "    temporary.write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert [file.name[-4:] for file in tmp_path.iterdir()] == [".tmp"]
    at_work = tmp_path / f".{path.name}.{os.getppid()}.tmp"
    at_work.write_text("another process still writes this one")
    write_text(path, "whole")
    assert path.read_text() == "whole"
    assert sorted(tmp_path.iterdir()) == sorted([path, at_work])
