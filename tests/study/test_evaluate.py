"""Scores of a method: Theorem 1, the content of a row, and messages about failures."""

import joblib
import numpy as np
import pandas as pd
import pytest
from mixed import mixed_table

from joints.data import Dataset
from joints.errors import JointsError
from joints.interface import ONLY_ANSWER, Method
from joints.runtime.files import csv_text, write_csv
from joints.study import metrics
from joints.study.entries import MethodEntry, make
from joints.study.evaluate import score
from joints.study.forests import (
    file_name,
    from_folders,
    grow_into,
    grown_each_time,
    grown_once,
    read_forest,
    write_forest,
)
from joints.study.mechanisms.blocks import MissingInBlocks
from joints.study.mechanisms.mcar import CompletelyAtRandom
from joints.study.protocol import Protocol, folds_of
from joints.study.scores import CONFIDENCE, KEYS, OF_MODEL, read_scores

PROTOCOL = Protocol(seed=7, folds=2, rates=(0, 0.3, 0.9), repetitions=2)


def dataset(missing=0.0):
    X, y, n_categories = mixed_table(np.random.default_rng(0), n=150, missing=missing)
    names = [f"x{j}" for j in range(4)]
    return Dataset("toy", "Toy", X, n_categories, y, names, [[], [], list("abc"), list("de")], ["r", "s", "t"])


@pytest.fixture(scope="module")
def forests(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forests")
    grow_into(folder, dataset(), PROTOCOL, [1, 2], {"n_estimators": 10})
    return folder


MECHANISMS = {"mcar": CompletelyAtRandom()}
METRICS = {"accuracy": metrics.accuracy, "log_loss": metrics.log_loss, "brier": metrics.brier}


def run(cls, folder, n_jobs=1, repetitions=(1, 2), **parameters):
    model = make(f"joints.study.methods.{cls}", parameters)
    study = ("it", from_folders([folder]), MECHANISMS, METRICS, n_jobs)
    return score(dataset(), PROTOCOL, repetitions, model, *study)[:2]


def answer(scores, name):
    return scores[scores["answer"] == name]


METHODS = {
    "surrogate.SurrogateSplits": {},
    "mean.MeanImputation": {},
    "knn.KNNImputation": {},
    "missforest.MissForestImputation": {"n_estimators": 5},
}


def test_complete_rows_get_one_answer_from_the_forest_and_everything_built_on_it(forests):
    """Theorem 1: GeF is the forest on complete rows; so are surrogate splits, Friedman's method and all imputations."""
    gef, _ = run("gef.GenerativeForest", forests)
    friedman = answer(gef, "friedman")
    expected = friedman.query("rate == 0").set_index(["repetition", "fold"])
    others = {name: run(name, forests, **settings)[0] for name, settings in METHODS.items()}
    others["gef"] = answer(gef, "average")
    for name, scores in others.items():
        complete = scores.query("rate == 0").set_index(["repetition", "fold"])
        pd.testing.assert_series_equal(complete["accuracy"], expected["accuracy"], check_exact=True, obj=name)
        pd.testing.assert_series_equal(complete["brier"], expected["brier"], rtol=1e-9, obj=name)
        incomplete = scores.query("rate == 0.3")["accuracy"].to_numpy()
        assert not np.array_equal(incomplete, friedman.query("rate == 0.3")["accuracy"].to_numpy()), name


def test_rows_and_keys(forests):
    scores, seconds = run("gef.GenerativeForest", forests)
    assert scores.columns.tolist() == [*OF_MODEL, "answer", *METRICS]
    assert seconds.columns.tolist() == [*OF_MODEL, "fit_seconds", "predict_seconds"]
    assert set(scores["answer"]) == {"average", "mixture", "friedman"} and set(scores["mechanism"]) == {"mcar"}
    assert len(scores) == 3 * 2 * 2 * 3 and not scores.duplicated([*OF_MODEL, "answer"]).any()
    pd.testing.assert_frame_equal(answer(scores, "average")[OF_MODEL].reset_index(drop=True), seconds[OF_MODEL])
    assert (seconds[["fit_seconds", "predict_seconds"]] > 0).all().all()
    assert scores["accuracy"].between(0, 1).all() and scores["brier"].between(0, 2).all()


def test_answers_become_methods(forests, tmp_path):
    scores, _ = run("gef.GenerativeForest", forests)
    path = tmp_path / "toy" / "it" / "mcar" / "1-2.csv"
    write_csv(path, scores)
    gef, plus = MethodEntry("gef", "GeF", of="it", answer="average"), MethodEntry("p", "+", of="it", answer="mixture")
    table = read_scores([path], {"gef": gef, "p": plus}, {"toy": PROTOCOL})
    assert table.columns.tolist() == [*KEYS, *METRICS] and set(table["method"]) == {"gef", "p"}
    expected = answer(scores, "mixture").sort_values(OF_MODEL)["brier"].to_numpy()
    np.testing.assert_allclose(table[table["method"] == "p"]["brier"], expected, rtol=1e-15)
    wrong = MethodEntry("x", "X", of="it", answer="mixtrue")
    with pytest.raises(JointsError, match="'x' takes the answer 'mixtrue' of 'it', which has 'average', 'mixture'"):
        read_scores([path], {"x": wrong}, {"toy": PROTOCOL})


CUTS = {
    "half": lambda text: text[: len(text) // 2],
    "half of the lines": lambda text: "".join(text.splitlines(keepends=True)[:7]),
    "one line": lambda text: "".join(text.splitlines(keepends=True)[:-1]),
    "no line": lambda text: text.partition("\n")[0] + "\n",
    "nothing": lambda text: "",
    "another repetition": lambda text: text.replace(",2,1,", ",3,1,"),
    "a line twice": lambda text: text + text.splitlines(keepends=True)[-1],
    "another table": lambda text: "a,b\n1,2\n",
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_file_of_scores_that_is_not_complete(forests, tmp_path, cut):
    scores, _ = run("mean.MeanImputation", forests)
    path = tmp_path / "toy" / "it" / "mcar" / "1-2.csv"
    text = csv_text(scores)
    changed = CUTS[cut](text)
    assert changed != text
    path.parent.mkdir(parents=True)
    path.write_text(changed)
    method = {"it": MethodEntry("it", "It", cls="x.Y")}
    with pytest.raises(JointsError, match=r"toy/it/mcar/1-2\.csv is damaged .*: delete it and run the workflow again"):
        read_scores([path], method, {"toy": PROTOCOL})


def test_the_same_bytes_whatever_the_threads_and_the_pieces(forests):
    whole, _ = run("gef.GenerativeForest", forests)
    pieces = [run("gef.GenerativeForest", forests, 2, [r])[0] for r in (1, 2)]
    assert csv_text(pd.concat(pieces)) == csv_text(whole)


def test_forests_are_the_same_in_files_and_in_memory_whatever_the_threads(forests, tmp_path):
    data, parameters = dataset(), {"n_estimators": 10}
    grow_into(tmp_path, data, PROTOCOL, [2], parameters, n_jobs=2)
    fold = next(folds_of(data, PROTOCOL, [2]))
    assert sorted(path.name for path in tmp_path.iterdir()) == [file_name(fold), "repetition2_fold2.npz"]
    in_memory = grown_once(data, PROTOCOL, parameters)
    assert in_memory(fold) is in_memory(fold)
    found = [in_memory(fold), *(from_folders([folder])(fold) for folder in (forests, tmp_path))]
    trees = [joblib.hash(forest.forest_) for forest in found]
    assert len(set(trees)) == 1


def test_a_file_of_a_forest_holds_all_of_it_and_cannot_run_code(forests, tmp_path):
    data = dataset()
    fold = next(folds_of(data, PROTOCOL, [1]))
    grown, read = grown_once(data, PROTOCOL, {"n_estimators": 10})(fold), from_folders([forests])(fold)
    assert vars(read).keys() == vars(grown).keys() - {"_random"}  # a forest of the study gets no more trees
    assert {**read.get_params(), "n_jobs": 1} == grown.get_params()
    assert joblib.hash([read.training_data_, read.classes_]) == joblib.hash([grown.training_data_, grown.classes_])
    again = tmp_path / "again.npz"
    write_forest(again, read)
    path = next(path for path in forests.iterdir() if path.name == file_name(fold))
    assert again.read_bytes() == path.read_bytes()
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays)


@pytest.mark.parametrize("kind", ["truncated", "empty", "pickle", "another archive", "broken"])
def test_a_file_that_is_not_a_forest_is_named(forests, tmp_path, kind):
    whole = sorted(forests.iterdir())[0].read_bytes()
    path = tmp_path / "repetition1_fold1.npz"
    if kind == "another archive":
        np.savez(path, parameters=np.array("{}"), X=np.zeros(2))
    elif kind == "pickle":
        joblib.dump(print, path)
    else:
        middle = len(whole) // 2
        broken = whole[:middle] + bytes(99) + whole[middle + 99 :]
        path.write_bytes({"truncated": whole[:middle], "empty": b"", "broken": broken}[kind])
    with pytest.raises(JointsError, match=r"repetition1_fold1.npz is not a readable forest .*: delete it and run"):
        read_forest(path)


class Fails(Method):
    """Fails at a chosen place."""

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
        ("raise", "repetition 1, fold 2, mcar, rate 0.3: ValueError: its probabilities have shape"),
        ("nan", "repetition 1, fold 2, mcar, rate 0.3: ValueError: its answer is not a probability distribution"),
        ("shape", "repetition 1, fold 2, mcar, rate 0.3: ValueError: its probabilities have shape"),
        ("sum", "repetition 1, fold 2, mcar, rate 0.3: ValueError: its answer is not a probability distribution"),
    ],
)
def test_a_failure_names_its_place(forests, how, reason):
    with pytest.raises(JointsError, match=f"^dataset toy, method broken, {reason}"):
        study = ("broken", from_folders([forests]), MECHANISMS, METRICS)
        score(dataset(), PROTOCOL, [1, 2], Fails(how), *study)


def test_missing_forests(tmp_path):
    with pytest.raises(JointsError, match=r"there is no repetition1_fold1.npz in .*: grow the forests first"):
        run("mean.MeanImputation", tmp_path)


def test_a_model_with_one_answer(forests):
    scores, _ = run("mean.MeanImputation", forests, repetitions=[1])
    assert set(scores["answer"]) == {ONLY_ANSWER}


@pytest.mark.parametrize(
    ("cls", "parameters", "reason"),
    [
        ("joints.study.methods.gone.Method", {}, "No module named 'joints.study.methods.gone'"),
        ("joints.study.methods.mean.Gone", {}, "has no attribute 'Gone'"),
        ("joints.study.methods.knn.KNNImputation", {"n_neighbours": 7}, "n_neighbours"),
        ("joints.study.methods.knn.KNNImputation", {"n_neighbors": 0}, "n_neighbors"),
        (
            "joints.study.methods.gef.GenerativeForest",
            {"leaves": "gaussian"},
            "The 'leaves' parameter .* Got 'gaussian'",
        ),
        ("joints.study.methods.surrogate.SurrogateSplits", {"surrogates": "none"}, "surrogates is 'none'"),
    ],
)
def test_a_method_that_cannot_be_made(cls, parameters, reason):
    with pytest.raises(JointsError, match=f"{cls} cannot be .*{reason}"):
        make(cls, parameters)


RANGES = {
    "tree_start": lambda a: a * 2,
    "leaf_start": lambda a: a + 1,
    "feature": lambda a: np.where(a >= 0, 99, a).astype(a.dtype),
    "threshold": lambda a: np.full_like(a, np.nan),
    "subset": lambda a: a + 10**6,
    "right": lambda a: a + np.int32(10**6),
    "leaf": lambda a: a + np.int32(1),
    "counts": lambda a: a[:, :1],
    "seeds": lambda a: a[1:],
}


@pytest.mark.parametrize("name", RANGES)
def test_numbers_of_a_forest_that_point_nowhere(forests, tmp_path, name):
    """A kernel would read beyond its arrays."""
    path = tmp_path / "forest.npz"
    with np.load(next(forests.iterdir())) as arrays:
        np.savez(path, **{**arrays, name: RANGES[name](arrays[name])})
    with pytest.raises(JointsError, match=r"forest\.npz is not a readable forest .*: delete it and run"):
        read_forest(path)


class Recorder(Method):
    """Keeps what it was fitted on."""

    needs_forest = False

    def __init__(self):
        self.folds = []

    def fit(self, fold):
        self.folds.append(fold)
        return self

    def predict_proba(self, X):
        self.seen = X
        return np.full((len(X), 3), 1 / 3)


def test_values_missing_in_training_too():
    data, recorder = dataset(), Recorder()

    def no_forest(fold):
        raise AssertionError("a method without a forest waits for none")

    scores, seconds = score(data, PROTOCOL, [1], recorder, "it", no_forest, MECHANISMS, METRICS, training=True)[:2]
    assert len(recorder.folds) == 2 * len(PROTOCOL.rates) and len(scores) == len(seconds) == len(recorder.folds)
    for i, fold in enumerate(recorder.folds):
        rate = PROTOCOL.rates[i % 3]
        assert fold.forest is None and np.isnan(fold.X).sum() == int(rate * fold.X.size)
        np.testing.assert_allclose(np.nanmean(fold.X[:, :2], axis=0), 0, atol=0.02)  # by the values that are left
        np.testing.assert_allclose(np.nanstd(fold.X[:, :2], axis=0), 1, atol=0.02)
    nested = [np.isnan(fold.X) for fold in recorder.folds[:3]]
    assert not (nested[1] & ~nested[2]).any()


def test_the_forest_of_incomplete_training_rows_is_grown_from_them():
    data, grown = dataset(), []
    own = grown_each_time(data, PROTOCOL, {"n_estimators": 3})

    def forest_of(fold):
        grown.append(np.isnan(fold.X).mean())
        return own(fold)

    model = make("joints.study.methods.gef.GenerativeForest", {})
    scores, seconds = score(data, PROTOCOL, [1], model, "gef", forest_of, MECHANISMS, METRICS, training=True)[:2]
    np.testing.assert_allclose(grown, 2 * list(PROTOCOL.rates), atol=0.01)
    assert (seconds["fit_seconds"] > 0).all() and set(scores["rate"]) == set(PROTOCOL.rates)


def test_one_fit_answers_for_all_mechanisms_of_a_group(forests):
    recorder = Recorder()
    both = {**MECHANISMS, "blocks": MissingInBlocks()}
    study = (from_folders([forests]), both, METRICS)
    scores, _, _ = score(dataset(), PROTOCOL, [1], recorder, "it", *study)
    assert len(recorder.folds) == 2 and set(scores["mechanism"]) == {"mcar", "blocks"}
    alone, _, _ = score(dataset(), PROTOCOL, [1], Recorder(), "it", from_folders([forests]), MECHANISMS, METRICS)
    assert csv_text(scores[scores["mechanism"] == "mcar"]) == csv_text(alone)


def test_confidences_are_those_of_the_calibration_error(forests):
    """Over a single fold the bins give the metric itself."""
    model = make("joints.study.methods.gef.GenerativeForest", {})
    study = (from_folders([forests]), MECHANISMS, {"calibration": metrics.calibration_error, **METRICS})
    scores, _, bins = score(dataset(), PROTOCOL, [1], model, "it", *study)
    assert bins.columns.tolist() == CONFIDENCE and not bins.duplicated(CONFIDENCE[:-3]).any()
    keys = ["answer", "rate"]
    totals = bins.groupby(keys)[["rows", "correct"]].sum()
    assert (totals["rows"] == 150).all()
    np.testing.assert_allclose(totals["correct"] / totals["rows"], scores.groupby(keys)["accuracy"].mean(), atol=1e-12)
    gaps = (bins["correct"] - bins["confidence"]).abs().groupby([bins[key] for key in keys]).sum() / 150
    assert (gaps <= scores.groupby(keys)["calibration"].mean() + 1e-12).all()  # folds average out
