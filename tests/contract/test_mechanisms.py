"""Every mechanism of config/mechanisms.yaml keeps the promises of joints.interface.Mechanism, new ones included."""

import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from mixed import mixed_table

from joints.interface import Mechanism
from joints.runtime.config import read_yaml, validate
from joints.study.entries import MechanismEntry, make, read_entries

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = read_yaml(ROOT / "config/mechanisms.yaml")
ENTRIES = read_entries(MechanismEntry, CATALOGUE)


def new(name):
    return make(ENTRIES[name].cls, ENTRIES[name].parameters)


def order(name, X, n_categories, seed=0):
    return new(name).order(X, n_categories, np.random.default_rng(seed))


def random_state():
    """The random state of the process: Python's and NumPy's."""
    return random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002


def tables():
    """New tables of many shapes and kinds of features, some of which lack values."""
    X, _, n_categories = mixed_table(np.random.default_rng(0), n=40, missing=0.1)
    empty = X.copy()
    empty[:, 1], empty[3] = np.nan, np.nan
    return {
        "mixed": (X, n_categories),
        "an empty feature and an empty row": (empty, n_categories),
        "continuous": (X[:, :2], n_categories[:2]),
        "categorical": (X[:, 2:], n_categories[2:]),
        "constant": (np.ones((20, 3)), np.zeros(3, dtype=np.int64)),
        "a single row": (X[:1], n_categories),
        "a single feature": (X[:, :1], n_categories[:1]),
        "a single cell": (X[:1, :1], n_categories[:1]),
    }


TABLES = list(tables())


def test_the_catalogue_fits_its_schema_and_one_mechanism_is_the_papers():
    validate(CATALOGUE, read_yaml(ROOT / "workflow/schemas/mechanisms.schema.yaml"), "config/mechanisms.yaml")
    assert [name for name, entry in ENTRIES.items() if entry.paper] == ["mcar"]


@pytest.mark.parametrize("name", ENTRIES)
class TestEveryMechanism:
    def test_is_a_mechanism(self, name):
        assert isinstance(new(name), Mechanism)

    @pytest.mark.parametrize("table", TABLES)
    def test_every_cell_goes_missing_exactly_once(self, name, table):
        X, n_categories = tables()[table]
        found = order(name, X, n_categories)
        assert found.shape == (X.size,) and np.issubdtype(found.dtype, np.integer)
        np.testing.assert_array_equal(np.sort(found), np.arange(X.size))

    def test_is_the_same_from_the_same_generator(self, name):
        for X, n_categories in tables().values():
            np.testing.assert_array_equal(order(name, X, n_categories, 5), order(name, X, n_categories, 5))

    def test_asking_it_twice_leaves_no_trace(self, name):
        """Earlier calls do not change the result."""
        X, n_categories = tables()["mixed"]
        used = new(name)
        used.order(X[:10], n_categories, np.random.default_rng(1))
        found = used.order(X, n_categories, np.random.default_rng(5))
        np.testing.assert_array_equal(found, order(name, X, n_categories, 5))

    def test_does_not_touch_the_random_state_of_the_process(self, name):
        X, n_categories = tables()["mixed"]
        found = []
        for seed in (0, 1):
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            before = random_state()
            found.append(order(name, X, n_categories, 5))
            assert random_state() == before
        np.testing.assert_array_equal(found[0], found[1])

    def test_leaves_the_table_alone(self, name):
        X, n_categories = tables()["mixed"]
        kept = X.copy(), n_categories.copy()
        order(name, X, n_categories)
        np.testing.assert_array_equal(X, kept[0])
        np.testing.assert_array_equal(n_categories, kept[1])
