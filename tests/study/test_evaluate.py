"""Scores of a method: Theorem 1, what a row says, sentences about failures."""

import numpy as np
import pandas as pd
import pytest
from mixed import mixed_table

from joints.data import Dataset
from joints.errors import JointsError
from joints.interface import Method
from joints.study.evaluate import score, score_probabilities
from joints.study.forests import grow
from joints.study.methods import make
from joints.study.protocol import Protocol
from joints.study.scores import KEYS, read_tables, write_table

PROTOCOL = Protocol(seed=7, folds=2, rates=(0, 0.3, 0.9), repetitions=2)


def dataset(missing=0.0):
    X, y, n_categories = mixed_table(np.random.default_rng(0), n=150, missing=missing)
    names = [f"x{j}" for j in range(4)]
    return Dataset("toy", "Toy", X, n_categories, y, names, [[], [], list("abc"), list("de")], ["r", "s", "t"])


@pytest.fixture(scope="module")
def forests(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forests")
    grow(dataset(), PROTOCOL, [1, 2], {"n_estimators": 10}, folder)
    return folder


def run(cls, forests, answers, n_jobs=1, repetitions=(1, 2), data=None, **parameters):
    model = make(f"joints.study.methods.{cls}", parameters)
    return score(data or dataset(), PROTOCOL, repetitions, model, "it", answers, [forests], n_jobs)


METHODS = {
    "surrogate.SurrogateSplits": {},
    "mean.MeanImputation": {},
    "knn.KNNImputation": {},
    "missforest.MissForestImputation": {"n_estimators": 5},
}


def test_complete_rows_get_one_answer_from_the_forest_and_everything_built_on_it(forests):
    """Theorem 1: GeF is the forest on complete rows; so are surrogate splits, Friedman's method and all imputations."""
    friedman, _ = run("gef.GenerativeForest", forests, {"friedman": "friedman"})
    gef, _ = run("gef.GenerativeForest", forests, {"gef": "average", "gefp": "mixture"})
    expected = friedman.query("rate == 0").set_index(["repetition", "fold"])
    others = {name: run(name, forests, {"m": ""}, **settings)[0] for name, settings in METHODS.items()}
    others["gef"] = gef[gef["method"] == "gef"]
    for name, scores in others.items():
        complete = scores.query("rate == 0").set_index(["repetition", "fold"])
        pd.testing.assert_series_equal(complete["accuracy"], expected["accuracy"], check_exact=True, obj=name)
        pd.testing.assert_series_equal(complete["brier"], expected["brier"], rtol=1e-9, obj=name)
        incomplete = scores.query("rate == 0.3")["accuracy"].to_numpy()
        assert not np.array_equal(incomplete, friedman.query("rate == 0.3")["accuracy"].to_numpy()), name


def test_rows_and_keys(forests):
    scores, seconds = run("gef.GenerativeForest", forests, {"gef": "average", "gefp": "mixture"})
    assert scores.columns.tolist() == [*KEYS, "accuracy", "log_loss", "brier"]
    assert seconds.columns.tolist() == [*KEYS, "fit_seconds", "predict_seconds"]
    assert len(scores) == 2 * 2 * 3 * 2 and not scores.duplicated(KEYS).any()
    pd.testing.assert_frame_equal(scores[KEYS], seconds[KEYS])
    assert (seconds[["fit_seconds", "predict_seconds"]] > 0).all().all()
    assert scores["accuracy"].between(0, 1).all() and scores["brier"].between(0, 2).all()


def test_the_same_bytes_whatever_the_threads_and_the_pieces(forests, tmp_path):
    whole, _ = run("gef.GenerativeForest", forests, {"gef": "average"})
    pieces = [run("gef.GenerativeForest", forests, {"gef": "average"}, 2, [r])[0] for r in (1, 2)]
    for name, table in {"whole": whole, "first": pieces[0], "second": pieces[1]}.items():
        write_table(table, tmp_path / f"{name}.csv")
    write_table(read_tables([tmp_path / "second.csv", tmp_path / "first.csv"]), tmp_path / "pieces.csv")
    assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_forests_are_the_same_bytes_again(forests, tmp_path):
    grow(dataset(), PROTOCOL, [2], {"n_estimators": 10}, tmp_path, n_jobs=2)
    (found,) = {path.name for path in tmp_path.iterdir()} & {"repetition2_fold1.joblib"}
    scores = [run("mean.MeanImputation", folder, {"m": ""}, 1, [2])[0] for folder in (forests, tmp_path)]
    pd.testing.assert_frame_equal(*scores, check_exact=True)
    assert found


def test_scores_by_hand():
    proba = np.array([[0.7, 0.3], [0.4, 0.6], [1.0, 0.0]])
    accuracy, log_loss, brier = score_probabilities(proba, np.array([0, 0, 1]))
    assert accuracy == pytest.approx(1 / 3)
    assert log_loss == pytest.approx(-np.log([0.7, 0.4, 1e-15]).mean())
    assert brier == pytest.approx(np.mean([2 * 0.3**2, 2 * 0.6**2, 2.0]))


def test_rounding_does_not_decide_a_tie():
    tie = np.array([[0.5 - 1e-14, 0.5 + 1e-14]])
    assert score_probabilities(tie, np.array([0]))[0] == 1.0


class Fails(Method):
    """Fails at a place of one's choice."""

    def __init__(self, how):
        self.how, self.seen = how, 0

    def fit(self, fold):
        if self.how == "fit" and self.seen == 3:
            raise MemoryError("no memory for leaves")
        return self

    def predict_proba(self, X):
        self.seen += 1
        good = np.full((len(X), 3), 1 / 3)
        if self.seen < 5:
            return good
        return {"fit": good, "raise": None, "nan": good * np.nan, "shape": good[:, :2], "sum": good * 2}[self.how]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("fit", "repetition 1, fold 2, while fitting: MemoryError: no memory for leaves"),
        ("raise", "repetition 1, fold 2, rate 0.3: ValueError: its probabilities have shape"),
        ("nan", "repetition 1, fold 2, rate 0.3: ValueError: its answer is not a probability distribution"),
        ("shape", "repetition 1, fold 2, rate 0.3: ValueError: its probabilities have shape"),
        ("sum", "repetition 1, fold 2, rate 0.3: ValueError: its answer is not a probability distribution"),
    ],
)
def test_a_failure_names_its_place(forests, how, reason):
    with pytest.raises(JointsError, match=f"^dataset toy, method broken, {reason}"):
        score(dataset(), PROTOCOL, [1, 2], Fails(how), "broken", {"broken": ""}, [forests])


def test_missing_forests_and_unknown_answers(forests, tmp_path):
    with pytest.raises(JointsError, match=r"there is no repetition1_fold1.joblib in .*: grow the forests first"):
        run("mean.MeanImputation", tmp_path, {"mean": ""})
    with pytest.raises(JointsError, match="it has no answer 'mixtrue', only 'average', 'mixture'"):
        run("gef.GenerativeForest", forests, {"gef": "mixtrue"})


@pytest.mark.parametrize(
    ("cls", "parameters", "reason"),
    [
        ("joints.study.methods.gone.Method", {}, "No module named 'joints.study.methods.gone'"),
        ("joints.study.methods.mean.Gone", {}, "has no attribute 'Gone'"),
        ("joints.study.methods.knn.KNNImputation", {"n_neighbours": 7}, "n_neighbours"),
        ("joints.study.methods.knn.KNNImputation", {"n_neighbors": 0}, "n_neighbors"),
        ("joints.study.methods.gef.GenerativeForest", {"leaves": "gaussian"}, "leaves is 'gaussian'"),
        ("joints.study.methods.surrogate.SurrogateSplits", {"surrogates": "none"}, "surrogates is 'none'"),
    ],
)
def test_a_method_that_cannot_be_made(cls, parameters, reason):
    with pytest.raises(JointsError, match=f"the method {cls} cannot be made with parameters .*{reason}"):
        make(cls, parameters)
