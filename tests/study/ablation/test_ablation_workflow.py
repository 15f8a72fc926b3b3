"""The ablation by the real Snakemake: beside the study's own scores, and stale only where something has changed."""

import numpy as np
import pandas as pd
import pytest
from working_copy import Project, copy_project

from joints.study.scores import KEYS, read_tables

pytestmark = pytest.mark.xdist_group("experiment")  # one after the other: each run takes all cores

ABLATION = {
    "datasets": ["one"],
    "repetitions": 2,
    "rates": [0.3],
    "variants": {
        # the published values: nothing may change
        "same": {
            "label": "as it is",
            "methods": ["gef", "gefp", "learnspn"],
            "forest": {"purity": 0.99, "max_features": "sqrt"},
            "parameters": {"min_sd": 1.0},
        },
        "features": {"label": "all features", "methods": ["mean", "gef"], "forest": {"max_features": None}},
    },
}


@pytest.fixture
def project(root, tmp_path):
    """A copy of the project with a dataset of its own."""
    folder = copy_project(root, tmp_path / "project")
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    table = pd.DataFrame({"a": rng.normal(kind, 0.8).round(3), "b": rng.normal(-kind, 1).round(3),
                          "c": np.where(rng.random(60) < 0.7, kind, 1 - kind), "kind": kind})  # fmt: skip
    table.to_csv(folder / "one.csv", index=False)
    config = {
        "run": "test",
        "catalogue": "catalogue.yaml",
        "datasets": ["one"],
        "methods_catalogue": "config/methods.yaml",
        "methods": ["mean", "knn", "learnspn", "gef", "gefp"],
        "protocol": {"seed": 1, "repetitions": 3, "folds": 2, "rates": [0, 0.3, 0.9]},
        "forest": {"n_estimators": 5},
        "ablation": ABLATION,
        "fetch": {"folder": "data", "sources": ["csv"], "tries": 1, "pause": 0, "timeout": 60},
        "openml": {"server": "http://127.0.0.1:9/none"},
        "url": {"prefixes": {}},
    }
    catalogue = {"one": {"sources": [{"csv": {"path": "one.csv"}}], "target": "kind"}}
    return Project(folder, config, catalogue, targets=("ablation",))


def test_the_ablation(project):
    project.succeed("--quiet", "all")
    results = project.results
    study = read_tables((results / "scores").rglob("*.csv"))
    assert "knn" not in set(study["method"])  # it has no variant

    same = read_tables([results / "ablation" / "one" / "same.csv"])
    chosen = study[study["method"].isin(["gef", "gefp", "learnspn"])].query("rate == 0.3 and repetition <= 2")
    pd.testing.assert_frame_equal(same, chosen.sort_values(KEYS, ignore_index=True), check_exact=True)

    table = pd.read_csv(results / "ablation.csv").set_index(["variant", "method"])
    assert (table.loc["same", ["difference", "interval"]] == 0).all(axis=None) and len(table) == 5
    assert (table["n"] == 2).all()
    other = pd.read_csv(results / "ablation" / "one" / "features.csv").set_index(KEYS)["accuracy"]
    gains = (other - study.set_index(KEYS)["accuracy"]).dropna().groupby(["method", "repetition"]).mean()
    assert table.loc[("features", "gef"), "difference"] == pytest.approx(100 * gains["gef"].mean())
    html = (results / "tables" / "ablation.html").read_text()
    assert "all features" in html and "30 % missing" in html and (results / "tables" / "ablation.tex").is_file()
    assert not list((results / "ablation").rglob("*.joblib")) and not list(results.rglob("*.tmp"))
    assert project.stale() == set()

    def edited(name):
        path = project.folder / "src" / "joints" / name
        old = path.read_text()
        path.write_text(old + "\nX = 1\n")
        try:
            return project.succeed("--dry-run", "--quiet", "rules")
        finally:
            path.write_text(old)

    assert "score_variant             1" in edited("study/methods/mean.py")
    assert "score_variant" not in edited("study/ablation/differences.py")
    assert "score_variant" not in edited("study/methods/knn.py")
    variants = dict(ABLATION["variants"], same=dict(ABLATION["variants"]["same"], label="another label"))
    project.config["ablation"] = dict(ABLATION, variants=variants)
    assert project.stale() == {"summarise_ablation", "ablation"}
    variants["features"] = dict(variants["features"], forest={"max_features": 1})
    assert "score_variant             1" in project.succeed("--dry-run", "--quiet", "rules")
    del project.config["ablation"]
    assert project.stale() == {"ablation"}  # the target itself, which has nothing to do
    project.targets = ()
    assert not {"score_variant", "summarise_ablation"} & project.stale()
    project.config["ablation"] = dict(ABLATION, rates=[0.4])
    out = project.fail("--quiet", "all", "--dry-run")
    assert "my.yaml: 'ablation.rates' has 0.4, which is not among the run's 'protocol.rates'" in out
    assert "Traceback" not in out
