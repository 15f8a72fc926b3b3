"""The rules of the outlier studies by the real Snakemake: two files of the user, digits, and an absent dataset."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from joints.runtime.config import read_yaml, validate


@pytest.fixture
def run(root, tmp_path):
    """Run Snakemake on the project's own files in an empty folder."""
    rng = np.random.default_rng(0)
    for name, centre in (("near", 0.0), ("far", 3.0)):
        X = rng.normal(centre, 1, (80, 3))
        table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(good=np.where(X[:, 0] > centre, "yes", "no"))
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    catalogue = read_yaml(root / "config" / "datasets.yaml")
    for name in ("near", "far"):
        catalogue[name] = {"label": name, "sources": [{"csv": {"path": f"{name}.csv"}}], "target": "good"}
    catalogue["svhn"]["sources"] = [{"csv": {"path": "svhn.csv"}}]
    (tmp_path / "catalogue.yaml").write_text(yaml.safe_dump(catalogue))
    config = read_yaml(root / "config" / "smoke.yaml") | {
        "catalogue": "catalogue.yaml",
        "methods_catalogue": str(root / "config" / "methods.yaml"),
        "outliers": {
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
        },
    }
    config["fetch"]["sources"] = ["sklearn", "csv"]

    def call(*arguments, **changes):
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(config | changes))
        return subprocess.run(
            [sys.executable, "-m", "snakemake", "--snakefile", root / "Snakefile", "--directory", tmp_path,
             "--configfile", tmp_path / "my.yaml", "--cores", "2", *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    call.config = config
    return call


def test_the_outlier_studies(run, tmp_path):
    result = run("outliers")
    assert result.returncode == 0, result.stderr
    assert "SVHN is left out of the images" in result.stderr and "svhn.csv" in result.stderr
    wine, images = (pd.read_csv(tmp_path / f"results/smoke/outliers_{study}.csv") for study in ("wine", "images"))
    assert set(wine["study"]) == {"wine_text"} and set(wine["model"]) == {"near", "far"}
    assert (wine[wine["method"].str.startswith(("gefp", "kde"))]["auc"] > 0.9).all() and (
        wine["repetitions"] == 2
    ).all()
    assert set(images["outliers"]) == {"Digits with a margin", "turned"}
    for study in ("wine", "images"):
        for kind in ("pgf", "pdf", "png"):
            assert (tmp_path / f"figures/smoke/fx_{study}.{kind}").stat().st_size > 1000
    assert "SVHN is left out of the images" in (tmp_path / "results/smoke/logs/outliers/images/svhn.log").read_text()
    again = run("outliers", "--dry-run")
    assert "Nothing to be done" in again.stdout + again.stderr
    # another bandwidth of the wine study leaves the image study as it is
    studies = dict(run.config["outliers"], wine=dict(run.config["outliers"]["wine"], bandwidth=2))
    again = run("outliers", "--dry-run", "--quiet", "rules", outliers=studies)
    assert "score_wine" in again.stdout and "score_images" not in again.stdout


def test_datasets_of_the_studies_must_be_in_the_catalogue(run):
    studies = dict(
        run.config["outliers"], wine=dict(run.config["outliers"]["wine"], datasets={"text": ["near", "fra"]})
    )
    result = run("outliers", "--dry-run", outliers=studies)
    assert result.returncode != 0
    assert "'outliers' has 'fra', which is not in catalogue.yaml (did you mean 'far'?)" in result.stderr + result.stdout


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ({"label": "x"}, "outliers.images.foreign.0"),
        ({"label": "x", "made": "upside"}, "outliers.images.foreign.0"),
        ({"label": "x", "dataset": "svhn", "made": "turned"}, "outliers.images.foreign.0"),
    ],
)
def test_a_foreign_kind_is_a_dataset_or_made(run, root, kind, reason):
    schema = read_yaml(root / "workflow/schemas/config.schema.yaml")
    validate(run.config, schema, "my.yaml")
    run.config["outliers"]["images"]["foreign"] = [kind]
    with pytest.raises(Exception, match=reason):
        validate(run.config, schema, "my.yaml")


def test_without_studies_there_are_none(run):
    result = run("outliers", "--dry-run", outliers={})
    assert result.returncode == 0 and "score_wine" not in result.stdout
