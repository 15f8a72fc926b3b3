"""The log of a job, and what reaches the terminal."""

import subprocess
import sys

import pytest


def script(tmp_path, body):
    code = f"from joints.runtime import log\nlog.start({str(tmp_path / 'sub' / 'job.log')!r})\n{body}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return result, (tmp_path / "sub" / "job.log").read_text()


def test_an_expected_failure(tmp_path):
    body = "from joints.errors import JointsError\nraise JointsError('The file\\n is gone.')"
    result, log = script(tmp_path, body)
    assert result.returncode == 1
    assert result.stderr == f"Error: The file is gone. (More in {tmp_path / 'sub' / 'job.log'}.)\n"
    assert "Traceback" in log and "JointsError" in log


@pytest.mark.parametrize(
    ("body", "said"), [("1 / 0", "ZeroDivisionError: division by zero."), ("assert False", "AssertionError.")]
)
def test_a_defect(tmp_path, body, said):
    result, log = script(tmp_path, body)
    assert (
        result.returncode == 1
        and result.stderr.startswith(f"Error: {said} (More in ")
        and result.stderr.count("\n") == 1
    )
    assert "Traceback" in log


def test_information_stays_in_the_log_and_warnings_are_shown(tmp_path):
    body = "import logging, warnings\nlogging.info('quiet')\nlogging.warning('loud')\nwarnings.warn('odd')"
    result, log = script(tmp_path, body)
    assert result.returncode == 0
    assert "quiet" not in result.stderr and "loud" in result.stderr and "odd" in result.stderr
    assert all(word in log for word in ("quiet", "loud", "odd"))


def test_termination_lets_temporary_files_be_removed(tmp_path):
    body = (
        "import os, signal\nfrom joints.runtime.files import replacing\n"
        f"with replacing({str(tmp_path / 'out')!r}) as t:\n"
        "    t.write_text('half'); os.kill(os.getpid(), signal.SIGTERM)\n"
        "    import time; time.sleep(20)"
    )
    result, _ = script(tmp_path, body)
    assert result.returncode == 143
    assert [p.name for p in tmp_path.iterdir()] == ["sub"]


def test_an_interrupt_says_nothing(tmp_path):
    result, _ = script(tmp_path, "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)")
    assert result.returncode in (130, -2) and result.stderr == ""


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    """By its own name, not by that of the temporary file."""
    path = tmp_path / ("x" * 250)  # too long with the temporary ending
    result, _ = script(tmp_path, f"from joints.runtime.files import write_text\nwrite_text({str(path)!r}, 'text')")
    assert f"File name too long: {str(path)!r}. (More in" in result.stderr and result.stderr.count("\n") == 1
