"""Every method of config/methods.yaml keeps the promises of joints.interface.Method, new ones included."""

from pathlib import Path

import numpy as np
import pytest
from mixed import hide, mixed_table

from joints import ForestClassifier
from joints.interface import Method, TrainingFold
from joints.runtime.config import read_yaml, validate
from joints.study.entries import MethodEntry, check_methods, make, read_entries

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = read_yaml(ROOT / "config/methods.yaml")
ENTRIES = read_entries(MethodEntry, CATALOGUE)
MODELS = [entry.name for entry in ENTRIES.values() if entry.cls]
FAST = {"missforest": {"n_estimators": 5, "max_iter": 2}, "missforest_refit": {"n_estimators": 5, "max_iter": 2}}
for name, entry in ENTRIES.items():  # two small candidates instead of four
    if "search" in entry.parameters:
        few = {"max_iter": 8} if name.startswith("hgb") else {"n_estimators": 8}
        FAST[name] = {**few, "search": [{**c, **few} for c in entry.parameters["search"][:2]]}


def new(name):
    """A method with its parameters from the catalogue, reduced where it would be slow."""
    entry = ENTRIES[name]
    if entry.absent:
        pytest.skip(f"{name} requires {', '.join(entry.absent)}")
    return make(entry.cls, {**entry.parameters, **FAST.get(name, {})})


def training_fold(X, y, n_categories, seed=3, n_jobs=1):
    domains = {j: int(k) for j, k in enumerate(n_categories) if k}
    forest = ForestClassifier(8, categorical_features=domains, random_state=1).fit(X, y)
    return TrainingFold(X, y, n_categories, forest, seed, n_jobs)


@pytest.fixture
def table():
    return mixed_table(np.random.default_rng(0))


def check(method, name, X, n_classes):
    """All answers of a model are probabilities, and each method that shares it finds its own among them."""
    found = method.answers(X)
    assert {entry.answer for entry in ENTRIES.values() if entry.model == name} <= set(found)
    for proba in found.values():
        assert proba.shape == (len(X), n_classes)
        assert np.isfinite(proba).all() and (proba >= 0).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
    return {answer: proba.copy() for answer, proba in found.items()}


def test_the_catalogue_fits_its_schema_and_every_method_has_a_model():
    validate(CATALOGUE, read_yaml(ROOT / "workflow/schemas/methods.schema.yaml"), "config/methods.yaml")
    check_methods(ENTRIES, "config/methods.yaml")


def test_the_ten_methods_of_the_paper_have_the_columns_that_its_latex_reads():
    published = [entry.columns for entry in ENTRIES.values() if entry.paper]
    assert " ".join(["Missing", *(name for pair in published for name in pair), "lower"]) == (
        "Missing Surr Sci Friedman Fci Mean Mci KNN Kci MissForest MFci GeF GeFci GeF(LSPN) GeF(LSPN)ci GeFp GeFpci "
        "GeFp(LSPN) GeFp(LSPN)ci LSPN LSPNci lower"
    )


@pytest.mark.parametrize("name", MODELS)
class TestEveryMethod:
    def test_is_a_method(self, name):
        assert isinstance(new(name), Method)

    def test_its_probabilities_are_one_of_its_answers(self, name, table):
        X, y, n_categories = table
        test = hide(np.random.default_rng(1), X[:20], 0.5)
        method = new(name).fit(training_fold(X, y, n_categories))
        np.testing.assert_array_equal(method.predict_proba(test), method.answers(test)[ENTRIES[name].answer])

    def test_answers_rows_with_and_without_missing_values(self, name, table):
        X, y, n_categories = table
        rng = np.random.default_rng(1)
        method = new(name)
        assert method.fit(training_fold(X, y, n_categories)) is method
        for rate in (0.0, 0.5, 1.0):
            check(method, name, hide(rng, X[:20], rate), 3)
        check(method, name, X[:1], 3)

    def test_is_the_same_with_the_same_seed_whatever_the_threads(self, name, table):
        X, y, n_categories = table
        test = hide(np.random.default_rng(1), X[:30], 0.4)
        first = check(new(name).fit(training_fold(X, y, n_categories)), name, test, 3)
        for n_jobs in (1, 2):
            again = check(new(name).fit(training_fold(X, y, n_categories, n_jobs=n_jobs)), name, test, 3)
            for answer in first:
                np.testing.assert_array_equal(first[answer], again[answer])

    def test_leaves_its_input_and_the_shared_forest_alone(self, name, table):
        X, y, n_categories = table
        fold = training_fold(X, y, n_categories)
        test = hide(np.random.default_rng(1), X[:30], 0.4)
        before, kept = fold.forest.predict_proba(test), (X.copy(), test.copy())
        new(name).fit(fold).answers(test)
        np.testing.assert_array_equal(X, kept[0])
        np.testing.assert_array_equal(test, kept[1])
        np.testing.assert_array_equal(fold.forest.predict_proba(test), before)

    def test_learns_from_rows_with_missing_values(self, name, table):
        X, y, n_categories = table
        rng = np.random.default_rng(2)
        method = new(name).fit(training_fold(hide(rng, X, 0.2), y, n_categories))
        check(method, name, hide(rng, X[:20], 0.5), 3)

    def test_one_class_in_the_training_fold(self, name, table):
        X, _, n_categories = table
        method = new(name).fit(training_fold(X, np.zeros(len(X), dtype=np.int64), n_categories))
        for proba in check(method, name, hide(np.random.default_rng(1), X[:10], 0.5), 1).values():
            np.testing.assert_allclose(proba, 1)

    def test_a_class_that_the_training_fold_lacks(self, name, table):
        X, y, n_categories = table
        rows = y != 1
        method = new(name).fit(training_fold(X[rows], y[rows], n_categories))
        check(method, name, X[:10], 2)

    def test_categories_that_the_training_fold_lacks(self, name, table):
        X, y, n_categories = table
        method = new(name).fit(training_fold(X, y, n_categories + np.array([0, 0, 2, 0])))
        test = X[:10].copy()
        test[:, 2] = 4
        check(method, name, test, 3)

    def test_constant_and_empty_features(self, name, table):
        X, y, n_categories = table
        X = np.column_stack([X, np.full(len(X), 2.0), np.full(len(X), np.nan)])
        method = new(name).fit(training_fold(X, y, np.append(n_categories, [0, 0])))
        check(method, name, hide(np.random.default_rng(1), X[:10], 0.3), 3)

    def test_a_single_feature(self, name, table):
        X, y, n_categories = table
        method = new(name).fit(training_fold(X[:, :1], y, n_categories[:1]))
        check(method, name, np.array([[0.0], [np.nan]]), 3)
