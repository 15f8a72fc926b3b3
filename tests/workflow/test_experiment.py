"""The experiment from end to end with the real Snakemake: what it writes, resumes, repeats, and says when it fails."""

import json
import os
import re
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from working_copy import Project, copy_project, small_config

pytestmark = pytest.mark.xdist_group("experiment")  # one after the other: each run takes all cores

METHODS = ["mean", "knn", "gef", "gefp"]


def new_project(root, folder):
    """A copy of the project with two datasets of its own."""
    rng = np.random.default_rng(0)
    copy_project(root, folder)
    for name, n in (("one", 60), ("two", 48)):
        kind = np.arange(n) % 2
        columns = {
            "a": rng.normal(kind, 0.8).round(3),
            "b": rng.normal(-kind, 1).round(3),
            "c": np.where(rng.random(n) < 0.7, kind, 1 - kind),
            "kind": kind,
        }
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    config = small_config(
        ["one", "two"],
        methods=METHODS,
        protocol={"seed": 1, "repetitions": 2, "folds": 2, "rates": [0, 0.3, 0.9]},
        fetch={"sources": ["csv"], "tries": 1, "pause": 0, "timeout": 60},
        openml={"server": "http://127.0.0.1:9/none"},
    )
    catalogue = {name: {"sources": [{"csv": {"path": f"{name}.csv"}}], "target": "kind"} for name in ("one", "two")}
    return Project(folder, config, catalogue)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run that tests may copy, but not change."""
    folder = tmp_path_factory.mktemp("experiment") / "project"
    project = new_project(Path(__file__).resolve().parents[2], folder)
    project.succeed("--quiet", "all")
    return project


@pytest.fixture
def project(finished, tmp_path):
    """A copy of the finished run."""
    folder = tmp_path / "project"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    return Project(folder, {**finished.config}, {**finished.catalogue})


def lasting(project):
    """All files that must be byte-identical in every run: everything except times, dates and logs."""
    changing = ("logs/", "seconds", "provenance.html", "report.html", ".json", "forests/", "data/", ".parts/")
    return {name: content for name, content in project.files().items() if not any(c in name for c in changing)}


def counts(project, *arguments):
    """Rule -> number of jobs that Snakemake would run; those that score models together."""
    lines = project.succeed("--dry-run", "--quiet", "rules", *arguments).splitlines()
    words = [line.split() for line in lines]
    listed = {w[0]: int(w[1]) for w in words if len(w) == 2 and w[1].isdigit() and w[0] not in ("total", "all")}
    found = Counter()
    for name, count in listed.items():  # Snakemake lists them twice
        found["score" if name.startswith("score_") else name] += count
    return dict(found)


def test_everything_is_there(finished):
    files = set(finished.files())
    drawn, shown = (
        ("one", "two", "againstKNN", "agreement", "ranks"),
        ("one", "two", "table1", "agreement", "ranks", "tally"),
    )
    figures = {f"figures/test/{name}.{kind}" for name in drawn for kind in ("pgf", "pdf", "png")}
    tables = {f"results/test/tables/{name}.{kind}" for name in shown for kind in ("tex", "html")}
    names = ("table1", "agreement", "ranks", "tally", "means", "comparisons", "gains", "seconds", "ci/one", "ci/two")
    single = {f"results/test/{name}.csv" for name in names}
    others = {
        f"results/test/{name}"
        for name in ("summary.txt", "index.html", "report.html", "provenance.html", "provenance.json")
    }
    assert figures | tables | single | others <= files
    scores = pd.concat(pd.read_csv(path) for path in (finished.results / "scores").rglob("*.csv"))
    answers = {
        ("mean", "probabilities"),
        ("knn", "probabilities"),
        *(("gef", a) for a in ("average", "mixture", "friedman")),
    }
    assert len(scores) == 2 * 5 * 2 * 2 * 3 and set(zip(scores["model"], scores["answer"], strict=True)) == answers
    assert not list(finished.folder.rglob("*.tmp"))
    provenance = json.loads((finished.results / "provenance.json").read_text())
    assert provenance["protocol"]["mechanisms"] == ["mcar"] and provenance["forest"]["n_estimators"] == 5
    assert "extends" not in provenance
    assert finished.stale() == set()


def test_a_report_with_everything_inside(finished):
    text = (finished.results / "report.html").read_text()
    for part in ("Agreement with the paper", "Statistics", "Provenance", "againstKNN.png", "missing-value study"):
        assert part in text
    assert 'src="http' not in text and 'href="https://cdn' not in text


def test_killed_and_started_again_gives_the_same_bytes(root, finished, tmp_path):
    project = new_project(root, tmp_path / "project")
    for name in ("one.csv", "two.csv"):
        shutil.copy2(finished.folder / name, project.folder / name)
    process = project.start("--quiet", "all", "--cores", "1")
    end = time.monotonic() + 300
    while len(list(project.results.glob("scores/*/*/*/*.csv"))) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (project.results / "table1.csv").exists()
    before = {path: path.stat().st_mtime_ns for path in project.results.glob("scores/*/*/*/*.parts/*/*")}
    assert before
    project.succeed("--quiet", "all")
    assert {path: path.stat().st_mtime_ns for path in before} == before  # only what was running is done again
    mine, theirs = lasting(project), lasting(finished)
    assert set(mine) == set(theirs) and len(mine) > 40
    assert [name for name in mine if mine[name] != theirs[name]] == []


def test_what_an_edit_makes_stale(project):
    source = project.folder / "src" / "joints"

    def edited(name, text="\nX = 1\n"):
        path = source / name
        old = path.read_text()
        path.write_text(old + text)
        try:
            return counts(project)
        finally:
            path.write_text(old)

    assert edited("study/methods/missforest.py") == edited("impute/missforest.py") == {}  # not a method of this run
    assert edited("study/methods/knn.py", "\n# a comment\n") == {}
    knn = edited("study/methods/knn.py")
    assert knn["score"] == 2 and "grow_forests" not in knn and "render_dataset" in knn
    assert edited("study/methods/gef.py")["score"] == 2
    assert edited("study/evaluate.py")["score"] == 2 and "grow_forests" not in edited("study/evaluate.py")
    assert edited("study/forests.py")["grow_forests"] == 2
    everything = edited("study/protocol.py")
    assert everything["score"] == 2 and everything["grow_forests"] == 2
    assert set(edited("render/figures.py")) == {"render_dataset", "draw_study", "render_agreement", "build_report"}
    assert "score" not in edited("study/summarise.py")
    style = source / "render" / "paper.mplstyle"
    style.write_text(style.read_text() + "\nlines.linewidth: 2\n")
    assert {"render_dataset", "draw_study"} <= set(counts(project))


def test_code_that_is_edited_during_a_run_and_then_reverted(project, finished):
    """The result of other code must not pass for one of the planned code."""
    path = project.folder / "src" / "joints" / "study" / "methods" / "mean.py"
    old, record = path.read_text(), project.folder / ".snakemake" / "joints" / "test" / "code.json"
    for scores in project.results.glob("scores/*/mean/*/*.csv"):
        scores.unlink()
    planned = record.stat().st_mtime_ns
    process = project.start("--quiet", "all", "--until", "summarise_dataset")
    while record.stat().st_mtime_ns == planned and process.poll() is None:
        time.sleep(0.01)
    path.write_text(old + "\nX = 1\n")
    out = process.communicate()[0]
    assert process.returncode and out.count("Error: the code of score_models has been edited since the run") >= 1, out
    assert not list(project.results.glob("scores/*/mean/*/*.csv"))
    path.write_text(old)
    project.succeed("--quiet", "all")
    assert lasting(project) == lasting(finished)


@pytest.mark.parametrize("name", ["scores/one/knn/mcar/1-2.csv"])
def test_a_file_that_was_cut_after_it_was_written(project, finished, name):
    """It is named; when it is deleted, the run is what it was."""
    path = project.results / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    out = project.fail("--quiet", "all")
    said = [line for line in out.splitlines() if line.startswith("Error")]
    assert said and all(f"results/test/{name} is damaged (its checksum" in line for line in said), out
    path.unlink()
    project.succeed("--quiet", "all")
    assert lasting(project) == lasting(finished)


def test_adding_a_method_or_a_dataset_recomputes_nothing_else(project):
    project.config["methods"] = [*METHODS, "surrogate"]
    added = counts(project)
    assert added["score"] == 2 and "grow_forests" not in added
    before = {path: path.stat().st_mtime_ns for path in project.results.glob("scores/*/*/*/*.parts/*/*")}
    project.succeed("scores", "--quiet", "all")
    after = {path: path.stat().st_mtime_ns for path in project.results.glob("scores/*/*/*/*.parts/*/*")}
    assert before.items() < after.items() and {path.parts[-5] for path in set(after) - set(before)} == {"surrogate"}
    project.config["methods"] = METHODS
    project.succeed("--quiet", "all")
    shutil.copy(project.folder / "one.csv", project.folder / "three.csv")
    project.catalogue["three"] = {"sources": [{"csv": {"path": "three.csv"}}], "target": "kind"}
    project.config["datasets"] = ["one", "two", "three"]
    added = counts(project)
    assert added["score"] == 1 and added["grow_forests"] == 1 and added["render_dataset"] == 1
    project.config["datasets"] = ["one", "two"]
    project.config["protocol"]["rates"] = [0, 0.3]
    assert "grow_forests" not in counts(project) and counts(project)["score"] == 2


BROKEN = '''
from joints.study.methods.mean import MeanImputation


class Broken(MeanImputation):
    """Works on the first fold."""

    def fit(self, fold):
        self.fits = getattr(self, "fits", 0) + 1
        if self.fits == 2:
            raise RuntimeError("the second fold is too much")
        return super().fit(fold)
'''


def test_a_method_that_fails_stops_only_what_needs_it(project):
    """One class in one file and one entry make a method; here one that fails on a fold."""
    (project.folder / "src" / "joints" / "study" / "methods" / "broken.py").write_text(BROKEN)
    catalogue = project.folder / "config" / "methods.yaml"
    entry = {"broken": {"label": "Broken", "class": "joints.study.methods.broken.Broken"}}
    catalogue.write_text(catalogue.read_text() + yaml.safe_dump(entry))
    project.config["methods"] = ["broken", *METHODS, "surrogate"]
    out = project.fail("--quiet", "all")
    sentences = [line for line in out.splitlines() if line.startswith("Error:")]
    assert sorted(sentences) == [
        f"Error: dataset {name}, method broken, repetition 1, fold 2, while fitting: RuntimeError: the second fold is "
        f"too much. (More in results/test/logs/scores/{name}/score_{name}_mcar_1.log.)"
        for name in ("one", "two")
    ]
    assert "Traceback" not in out
    assert len(list(project.results.glob("scores/*/surrogate/*/*.parts/*/2.0"))) == 2  # what could finish has
    assert not list(project.results.glob("scores/*/broken/*/*.csv"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"methods": ["knn", "gfe"]}, "'methods' has 'gfe', which is not in config/methods.yaml (did you mean 'gef'?)"),
        ({"methods": ["mean", "gef"]}, "'reference' is 'knn', which is not among the run's 'methods'"),
        ({"protocol": {"rates": [0, 0.3, 1.0]}}, "my.yaml: 'protocol.rates.2' does not fit"),
        ({"protocol": {"rates": [-0.1, 0.3]}}, "my.yaml: 'protocol.rates.0' does not fit"),
        ({"protocol": {"fold": 3}}, "my.yaml: unknown key 'fold' in 'protocol' (did you mean 'folds'?)"),
        ({"protocol": {"exceptions": {"on": {}}}}, "'protocol.exceptions' has 'on', which is not among the run's"),
        ({"forest": {"trees": 5}}, "my.yaml: unknown key 'trees' in 'forest'"),
    ],
)
def test_mistakes_are_found_before_anything_runs(root, tmp_path, change, reason):
    project = new_project(root, tmp_path / "project")
    for key, value in change.items():
        own = project.config.get(key)
        project.config[key] = {**own, **value} if isinstance(own, dict) else value
    out = project.fail("--quiet", "all", "--dry-run")
    assert reason in out and "Traceback" not in out


def test_more_folds_than_rows_of_a_class(project):
    project.config["protocol"] = {**project.config["protocol"], "exceptions": {"two": {"folds": 25}}}
    out = project.fail("--quiet", "all", "--until", "grow_forests")
    assert "Error: two: 25 folds need 25 rows of every class, but class '0' has 24; use fewer folds" in out


def test_a_full_disk_is_one_sentence(project):
    """Scores cannot be written: the sentence names the file."""
    target = project.results / "scores" / "one" / "knn" / "mcar"
    shutil.rmtree(target)
    full = project.folder / "full"
    full.mkdir()
    if os.system(f"mount -t tmpfs -o size=4k tmpfs {full} 2>/dev/null") != 0:
        pytest.skip("only root can make a small disk")
    try:
        (full / "stuffing").write_bytes(b"x" * 4096)
        target.symlink_to(full)
        out = project.fail("--quiet", "all", "--until", "score_one_mcar_1", "--config", "run=test")
        assert re.search(r"No space left on device: '\S*scores/one/knn/mcar/\S+'", out) and "Traceback" not in out
    finally:
        os.system(f"umount {full}")
