"""missingpy as oracle of the rounds, and as the algorithm that learns from the test fold."""

import subprocess
import sys

import numpy as np
import pytest

from joints.features import fit_table
from joints.impute import MissForestImputer, MissForestRefitImputer
from joints.patches import missingpy as patch
from joints.patches import versions

try:
    missingpy = patch.load()
except ModuleNotFoundError:
    pytest.skip("needs the extra joints[missingpy]", allow_module_level=True)

CATEGORICAL = [1, 4]


def table_of(n_rows, seed, missing):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 5))
    x[:, 1] = np.digitize(x[:, 0] + 0.2 * x[:, 1], [-0.5, 0.5])
    x[:, 2] = x[:, 0] ** 2 + 0.2 * x[:, 2]
    x[:, 4] = x[:, 2] > 0.5
    if missing:  # missingpy's order of equally incomplete columns is not defined: make all of them differ
        for j, more in enumerate((0, 6, 2, 8, 4)):
            x[rng.permutation(n_rows)[: int(missing * n_rows) + more], j] = np.nan
    return x


def test_gives_the_example_of_its_own_documentation():
    """The values that missingpy printed under the releases it was written for."""
    nan = np.nan
    X = [[1, 2, nan], [3, 4, 3], [nan, 6, 5], [8, 8, 7]]
    expected = [[1, 2, 3.92], [3, 4, 3], [2.71, 6, 5], [8, 8, 7]]
    np.testing.assert_allclose(missingpy.MissForest(random_state=1337).fit_transform(X), expected)
    expected = [[1, 2, 4], [3, 4, 3], [5.5, 6, 5], [8, 8, 7]]
    np.testing.assert_allclose(missingpy.KNNImputer(n_neighbors=2).fit_transform(X), expected)


def test_leaves_no_trace_outside_missingpy():
    script = """
import sys, numpy, sklearn.ensemble, sklearn.neighbors, sklearn.utils
watched = {m: dict(vars(m)) for m in (numpy, sklearn.ensemble, sklearn.utils)}
from joints.patches import missingpy as patch
from joints.patches import versions
assert "missingpy" not in sys.modules
patch.load().MissForest
assert "sklearn.neighbors.base" not in sys.modules and not hasattr(sklearn.neighbors, "base")
assert not hasattr(numpy, "in1d")
for module, names in watched.items():
    for name, thing in names.items():
        assert vars(module)[name] is thing or name.startswith("__"), (module, name)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.fixture
def forgetful():
    """The patch as it is before its first use."""
    patch.load.cache_clear()
    versions.warn.cache_clear()


@pytest.mark.parametrize("installed", ["0.1.3", "0.2.1", "1.0"])
def test_another_version_is_refused(forgetful, monkeypatch, installed):
    monkeypatch.setattr(versions, "version", lambda library: installed)
    with pytest.raises(ImportError, match=rf"^missingpy {installed} was not tested \(tested: 0\.2\.0\): pip install"):
        patch.load()


def test_what_is_not_installed_is_named(forgetful, monkeypatch):
    monkeypatch.setattr(patch, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"^missingpy is not installed: pip install 'joints\[missingpy\]'\.$"):
        patch.load()


def of_scikit_learn(version):
    return lambda library: version if library == "scikit-learn" else "0.2.0"


def test_an_unknown_scikit_learn_is_named(forgetful, monkeypatch):
    monkeypatch.setattr(versions, "version", of_scikit_learn("1.99.0"))
    with pytest.warns(versions.PatchWarning, match=r"^scikit-learn 1\.99\.0 was not tested"):
        assert patch.load() is missingpy


@pytest.mark.parametrize("installed", ["1.9.1", "1.99.0"])
def test_a_scikit_learn_without_the_private_function_is_refused(forgetful, monkeypatch, installed):
    monkeypatch.setattr(versions, "version", of_scikit_learn(installed))
    monkeypatch.delattr("sklearn.neighbors._base._get_weights")
    with pytest.raises(ImportError, match=r"^scikit-learn .*, and missingpy does not run with it\.$"):
        patch.load()


@pytest.mark.parametrize("seed", [0, 1])
def test_training_fold_is_filled_as_missingpy_fills_it(seed):
    X = table_of(60, seed, 0.2)
    expected = missingpy.MissForest(n_estimators=10, random_state=4).fit_transform(X, cat_vars=CATEGORICAL)
    ours = MissForestImputer(10, predictor="scikit-learn", categorical_features=CATEGORICAL, random_state=4).fit(X)
    table = fit_table(ours, X)
    ours._fill_training(table, np.isnan(table))
    np.testing.assert_allclose(table, expected, rtol=1e-12)


class Frozen:
    """A fitted forest that stands in for those that missingpy would grow."""

    def __init__(self, forests, columns):
        self.forests, self.columns, self.calls = forests, columns, 0

    def fit(self, X, y):
        self.column = self.columns[self.calls % len(self.columns)]
        self.calls += 1

    def predict(self, X):
        whole = np.insert(X, self.column, 0.0, axis=1)
        return self.forests[self.column].predict(whole, np.arange(len(whole)))


@pytest.mark.parametrize("predictor", ["compiled", "scikit-learn"])
@pytest.mark.parametrize("missing", [0.2, 0.5, 0.8])
def test_same_predictors_and_same_data_give_the_same_imputation(monkeypatch, predictor, missing):
    train, test = table_of(100, 0, 0.0), table_of(70, 1, missing)
    ours = MissForestImputer(10, predictor=predictor, categorical_features=CATEGORICAL, random_state=0).fit(train)
    frozen = Frozen(ours.forests_, np.argsort(np.isnan(test).sum(axis=0), kind="stable"))
    for name in ("RandomForestRegressor", "RandomForestClassifier"):
        monkeypatch.setattr(sys.modules["missingpy.missforest"], name, lambda **settings: frozen)
    theirs = missingpy.MissForest(random_state=0).fit(train, cat_vars=CATEGORICAL)
    expected = theirs.transform(test)
    assert theirs.iter_count_ > 2
    np.testing.assert_array_equal(ours.transform(test), expected)


def test_refitting_learns_from_the_test_fold():
    """The leakage that the paper warns of: the test fold's own rule shows in what it is filled with."""
    x = np.random.default_rng(0).uniform(-1, 1, 400)
    train, test = np.column_stack([x, x])[:200], np.column_stack([x, -x])[200:]
    test[::4, 1] = np.nan
    correlation = {}
    for imputer in (MissForestImputer(20, random_state=0), MissForestRefitImputer(20, random_state=0)):
        filled = imputer.fit(train).transform(test)[::4, 1]
        correlation[type(imputer).__name__] = np.corrcoef(filled, x[200::4])[0, 1]
    assert correlation["MissForestImputer"] > 0.99
    assert correlation["MissForestRefitImputer"] < -0.99
