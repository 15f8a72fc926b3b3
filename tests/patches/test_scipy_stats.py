"""`scipy.stats`, imported at its first use."""

import logging
import subprocess
import sys

import pytest

from joints.patches import scipy_stats as patch
from joints.patches import versions


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
    patched = "from joints.patches.scipy_stats import import_later; import_later()"
    assert output_of(f"{patched}; {use}") == "0.5\n"


IMPORTED = "print('scipy.stats._stats_py' in sys.modules)"


def test_scikit_learn_itself_imports_it():
    assert output_of(f"import sys, sklearn.base; {IMPORTED}") == "True\n"


def test_jobs_that_do_not_use_it_do_not_import_it(tmp_path):
    start = f"import sys; from joints.runtime import log; log.start({str(tmp_path / 'job.log')!r})"
    uses = "import joints.study.methods.gef, joints.study.methods.knn"
    assert output_of(f"{start}; {uses}; {IMPORTED}") == "False\n"
    assert "scipy" not in (tmp_path / "job.log").read_text()


def test_with_an_unknown_version_it_is_imported_as_usual_and_the_log_says_so(tmp_path):
    unknown = "from joints.patches import versions; versions.version = lambda library: '1.99.0'"
    start = f"import sys; from joints.runtime import log; log.start({str(tmp_path / 'job.log')!r})"
    assert output_of(f"{unknown}; {start}; import sklearn.base; {IMPORTED}") == "True\n"
    said = "scipy 1.99.0 was not tested (tested: 1.17.0 to 1.18.1): scipy.stats is imported at once."
    assert (tmp_path / "job.log").read_text().count(said) == 1


def test_a_module_that_is_imported_already_stays(monkeypatch, caplog):
    import scipy.stats

    patch.import_later()
    assert sys.modules["scipy.stats"] is scipy.stats
    monkeypatch.delitem(sys.modules, "scipy.stats")
    monkeypatch.setattr(versions, "version", lambda library: "1.99.0")
    with caplog.at_level(logging.INFO):
        patch.import_later()
    assert "scipy.stats" not in sys.modules and "was not tested" in caplog.text
