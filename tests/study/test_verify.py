"""Comparing a run with the reference."""

import subprocess
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from joints.errors import JointsError
from joints.study import verify
from joints.study.scores import write_scores


def means(shift=0.0, interval=1.0, datasets=("a", "b"), rates=(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)):
    rows = [(d, m, r, 80 - 10 * r + shift, interval) for d in datasets for m in ("knn", "gef") for r in rates]
    table = pd.DataFrame(rows, columns=["dataset", "method", "rate", "mean", "interval"])
    return table.assign(mechanism="mcar", metric="accuracy")


@pytest.mark.parametrize(
    ("shift", "kind", "agrees"), [(0, "same", True), (1, "within", True), (2, "near", False), (-4, "off", False)]
)
def test_one_kind_of_difference(shift, kind, agrees):
    table = verify.compare(means(shift), means())
    assert len(table) == 40 and set(table["verdict"]) == {kind} and verify.agrees(table) == agrees
    np.testing.assert_allclose(table["z"], shift / np.sqrt(2), rtol=1e-12)


def test_a_few_cells_may_be_outside_but_not_many():
    run = means()
    run.loc[:3, "mean"] += 2
    assert verify.agrees(verify.compare(run, means()))
    run.loc[:4, "mean"] += 2
    assert not verify.agrees(verify.compare(run, means()))


def test_not_a_single_cell_may_be_far_off():
    run = means(interval=0.1)
    run.loc[7, "mean"] -= 26.6
    table = verify.compare(run, means(interval=0.1))
    assert not verify.agrees(table) and "1 are far off" in verify.message(table, "mine", "the other")
    run.loc[7, "mean"] += 25.6  # many intervals, but a point: a whole cell of equal answers has no interval to speak of
    assert verify.agrees(verify.compare(run, means(interval=0.1)))


def test_only_what_both_have_counts():
    table = verify.compare(means(datasets=("b", "c"), rates=(0.3, 0.35)), means())
    assert set(table["dataset"]) == {"b"} and set(table["rate"]) == {0.3}


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, table in {
        "reference": means(),
        "mine": means(0.5),
        "far": means(9),
        "other": means(datasets=("z",)),
    }.items():
        (tmp_path / "results" / name).mkdir(parents=True)
        table.to_csv(tmp_path / "results" / name / "means.csv", index=False)
    assert verify.main(["results/mine"]) == 0
    assert "40 means of 2 datasets and 2 methods in results/mine" in capsys.readouterr().out
    assert verify.main(["results/far"]) == 1
    assert "0.0 % agree" in capsys.readouterr().out
    assert verify.main(["results/other"]) == 2
    assert "shares no dataset" in capsys.readouterr().err
    assert verify.main(["results/none"]) == 2
    assert "there is no results/none/means.csv: finish the run first" in capsys.readouterr().err
    assert verify.main([]) == 2


def scores(shift=0.0):
    cells = means(shift).drop(columns=["interval", "metric"]).rename(columns={"mean": "accuracy"})
    folds = pd.DataFrame(
        [(r, f, 0.01 * (f - 1.5)) for r in (1, 2) for f in (1, 2)], columns=["repetition", "fold", "off"]
    )
    table = cells.merge(folds, how="cross")
    return table.assign(accuracy=table["accuracy"] / 100 + table["off"]).drop(columns="off")


def test_means_must_be_those_of_the_scores():
    verify.check_means(means(), scores(), "mine")
    wrong = means()
    wrong.loc[3, "mean"] += 0.1
    with pytest.raises(
        JointsError, match=r"mine/means.csv has 1 means of accuracy that do not follow from scores.parquet: a, knn"
    ):
        verify.check_means(wrong, scores(), "mine")


def test_fold_by_fold():
    other = scores()
    other.loc[:9, "accuracy"] += 0.01
    assert verify.compare_folds(scores(), other) == "Of 160 scores of the same repetition and fold 150 are the same."
    assert "share no score" in verify.compare_folds(scores(), other.assign(repetition=9))


def test_a_committed_run_is_compared_with_itself(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "modern"
    folder.mkdir(parents=True)
    mechanisms = {"mcar": SimpleNamespace(training=False)}

    def write(shift):
        means(shift).to_csv(folder / "means.csv", index=False)
        write_scores(folder / "scores.parquet", scores(shift), mechanisms)

    def git(*words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words], check=True)

    write(0)
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "a run")
    assert verify.main(["results/modern"]) == 0
    said = capsys.readouterr().out
    assert "results/modern compared with results/modern as committed" in said and "160 are the same" in said
    write(0.5)
    assert verify.main(["results/modern"]) == 0
    assert "0 are the same, 40 within" in capsys.readouterr().out
    write(9)
    assert verify.main(["results/modern"]) == 1
    means(1).to_csv(folder / "means.csv", index=False)
    assert verify.main(["results/modern"]) == 2
    assert "that do not follow from scores.parquet" in capsys.readouterr().err
