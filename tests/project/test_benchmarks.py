"""The benchmarks say what they measured beside its target, and fail where one is missed."""

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
HELPERS = {"tables.py", "targets.py"}


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.mark.parametrize(("measured", "missed"), [(1.0, 0), (2.0, 1), (np.nan, 1), (np.inf, 1)])
def test_a_missed_target_fails(module, capsys, measured, missed):
    targets = module("targets").Targets()
    targets.at_least("fast enough", 3.0, 2.5)
    targets.at_most("small enough", measured, 1.5)
    with pytest.raises(SystemExit) as end:
        targets.finish()
    assert end.value.code == missed
    first, second = capsys.readouterr().out.splitlines()
    assert "3.000, target at least 2.5" in first and first.endswith("ok")
    assert "target at most 1.5" in second and second.endswith("MISSED" if missed else "ok")


def test_every_script_ends_with_an_exit_code():
    scripts = {path.name: path.read_text() for path in FOLDER.glob("*.py")}
    assert set(scripts) > HELPERS
    for name in set(scripts) - HELPERS:
        assert "targets.finish()" in scripts[name] or "sys.exit(" in scripts[name], name


def test_make_bench_runs_every_script():
    makefile = (FOLDER.parent / "Makefile").read_text()
    left_out = makefile.split("$(filter-out ")[1].split(",")[0].split()
    assert {Path(name).name for name in left_out} == HELPERS


def test_exponents_of_growth(module):
    exponent = module("scaling").exponent
    sizes = [10, 100, 1000]
    assert exponent(sizes, [0.02 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert exponent(sizes, [0.001, 1.0, 10.0]) == pytest.approx(1.0)  # a millisecond is not measured well
    assert np.isnan(exponent(sizes, [0.001, np.nan, 10.0]))


def test_the_table_of_any_size_has_every_class_and_category(module):
    X, y, domains = module("scaling").table(500, 10)
    assert X.shape == (500, 10) and set(y) == {0, 1, 2}
    assert all(set(X[:, j]) == set(range(k)) for j, k in domains.items())


def test_a_simulated_cluster_has_room_for_one_submission_on_each_processor(module):
    cluster = module("cluster")
    Submission, waiting = cluster.Submission, cluster.WAITING

    def job(seconds, processors=1, needs=(), local=False):
        return Submission("", seconds, processors, 1, frozenset(needs), local)

    jobs = [job(100), job(60), job(50, 2), job(10, needs=[0, 1]), job(5, needs=[3], local=True)]
    after = 10 + waiting + 5
    assert cluster.wall_seconds(jobs, 1) == 100 + waiting + max(50 + waiting, 0) + after - 0 - 0
    assert cluster.wall_seconds(jobs, 2) == cluster.wall_seconds(jobs, 9) == 100 + waiting + after
    assert cluster.wall_seconds([job(60), job(60), job(60)], 1) == 2 * (60 + waiting)


def test_the_suite_of_the_cluster_benchmark_has_72_datasets(module, tmp_path, monkeypatch):
    from joints.study.plan import Plan

    monkeypatch.chdir(FOLDER.parent)
    plan = Plan.read([module("cluster").suite(str(tmp_path))])
    assert len(plan.names) == 72 and plan.size("cifar_10") == 60_000 * 3072 / 100_000
