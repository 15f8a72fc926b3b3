"""A suite of OpenML becomes a catalogue and a configuration."""

import contextlib
import random
from pathlib import Path

import pytest
from local_openml import Table

from joints.data.sources import Settings
from joints.data.suite import main, write_suite
from joints.errors import JointsError
from joints.study.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def settings(openml, tmp_path):
    """The fruit of the other tests, numbers to predict, an unknown id, and fruit of another version."""
    draw = random.Random(0)
    rows = [[draw.random(), draw.random()] for _ in range(150)]
    openml.tables[8] = Table("price", [("size", "numeric"), ("price", "numeric")], rows, "price")
    openml.tables[9] = openml.tables[7]
    openml.suites[5] = [7, 8, 404, 9]
    return Settings(folder=tmp_path / "data", tries=1, pause=0.01, timeout=60, openml_server=openml.server)


def test_a_suite_is_a_configuration(settings, tmp_path, capsys):
    with contextlib.chdir(ROOT):
        path = write_suite(5, "config/quick.yaml", settings, tmp_path)
        plan = Plan.read([path])
    assert plan.run == "suite_5" and plan.names == ["fruit", "fruit_9"] and not plan.outlier_datasets
    entry = plan.datasets["fruit"]
    assert entry.target == "kind" and list(entry.drop) == ["number"]  # which the server marks as ignored
    assert entry.numbers == {"n": 60, "categorical": 2, "continuous": 1, "classes": 2}
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "joints: dataset 8 is left out: its target 'price' is a number, not a class."
    assert said[1].startswith("joints: dataset 404 is left out: ") and said[1].endswith("does not know this id.")
    assert len(said) == 2


def test_suites_that_cannot_be_used(settings, openml, tmp_path):
    openml.suites[6] = [404]
    with pytest.raises(JointsError, match="no dataset of the suite 6 at"):
        write_suite(6, "config/quick.yaml", settings, tmp_path)
    with pytest.raises(JointsError, match="the server"):
        write_suite(77, "config/quick.yaml", settings, tmp_path)
    assert main(["cc18", "config/quick.yaml"]).startswith("Error: a suite has a number, not 'cc18'")
    assert not list(tmp_path.glob("*.yaml"))
