"""The ablation with the real Snakemake: next to the study's own scores, and stale only where something has changed."""

import numpy as np
import pandas as pd
import pytest
from working_copy import Project, copy_project, small_config

import study
from joints.study.ablation.differences import read_variants
from joints.study.protocol import Protocol
from joints.study.scores import KEYS, read_scores

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
    config = small_config(
        ["one"],
        methods=["mean", "knn", "learnspn", "gef", "gefp"],
        protocol={"seed": 1, "repetitions": 3, "folds": 2, "rates": [0, 0.3, 0.9]},
        ablation=ABLATION,
        fetch={"sources": ["csv"]},
        openml={"server": "http://127.0.0.1:9/none"},
    )
    catalogue = {"one": {"sources": [{"csv": {"path": "one.csv"}}], "target": "kind"}}
    return Project(folder, config, catalogue, targets=("ablation",))


def names(folder):
    """All files in a folder and below, without the parts that jobs keep."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if ".parts/" not in name)


def test_the_ablation(project):
    project.succeed("--quiet", "all")
    results = project.results
    # scores of KNN too, which has no variant but shares a job; no forests of variants, and nothing half-written
    assert names(results / "scores") == [f"one/{model}/mcar/1-3.csv" for model in ("gef", "knn", "learnspn", "mean")]
    assert names(results / "ablation") == ["one/features.csv", "one/same.csv"]

    used = {name: study.PLAN.methods[name] for name in ("mean", "learnspn", "gef", "gefp")}
    protocol = Protocol(seed=1, folds=2, rates=(0, 0.3, 0.9))
    published = read_scores((results / "scores").rglob("*.csv"), used, {"one": protocol})
    files = [results / "ablation" / "one" / f"{name}.csv" for name in ABLATION["variants"]]
    variants = read_variants(files, ABLATION["variants"], used, {"one": protocol._replace(rates=(0.3,))}, [1, 2])
    same, features = (variants[variants["variant"] == name].drop(columns="variant") for name in ABLATION["variants"])
    chosen = published[published["method"] != "mean"].query("rate == 0.3 and repetition <= 2")
    pd.testing.assert_frame_equal(same.reset_index(drop=True), chosen.reset_index(drop=True), check_exact=True)

    table = pd.read_csv(results / "ablation.csv").set_index(["metric", "variant", "method"])
    assert set(table.index.get_level_values("metric")) == set(study.PLAN.metrics)
    for metric, entry in study.PLAN.metrics.items():
        cells = table.loc[metric]  # two repetitions of two folds: over the folds
        assert len(cells) == 5 and (cells["n"] == 4).all() and (cells["mechanism"] == "mcar").all()
        assert (cells.loc["same", ["difference", "interval"]] == 0).all(axis=None)
        gains = features.set_index(KEYS)[metric] - published.set_index(KEYS)[metric]
        per_repetition = gains.dropna().groupby(["method", "repetition"]).mean()
        for method in ("mean", "gef"):
            expected = entry.scale * per_repetition[method].mean()
            assert cells.loc[("features", method), "difference"] == pytest.approx(expected)
    assert (table.loc["accuracy"].loc["features", "difference"] != 0).any()
    html = (results / "tables" / "ablation.html").read_text()
    assert "all features" in html and "30 % missing" in html and "Accuracy (%)" in html
    assert r"30 \% missing" in (results / "tables" / "ablation.tex").read_text()
    assert project.stale() == set()

    def stale_variants():
        """Whether variants would be scored."""
        return any(name.startswith("score_variants") for name in project.stale())

    def stale_after_an_edit(name):
        path = project.folder / "src" / "joints" / name
        old = path.read_text()
        path.write_text(old + "\nX = 1\n")
        try:
            return stale_variants()
        finally:
            path.write_text(old)

    assert stale_after_an_edit("study/ablation/scoring.py")
    assert stale_after_an_edit("study/methods/mean.py")
    assert not stale_after_an_edit("study/ablation/differences.py")
    assert not stale_after_an_edit("study/methods/knn.py")
    variants = dict(ABLATION["variants"], same=dict(ABLATION["variants"]["same"], label="another label"))
    project.config["ablation"] = dict(ABLATION, variants=variants)
    assert project.stale() == {"summarise_ablation", "ablation"}
    variants["features"] = dict(variants["features"], forest={"max_features": 1})
    assert stale_variants()
    project.config["ablation"] = None
    assert project.stale() == {"ablation"}  # the target itself, which has nothing to do
    project.targets = ()
    assert not stale_variants() and "summarise_ablation" not in project.stale()
    project.config["ablation"] = dict(ABLATION, rates=[0.4])
    out = project.fail("--quiet", "all", "--dry-run")
    assert "my.yaml: 'ablation.rates' has 0.4, which is not among the run's 'protocol.rates'" in out
    assert "Traceback" not in out
