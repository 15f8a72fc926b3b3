"""The scores of a variant are those that the study would have with its settings."""

import numpy as np
import pandas as pd
import pytest
from mixed import mixed_table

from joints.data import Dataset
from joints.errors import JointsError
from joints.study import forests
from joints.study.ablation.scoring import forests_of_variants, score_variant
from joints.study.entries import MethodEntry, make
from joints.study.evaluate import score
from joints.study.forests import from_folders, grow_into
from joints.study.mechanisms.mcar import CompletelyAtRandom
from joints.study.metrics import accuracy, brier
from joints.study.protocol import Protocol

PROTOCOL = Protocol(seed=7, folds=2, rates=(0.3, 0.9))
MODELS = {
    "gef": MethodEntry("gef", "GeF", "joints.study.methods.gef.GenerativeForest", {"min_sd": 0.1}),
    "learnspn": MethodEntry("learnspn", "LearnSPN", "joints.study.methods.learnspn.LearnSPN"),
}
MECHANISMS = {"mcar": CompletelyAtRandom()}
METRICS = {"accuracy": accuracy, "brier": brier}


@pytest.fixture(scope="module")
def data():
    X, y, n_categories = mixed_table(np.random.default_rng(0), n=150)
    names = [f"x{j}" for j in range(4)]
    return Dataset("toy", "Toy", X, n_categories, y, names, [[], [], list("abc"), list("de")], ["r", "s", "t"])


def test_the_scores_of_a_variant_by_the_studys_own_two_steps(data, tmp_path):
    forest = {"n_estimators": 10, "purity": 0.8}
    own = forests_of_variants(data, PROTOCOL, n_jobs=2)(forest)
    scores = score_variant(data, PROTOCOL, [1, 2], own, MODELS, MECHANISMS, METRICS, n_jobs=2)
    # the study has more rates, and makes one repetition at a time
    study = Protocol(seed=7, folds=2, rates=(0, 0.1, 0.3, 0.9), repetitions=2)
    tables = []
    for name, entry in MODELS.items():
        for repetition in (1, 2):
            folder = tmp_path / str(repetition)
            grow_into(folder, data, study, [repetition], forest)
            model = make(entry.cls, entry.parameters)
            forest_of = from_folders([folder])
            tables.append(score(data, study, [repetition], model, name, forest_of, MECHANISMS, METRICS)[0])
    expected = pd.concat(tables).query("rate >= 0.3").reset_index(drop=True)
    pd.testing.assert_frame_equal(scores, expected, check_exact=True)
    answers = scores.groupby("model")["answer"].unique().map(list).to_dict()
    assert answers == {"gef": ["average", "mixture", "friedman"], "learnspn": ["probabilities"]}
    assert len(scores) == 2 * 2 * 2 * 4  # repetitions, folds, rates and answers


def test_models_and_variants_with_the_same_forests_share_them(data, monkeypatch):
    grown = []

    def grow(data, protocol, fold, parameters, n_jobs):
        grown.append((fold.repetition, fold.fold, dict(parameters)))
        return usual(data, protocol, fold, parameters, n_jobs)

    usual = forests.grow
    monkeypatch.setattr(forests, "grow", grow)
    own = forests_of_variants(data, PROTOCOL)
    for _ in range(2):
        scores = score_variant(data, PROTOCOL, [1, 3], own({"n_estimators": 2}), MODELS, MECHANISMS, METRICS)
    assert set(scores["model"]) == set(MODELS)
    assert grown == [(repetition, fold, {"n_estimators": 2}) for repetition in (1, 3) for fold in (1, 2)]


def test_a_wrong_parameter_is_found_before_a_forest_is_grown(data):
    wrong = MODELS["gef"]._replace(parameters={"min_deviation": 1})
    own = forests_of_variants(data, PROTOCOL)({"n_estimators": "would fail"})
    with pytest.raises(JointsError, match=r"GenerativeForest cannot be made with the parameters {'min_deviation': 1}"):
        score_variant(data, PROTOCOL, [1], own, {"gef": wrong}, MECHANISMS, METRICS)
