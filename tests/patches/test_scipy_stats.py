"""Modules that are imported at their first use."""

import subprocess
import sys

import pytest


def output_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "use",
    [
        "import scipy.stats; print(scipy.stats.norm.cdf(0))",
        "from scipy import stats; print(stats.norm.cdf(0))",
        "from scipy.stats import norm; print(norm.cdf(0))",
        "import scipy.stats.distributions as d; print(d.norm.cdf(0))",
    ],
)
def test_every_way_of_using_it_finds_the_module(use):
    patched = "from joints.patches.scipy_stats import import_later; import_later('scipy.stats')"
    assert output_of(f"{patched}; {use}") == "0.5\n"


def test_jobs_that_do_not_use_it_do_not_import_it(tmp_path):
    start = f"import sys; from joints.runtime import log; log.start({str(tmp_path / 'job.log')!r})"
    uses = "import joints.study.methods.gef, joints.study.methods.knn"
    code = f"{start}; {uses}; print('scipy.stats._stats_py' in sys.modules)"
    assert output_of(code) == "False\n"
