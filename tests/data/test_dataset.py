"""The file that every later stage reads."""

import numpy as np
import pytest

from joints.data import Dataset
from joints.errors import JointsError
from joints.runtime.files import replacing


@pytest.fixture
def dataset():
    X = np.array([[0.1, 1, 0], [np.nan, 0, np.nan], [-3.0, 2, 1]])
    categories = [[], ["a", "b", "ü"], ["0", "1"]]
    return Dataset(
        "toy", "Toy", X, np.array([0, 3, 2]), np.array([0, 1, 0]), ["x", "y z", "w"], categories, ["no", "yes"]
    )


def test_what_is_saved_is_loaded(dataset, tmp_path):
    dataset.save(tmp_path / "new" / "toy.npz")
    again = Dataset.load(tmp_path / "new" / "toy.npz")
    for name in ("X", "y", "n_categories"):
        np.testing.assert_array_equal(getattr(again, name), getattr(dataset, name))
    assert again.X.dtype == np.float64 and again.y.dtype == np.int64 and again.n_categories.dtype == np.int64
    for name in ("name", "label", "features", "categories", "classes"):
        assert getattr(again, name) == getattr(dataset, name)


def test_equal_datasets_have_equal_bytes(dataset, tmp_path):
    dataset.save(tmp_path / "a.npz")
    dataset.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_file_needs_no_pickles(dataset, tmp_path):
    dataset.save(tmp_path / "toy.npz")
    with np.load(tmp_path / "toy.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"nonsense"])
def test_a_damaged_file_is_one_sentence(tmp_path, content):
    (tmp_path / "toy.npz").write_bytes(content)
    with pytest.raises(JointsError, match=r"toy\.npz is not a readable dataset file .*: delete it"):
        Dataset.load(tmp_path / "toy.npz")


def test_the_old_file_stays_when_writing_fails(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyError), replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyError
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["file"]
