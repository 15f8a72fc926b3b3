"""The data stage from end to end, with the real Snakemake and the real openml client."""

import json
import os
import signal
import time

import numpy as np
import pytest

from joints.data import Dataset


@pytest.fixture
def project(project):
    """The data stage alone."""
    project.targets = ("datasets",)
    return project


def test_a_run_from_nothing_to_tables_then_offline(project, openml):
    """Fetch with a network, then do everything else without, and find nothing left to do."""
    project.targets = ("fetch",)
    project.succeed()
    assert sorted(project.files()) != [] and not (project.results / "data").exists()
    openml.close()
    project.targets = ("datasets",)
    project.succeed()

    fruit = Dataset.load(project.results / "data" / "fruit.npz")
    assert fruit.X.shape == (60, 3) and fruit.n_missing == 3 and fruit.classes == ["pear", "apple"]
    own = Dataset.load(project.results / "data" / "own.npz")
    assert own.n_categories.tolist() == [0, 2] and own.classes == ["0", "1", "2"]

    table = (project.results / "datasets.csv").read_text().splitlines()
    assert table[0] == "dataset,label,title,n,categorical,continuous,classes,majority,missing,source,citation"
    assert table[1].startswith("fruit,fruit,fruit,60,2,1,2,66.67,3,openml")
    assert r"fruit & 60 & 2 & 1 & 2 & 66.67 \\" in (project.results / "datasets.tex").read_text()
    record = json.loads((project.results / "raw" / "fruit.json").read_text())
    assert record["source"] == "openml" and record["id"] == 7 and record["rows"] == 60 and record["date"]
    assert {name.split("/")[0] + "/" + name.split("/")[1] for name in project.files()} == {
        "results/test",
        "data/openml",
    }

    assert project.stale() == set()
    os.utime(project.results / "raw" / "fruit.parquet")  # newer, but the same
    assert project.stale() == set()

    # Another run takes the downloads that are here, and says the same in its own folder.
    before = project.files()
    project.config["run"] = "again"
    project.succeed("--quiet", "all")
    for name in ("data/fruit.npz", "data/own.npz", "datasets.csv", "datasets.tex", "raw/fruit.parquet"):
        assert (project.results / name).read_bytes() == before[f"results/test/{name}"]
    after = project.files()
    assert {name: after[name] for name in before} == before
    assert openml.requests["/api/v1/xml/data/7"] == 1


def test_what_makes_results_stale(project):
    """An edit reaches what depends on it, and nothing else."""
    project.config["datasets"] = ["own"]
    project.succeed("--quiet", "all")
    assert project.stale() == set()
    source = project.folder / "src" / "joints"

    def edited(path, text):
        old = path.read_text()
        path.write_text(old + text)
        try:
            return project.stale()
        finally:
            path.write_text(old)

    everything = {"encode_dataset", "describe_datasets", "datasets"}
    assert edited(source / "data" / "encode.py", "\nX = 1\n") == everything
    assert edited(source / "data" / "encode.py", "\n# a comment\n") == set()
    assert edited(source / "data" / "fetch.py", "\nX = 1\n") == set()  # how to fetch, not what
    assert edited(source / "data" / "raw.py", "\nX = 1\n") == {"fetch_dataset", *everything}
    assert edited(source / "data" / "details.py", "\nX = 1\n") == {"describe_datasets", "datasets"}
    (source / "forest").mkdir(exist_ok=True)
    (source / "forest" / "other.py").write_text("")
    assert edited(source / "forest" / "other.py", "\nX = 1\n") == set()
    assert edited(project.folder / "environment.yml", "\n# a comment\n") == set()

    project.config["fetch"]["timeout"] = 61
    project.config["openml"]["server"] = "http://127.0.0.1:9/mirror"
    assert project.stale() == set()
    project.catalogue["own"]["label"] = "Own"
    assert project.stale() == everything
    del project.catalogue["own"]["label"]
    project.catalogue["fruit"]["target"] = "weight"  # not a dataset of this run
    assert project.stale() == set()
    project.config["datasets"] = ["own", "fruit"]
    assert "fruit" in project.succeed("--dry-run")
    project.config["datasets"] = ["own"]
    time.sleep(1.1)  # modification times have seconds on some disks
    own = project.folder / "own.csv"
    own.write_text(own.read_text() + "1,a,0\n")
    assert project.stale() == {"fetch_dataset", *everything}


@pytest.mark.parametrize("fault", ["503", "unknown"])
def test_a_fault_is_one_sentence_on_the_terminal_and_in_the_log(project, openml, fault):
    openml.fault = fault
    out = project.fail("--quiet", "all", "--keep-going")
    (sentence,) = [line for line in out.splitlines() if "could not be fetched" in line]
    reason = {"503": "the server answered with status 503", "unknown": "the server does not know this id"}[fault]
    assert sentence.startswith("Error: Dataset 'fruit' could not be fetched: openml 7") and reason in sentence
    assert sentence.endswith("(More in results/test/logs/fetch/fruit.log.)")
    assert "Traceback" not in out
    log = (project.results / "logs" / "fetch" / "fruit.log").read_text()
    assert "Traceback" in log and reason in log
    assert not [name for name in project.files() if "fruit" in name and "logs" not in name]
    assert (project.results / "data" / "own.npz").is_file()  # the other dataset came through


def test_wrong_numbers_stop_the_run(project):
    project.config["datasets"] = ["own"]
    project.catalogue["own"]["numbers"] = {"n": 31}
    out = project.fail("--quiet", "all")
    assert "Error: Dataset 'own': n should be 31 but is 30" in out
    assert not (project.results / "data" / "own.npz").exists()


def test_a_defect_of_ours_is_one_sentence_with_the_traceback_in_the_log(project):
    project.config["datasets"] = ["own"]
    path = project.folder / "src" / "joints" / "data" / "encode.py"
    path.write_text(path.read_text().replace("    frame = _prepare(entry, tables)\n", "    frame = None + 1\n"))
    out = project.fail("--quiet", "all")
    assert "Error: TypeError: unsupported operand" in out and "Traceback" not in out
    assert "Traceback" in (project.results / "logs" / "encode" / "own.log").read_text()


def test_killed_while_fetching_and_resumed(project, openml):
    openml.fault = "hang"
    process = project.start("--quiet", "all")
    end = time.monotonic() + 60
    while not openml.requests and time.monotonic() < end:
        time.sleep(0.1)
    assert openml.requests
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not [name for name in project.files() if "fruit" in name and "logs" not in name]
    openml.fault = "none"
    project.succeed("--quiet", "all")
    assert Dataset.load(project.results / "data" / "fruit.npz").n_samples == 60
    assert not list(project.folder.glob("data/.incoming-*"))
    assert not list(project.folder.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("where", "change", "reason"),
    [
        ("config", {"datasetts": []}, "my.yaml: unknown key 'datasetts' (did you mean 'datasets'?)"),
        ("config", {"run": "../away"}, "my.yaml: 'run' does not fit"),
        ("config", {"datasets": ["own", "friut"]}, "'friut', which is not in catalogue.yaml (did you mean 'fruit'?)"),
        ("config", {"catalogues": {"datasets": "gone.yaml"}}, "gone.yaml cannot be read: No such file or directory"),
        ("catalogue", {"own": {"target": "sort", "source": []}}, "catalogue.yaml: unknown key 'source' in 'own'"),
    ],
)
def test_mistakes_are_found_before_anything_runs(project, where, change, reason):
    getattr(project, where).update(change)
    out = project.fail("--quiet", "all")
    assert reason in out and "Traceback" not in out
    assert project.files() == {}


def test_a_missing_key_is_an_error(project):
    project.config["datasets"] = None
    assert "my.yaml: the key 'datasets' is missing" in project.fail("--quiet", "all")


def test_the_command_line_can_change_a_key_but_not_invent_one(project):
    project.config["openml"]["server"] = "http://127.0.0.1:9/nowhere"
    out = project.fail("--quiet", "all", "--config", "srever=x")
    assert "the command line: unknown key 'srever'" in out
    project.succeed("--quiet", "all", "--config", "datasets=[own]", "run=other")
    assert (project.folder / "results" / "other" / "data" / "own.npz").is_file()


def test_a_dataset_is_added_by_one_entry(project):
    """What README says about adding a dataset: from OpenML by its id, or from a file by its path."""
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f};{'xyz'[i % 3]};{'NA' if i % 10 == 0 else i % 5};{i % 2}" for i in range(50)]
    (project.folder / "mine.csv").write_text("\n".join(["size;shape;grade;outcome", *lines]))
    project.catalogue["mine"] = {
        "sources": [{"csv": {"path": "mine.csv", "separator": ";", "missing": ["NA"]}}],
        "target": "outcome",
    }
    project.config["datasets"] = ["mine"]
    project.succeed("--quiet", "all")
    mine = Dataset.load(project.results / "data" / "mine.npz")
    assert mine.features == ["size", "shape", "grade"] and mine.n_categories.tolist() == [0, 3, 5]
    assert mine.n_missing == 5 and mine.label == "mine"
