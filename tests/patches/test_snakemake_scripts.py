"""Jobs that are forks behave like programs that Python has started."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from joints.patches import snakemake_scripts, versions
from joints.patches.snakemake_scripts import fork_jobs, run_forked, start_server

SNAKEFILE = """
from joints.patches.snakemake_scripts import fork_jobs

onstart:
    assert fork_jobs()

rule all:
    input: "one", "two"

rule one:
    output: "one"
    params: text="from a fork"
    script: "one.py"

rule two:
    output: "two"
    threads: 2
    script: "two.py"
"""
SCRIPT = """
import atexit, os, sys
assert os.environ["OMP_NUM_THREADS"] == "{threads}" and ("pandas" in sys.modules) is {forked}
atexit.register(lambda: open(snakemake.output[0], "w").write(snakemake.params.get("text", "") + snakemake.rule))
"""


@pytest.fixture
def run(tmp_path):
    """Run a program as a fork."""
    start_server()

    def run(text):
        (tmp_path / "tmp1.program.py").write_text(text)
        run_forked(str(tmp_path / "tmp1.program.py"))

    return run


def test_jobs_of_a_workflow(tmp_path):
    """A script with one thread is a fork, one with two is not; both get Snakemake's object and end as programs do."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "one.py").write_text(SCRIPT.format(threads=1, forked=True))
    (tmp_path / "two.py").write_text(SCRIPT.format(threads=2, forked=False))
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--scheduler", "greedy", "--quiet", "all"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "one").read_text() == "from a forkone" and (tmp_path / "two").read_text() == "two"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('a reason')", 1),
        ("1 / 0", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
    ],
)
def test_a_job_that_fails(run, text, code, capsys):
    with pytest.raises(subprocess.CalledProcessError) as error:
        run(text)
    assert error.value.returncode == code
    sentence = "Error: a job was ended by SIGKILL while it ran program.py.\n"
    assert capsys.readouterr().err == (sentence if code < 0 else "")


def test_the_hook_for_exceptions_is_called(run, tmp_path):
    hook = (
        "import sys; sys.excepthook = lambda kind, error, trace: open({!r}, 'w').write(str(error)); raise OSError('no')"
    )
    with pytest.raises(subprocess.CalledProcessError):
        run(hook.format(str(tmp_path / "said")))
    assert (tmp_path / "said").read_text() == "no"


def test_jobs_have_the_environment_and_the_path_of_the_run(run, tmp_path, monkeypatch):
    run("pass")  # the server is there before the variable
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "users_module.py").touch()
    monkeypatch.setenv("JOINTS_TEST", "yes")
    monkeypatch.syspath_prepend(tmp_path / "own")
    run("import os, users_module; assert os.environ['JOINTS_TEST'] == 'yes' and __name__ == '__main__'")


def test_many_jobs_at_once(run, tmp_path):
    """As in Snakemake, which has a thread for each job that runs."""
    (tmp_path / "tmp1.program.py").write_text("pass")
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(run_forked, [str(tmp_path / "tmp1.program.py")] * 90)) == [None] * 90


def test_the_environment_does_not_change_while_jobs_start(run):
    """Jobs start in threads, and a variable that comes and goes would be an error in the others."""
    changes = []
    watching = True
    sys.addaudithook(
        lambda event, _: changes.append(event) if watching and event in ("os.putenv", "os.unsetenv") else 0
    )
    run("pass")
    watching = False
    assert not changes


def test_another_snakemake_is_left_alone(monkeypatch):
    script = SimpleNamespace(PythonScript=SimpleNamespace(execute_script="as usual"))
    monkeypatch.setitem(sys.modules, "snakemake.script", script)
    monkeypatch.setattr(snakemake_scripts, "TESTED", versions.Tested("snakemake", "1.0", "1.0"))
    assert not fork_jobs() and script.PythonScript.execute_script == "as usual"
