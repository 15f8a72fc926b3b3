"""The scores of a variant are those that the study would have with its settings."""

import numpy as np
import pandas as pd
import pytest
from mixed import mixed_table

from joints.data import Dataset
from joints.errors import JointsError
from joints.study.ablation.scoring import score_variant
from joints.study.evaluate import score
from joints.study.forests import grow
from joints.study.methods import make
from joints.study.protocol import Protocol

PROTOCOL = Protocol(seed=7, folds=2, rates=(0.3, 0.9))
GEF = {
    "cls": "joints.study.methods.gef.GenerativeForest",
    "parameters": {"min_sd": 0.1},
    "answers": {"gef": "average", "gefp": "mixture"},
}
LEARNSPN = {"cls": "joints.study.methods.learnspn.LearnSPN", "parameters": {}, "answers": {"learnspn": ""}}


@pytest.fixture(scope="module")
def data():
    X, y, n_categories = mixed_table(np.random.default_rng(0), n=150)
    names = [f"x{j}" for j in range(4)]
    return Dataset("toy", "Toy", X, n_categories, y, names, [[], [], list("abc"), list("de")], ["r", "s", "t"])


def test_the_scores_of_a_variant_by_the_studys_own_two_steps(data, tmp_path):
    forest = {"n_estimators": 10, "purity": 0.8}
    scores = score_variant(data, PROTOCOL, [1, 2], forest, {"gef": GEF, "learnspn": LEARNSPN}, n_jobs=2)
    # the study has more rates, and makes one repetition at a time
    study = Protocol(seed=7, folds=2, rates=(0, 0.1, 0.3, 0.9), repetitions=2)
    tables = []
    for name, model in {"gef": GEF, "learnspn": LEARNSPN}.items():
        for repetition in (1, 2):
            folder = tmp_path / str(repetition)
            grow(data, study, [repetition], forest, folder)
            made = make(model["cls"], model["parameters"])
            tables.append(score(data, study, [repetition], made, name, model["answers"], [folder])[0])
    expected = pd.concat(tables).query("rate >= 0.3").reset_index(drop=True)
    pd.testing.assert_frame_equal(scores, expected, check_exact=True)
    assert len(scores) == 2 * 2 * 2 * 3


def test_nothing_is_left_behind(data, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    score_variant(data, PROTOCOL, [1], {"n_estimators": 2}, {"learnspn": LEARNSPN})
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_parameter_is_found_before_a_forest_is_grown(data):
    wrong = {**GEF, "parameters": {"min_deviation": 1}}
    with pytest.raises(JointsError, match=r"GenerativeForest cannot be made with parameters {'min_deviation': 1}"):
        score_variant(data, PROTOCOL, [1], {"n_estimators": "would fail"}, {"gef": wrong})
