"""A call in a process of its own ends in time, whatever it does."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from joints.data import child
from joints.data.sources.base import SourceError, SourceTimeout


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_output_and_status():
    status, out, _ = child.run_limited(
        [sys.executable, "-c", "import sys; print(input()); sys.exit(3)"], 20, stdin="word\n"
    )
    assert (status, out.strip()) == (3, "word")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks at processes in /proc")
def test_the_time_limit_is_hard_and_reaches_what_the_command_started(tmp_path):
    note = tmp_path / "pid"
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(inner.pid))\n"
        "time.sleep(60)\n"
    )
    start = time.monotonic()
    with pytest.raises(SourceTimeout):
        child.run_limited([sys.executable, "-c", code], 2)
    assert time.monotonic() - start < 10
    pid = int(note.read_text())
    end = time.monotonic() + 5
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(pid)


def test_a_reason_comes_back_with_whether_to_try_again(tmp_path):
    with pytest.raises(SourceError, match="connection failed") as caught:
        child.call(
            "joints.data.sources.url:download_file",
            {"address": "http://127.0.0.1:9/x", "path": str(tmp_path / "x"), "most_bytes": 1000},
            60,
        )
    assert caught.value.retry


def test_a_crash_is_a_reason_too():
    with pytest.raises(SourceError, match=r"stopped unexpectedly: .*no_such_module"):
        child.call("no_such_module:function", {}, 60)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks at processes in /proc")
def test_a_child_does_not_outlive_its_time_when_its_parent_is_killed(openml, tmp_path):
    openml.fault = "hang"
    code = (
        "from joints.data import child\n"
        f"where = {{'address': '{openml.base}/files/x', 'path': '{tmp_path}/x', 'most_bytes': 1000}}\n"
        "child.call('joints.data.sources.url:download_file', where, 4)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    end = time.monotonic() + 30
    children: list[str] = []
    while not children and time.monotonic() < end:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert children
    parent.kill()
    parent.wait()
    end = time.monotonic() + 30
    while any(alive(pid) for pid in children) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(alive(pid) for pid in children)
