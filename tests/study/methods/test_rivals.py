"""The rivals: what they choose on the training fold, what masks teach them, and how they take missing values."""

import sys
import types

import numpy as np
import pytest
from mixed import hide, mixed_table

from joints import ForestClassifier, GenerativeForestClassifier
from joints.interface import TrainingFold
from joints.study.entries import MethodEntry
from joints.study.methods.indicators import MeanWithIndicators
from joints.study.methods.iterative import IterativeImputation
from joints.study.methods.knn_tuned import TunedKNNImputation
from joints.study.methods.mia import MissingIncorporated
from joints.study.methods.multiple_imputation import MultipleImputation
from joints.study.methods.random_forest import RandomForest
from joints.study.methods.tabpfn import TabPFN
from joints.study.methods.tuned import masked_copies, one_hot
from joints.study.metrics import accuracy, log_loss

MASKS = [0, 0.3, 0.6]


def fold_of(X, y, n_categories, trees=20):
    domains = {j: int(k) for j, k in enumerate(n_categories) if k}
    forest = ForestClassifier(trees, categorical_features=domains, random_state=1).fit(X, y)
    return TrainingFold(X, y, n_categories, forest, seed=3)


@pytest.fixture(scope="module")
def table():
    return mixed_table(np.random.default_rng(0), n=400)


def test_the_best_candidate_is_chosen_and_trained_on_the_whole_fold(table):
    X, y, n_categories = table
    silly, good = {"max_depth": 1, "max_features": 1}, {"max_depth": 6}
    method = RandomForest(n_estimators=20, search=[silly, good]).fit(TrainingFold(X, y, n_categories, None, 3))
    assert method.chosen_ == good
    assert method.model_[1].get_params()["max_depth"] == 6 and method.model_[1].n_estimators == 20
    assert method.model_[1].estimators_[0].tree_.weighted_n_node_samples[0] == len(X)


def test_masks_repeat_the_rows(table):
    X = table[0]
    copies = masked_copies(X, MASKS, np.random.default_rng(0))
    assert copies.shape == (3 * len(X), X.shape[1])
    for rate, rows in zip(MASKS, np.split(copies, 3), strict=True):
        assert abs(np.isnan(rows).mean() - rate) < 0.05
        np.testing.assert_array_equal(rows[~np.isnan(rows)], X[~np.isnan(rows)])
    assert masked_copies(X, (), np.random.default_rng(0)) is X


@pytest.mark.parametrize("cls", [RandomForest, MeanWithIndicators])
def test_masks_in_training_teach_what_to_do_about_missing_values(cls):
    X, y, n_categories = mixed_table(np.random.default_rng(5), n=600, continuous=4, categories=(3,))
    fold = TrainingFold(X[:400], y[:400], n_categories, None, 3)
    test, truth = hide(np.random.default_rng(1), X[400:], 0.5), y[400:]
    plain, masks = (
        cls(n_estimators=40, masks=m, min_samples_leaf=5).fit(fold).predict_proba(test) for m in ([], MASKS)
    )
    assert log_loss(truth, masks) < log_loss(truth, plain)


def test_mia_learns_from_what_is_missing():
    """The class decides which values are missing, and their values say nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300).astype(float)])
    for j in (0, 1):
        rows = X.copy()
        rows[y == 1, j] = np.nan
        method = MissingIncorporated(n_estimators=20).fit(TrainingFold(rows, y, np.array([0, 3]), None, 3))
        assert accuracy(y, method.predict_proba(rows)) == 1


def test_categories_as_columns():
    X = np.array([[0.5, 2, 1], [np.nan, np.nan, np.nan]])
    found = one_hot(X, np.array([0, 3, 2]))
    np.testing.assert_array_equal(found[0], [0.5, 0, 0, 1, 0, 1])
    assert np.isnan(found[1]).all() and found.shape == (2, 6)
    np.testing.assert_array_equal(one_hot(X, np.array([0, 3, 2]), first=1)[0], [0.5, 0, 1, 1])


def test_iterative_imputation_finds_a_linear_relation_and_the_likely_category():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 300)
    X = np.column_stack([np.eye(3)[kind][:, 1] * 4 + rng.normal(0, 0.1, 300), kind.astype(float), rng.normal(size=300)])
    X[:, 2] = 2 * X[:, 0] + rng.normal(0, 0.01, 300)
    n_categories = np.array([0, 3, 0])
    method = IterativeImputation(max_iter=5).fit(fold_of(X, (kind == 1).astype(np.int64), n_categories))
    rows = X[:50].copy()
    rows[:, 0] = np.nan
    filled = method._decoded(rows, method.imputer_.transform(one_hot(rows, n_categories, first=1)))
    np.testing.assert_allclose(filled[:, 0], X[:50, 0], atol=0.1)
    rows = X[:50].copy()
    rows[:, 1] = np.nan
    filled = method._decoded(rows, method.imputer_.transform(one_hot(rows, n_categories, first=1)))
    assert (filled[kind[:50] == 1, 1] == 1).all() and (filled[kind[:50] != 1, 1] != 1).all()


def test_the_number_of_neighbours_is_chosen(table):
    X, y, n_categories = table
    fold = fold_of(X, y, n_categories)
    losses = {}
    for k in (1, 25):
        losses[k] = TunedKNNImputation([k], [0.3, 0.6]).fit(fold)
        assert losses[k].chosen_ == losses[k].imputer_.n_neighbors == k
    chosen = TunedKNNImputation([1, 25], [0.3, 0.6]).fit(fold).chosen_
    assert chosen == 25  # noisy features: many neighbours


def test_multiple_imputation_leaves_complete_rows_to_the_forest_and_comes_close_to_gef_plus(table):
    X, y, n_categories = table
    fold = fold_of(X[:300], y[:300], n_categories)
    method = MultipleImputation(draws=5).fit(fold)
    np.testing.assert_array_equal(method.predict_proba(X[300:]), fold.forest.predict_proba(X[300:]))
    test = hide(np.random.default_rng(1), X[300:], 0.5)
    many = MultipleImputation(draws=50).fit(fold).predict_proba(test)
    plus = GenerativeForestClassifier.from_forest(fold.forest, combine="mixture").predict_proba(test)
    assert np.abs(many - plus).mean() < 0.1
    assert accuracy(y[300:], many) > accuracy(y[300:], np.tile(np.bincount(y) / len(y), (100, 1)))


def test_tabpfn_gets_its_weights_from_the_environment(table, monkeypatch, tmp_path):
    asked = {}

    class Classifier:
        def __init__(self, **settings):
            asked.update(settings)

        def fit(self, X, y):
            self.n_classes = len(np.unique(y))
            return self

        def predict_proba(self, X):
            return np.full((len(X), self.n_classes), 1 / self.n_classes, dtype=np.float32)

    entry = MethodEntry("tabpfn", "TabPFN", requires=["tabpfn", "TABPFN_WEIGHTS"])
    monkeypatch.delenv("TABPFN_WEIGHTS", raising=False)
    assert entry.absent[-1] == "TABPFN_WEIGHTS"
    module = types.ModuleType("tabpfn")
    module.TabPFNClassifier = Classifier
    module.__spec__ = types.SimpleNamespace(name="tabpfn")
    monkeypatch.setitem(sys.modules, "tabpfn", module)
    (tmp_path / "weights").touch()
    monkeypatch.setenv("TABPFN_WEIGHTS", str(tmp_path / "weights"))
    assert entry.absent == []
    X, y, n_categories = table
    found = TabPFN(n_estimators=4).fit(TrainingFold(X, y, n_categories, None, 3)).predict_proba(X)
    np.testing.assert_allclose(found, 1 / 3)
    assert asked["model_path"] == str(tmp_path / "weights") and asked["categorical_features_indices"] == [2, 3]
    assert asked["n_estimators"] == 4 and asked["random_state"] == 3


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: RandomForest(search=[]), "search is empty"),
        (lambda: RandomForest(masks=[0.5, 1.0]), "masks are"),
        (lambda: MultipleImputation(draws=0), "draws is 0"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_computed(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()
