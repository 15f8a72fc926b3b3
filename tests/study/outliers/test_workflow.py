"""The rules of the outlier studies with the real Snakemake: two user files, digits, and an unavailable dataset."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from joints.errors import JointsError
from joints.runtime.config import read_run, read_yaml

STUDIES = {
    "wine": {"datasets": {"text": ["near", "far"]}, "repetitions": 2, "test": 0.3, "bandwidth": 1},
    "images": {
        "dataset": "digits",
        "foreign": [
            {"label": "Digits with a margin", "dataset": "digits", "margin": 1},
            {"label": "SVHN", "dataset": "svhn"},
            {"label": "turned", "made": "turned"},
        ],
        "repetitions": 1,
        "train_rows": 300,
        "test_rows": 100,
        "bandwidth": 0.1,
        "min_sd": 0.1,
    },
}


class Run:
    """Snakemake on the project's own files, in a folder that has nothing but a catalogue and two tables."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        own = {kind: str(root / "config" / f"{kind}.yaml") for kind in ("methods", "mechanisms", "metrics", "costs")}
        self.config = {
            "extends": str(root / "config" / "config.yaml"),
            "run": "test",
            "catalogues": {"datasets": "catalogue.yaml", **own},
            "datasets": ["breast"],
            "forest": {"n_estimators": 10},
            "outliers": STUDIES,
            "ablation": None,
            "theory": None,
            "fetch": {"sources": ["sklearn", "csv"]},
        }

    def write(self, **changes):
        """The configuration with some keys changed, in a file."""
        path = self.folder / "my.yaml"
        path.write_text(yaml.safe_dump(self.config | changes))
        return path

    def __call__(self, *arguments, **changes):
        """The status of a call of Snakemake, and all that it says."""
        files = ["--snakefile", self.root / "Snakefile", "--configfile", self.write(**changes)]
        command = [sys.executable, "-m", "snakemake", *files, "--directory", self.folder, "--cores", "2", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        result = subprocess.run(command, cwd=self.folder, check=False, **pipes)
        return result.returncode, result.stdout


@pytest.fixture
def run(root, tmp_path):
    rng = np.random.default_rng(0)
    catalogue = read_yaml(root / "config" / "datasets.yaml")
    for name, centre in (("near", 0.0), ("far", 3.0)):
        X = rng.normal(centre, 1, (80, 3))
        table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(good=np.where(X[:, 0] > centre, "yes", "no"))
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        catalogue[name] = {"label": name, "sources": [{"csv": {"path": f"{name}.csv"}}], "target": "good"}
    catalogue["svhn"]["sources"] = [{"csv": {"path": "svhn.csv"}}]
    (tmp_path / "catalogue.yaml").write_text(yaml.safe_dump(catalogue))
    return Run(root, tmp_path)


def with_wine(**changes):
    """The studies, with another wine study."""
    return {**STUDIES, "wine": {**STUDIES["wine"], **changes}}


def test_the_outlier_studies(run, tmp_path):
    status, out = run("outliers")
    assert status == 0, out
    assert "SVHN is left out of the images" in out and "svhn.csv" in out
    wine, images = (pd.read_csv(tmp_path / f"results/test/outliers_{study}.csv") for study in ("wine", "images"))
    assert set(wine["study"]) == {"wine_text"} and set(wine["model"]) == {"near", "far"}
    assert (wine["repetitions"] == 2).all()
    assert (wine[wine["method"].str.startswith(("gefp", "kde"))]["auc"] > 0.9).all()
    assert set(images["outliers"]) == {"Digits with a margin", "turned"}
    for study in ("wine", "images"):
        for kind in ("pgf", "pdf", "png"):
            assert (tmp_path / f"figures/test/fx_{study}.{kind}").stat().st_size > 1000
    assert "SVHN is left out of the images" in (tmp_path / "results/test/logs/outliers/images/svhn.log").read_text()
    assert "Nothing to be done" in run("outliers", "--dry-run")[1]
    # another bandwidth of the wine study leaves the image study as it is
    status, out = run("outliers", "--dry-run", "--quiet", "rules", outliers=with_wine(bandwidth=2))
    assert status == 0 and "score_wine" in out and "score_images" not in out
    # a source that the run does not allow is like one that cannot be reached
    images_alone = {"fetch": {"sources": ["sklearn"]}, "outliers": {**STUDIES, "wine": None}}
    status, out = run("results/test/outliers/images/svhn.npz", **images_alone)
    assert status == 0 and "Dataset 'svhn' has no source that this run allows" in out


def test_datasets_of_the_studies_must_be_in_the_catalogue(run):
    status, out = run("outliers", "--dry-run", outliers=with_wine(datasets={"text": ["near", "fra"]}))
    assert status != 0
    assert "my.yaml: 'outliers' has 'fra', which is not in catalogue.yaml (did you mean 'far'?)" in out
    assert "Traceback" not in out


@pytest.mark.parametrize(
    "kind",
    [
        {"label": "x"},
        {"label": "x", "made": "upside"},
        {"label": "x", "dataset": "svhn", "made": "turned"},
        {"label": "x", "dataset": "svhn", "margin": -1},
    ],
)
def test_a_foreign_kind_is_a_dataset_or_made(run, root, kind):
    schema = read_yaml(root / "workflow/schemas/config.schema.yaml")
    assert read_run([run.write()], schema)["outliers"] == STUDIES
    wrong = {**STUDIES, "images": {**STUDIES["images"], "foreign": [kind]}}
    with pytest.raises(JointsError, match=r"my\.yaml: 'outliers\.images\.foreign\.0"):
        read_run([run.write(outliers=wrong)], schema)


def test_without_studies_there_are_none(run):
    for outliers in (None, {"wine": None, "images": None}):
        status, out = run("outliers", "--dry-run", outliers=outliers)
        assert status == 0 and "score_wine" not in out and "score_images" not in out
    assert "score_wine" in run("outliers", "--dry-run")[1]
