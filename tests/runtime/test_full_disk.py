"""Everything that writes files of a run, on a disk that is full: the error names the file, and nothing is left."""

import resource
import signal
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from joints.data import Dataset
from joints.data.raw import write_raw
from joints.forest.classifier import ForestClassifier
from joints.render.saving import save
from joints.runtime.files import write_csv, write_json, write_text
from joints.study.forests import write_forest
from joints.study.outliers.foreign import save_images
from joints.study.outliers.signals import write_signals
from joints.study.scores import write_scores

NUMBERS = np.random.default_rng(0).normal(size=(400, 3))
TABLE = pd.DataFrame(NUMBERS, columns=["a", "b", "signal"])
KEYS = {"repetition": 1, "fold": 1, "rate": 0.1, "dataset": "one", "mechanism": "mcar"}
WRITERS = {
    "it.txt": lambda path: write_text(path, "it is full\n" * 1000),
    "it.json": lambda path: write_json(path, NUMBERS.tolist()),
    "it.csv": lambda path: write_csv(path, TABLE),
    "raw.parquet": lambda path: write_raw(TABLE, path),
    "data.npz": lambda path: Dataset(
        "it", "It", NUMBERS, np.zeros(3, int), np.arange(400) % 2, ["a", "b", "c"], [[], [], []], ["no", "yes"]
    ).save(path),
    "forest.npz": lambda path: write_forest(
        path,
        ForestClassifier.published(n_estimators=2, random_state=0, categorical_features={}).fit(
            NUMBERS, np.arange(400) % 2
        ),
    ),
    "images.npz": lambda path: save_images(NUMBERS.reshape(-1, 20, 20), "", path),
    "signals.parquet": lambda path: write_signals(TABLE.assign(repetition=1, model="m", method="gef", rows="r"), path),
    "scores.parquet": lambda path: write_scores(path, TABLE.assign(**KEYS, method="gef"), {}),
    **{f"figure.{kind}": lambda path: save(Figure(), path) for kind in ("png", "pdf", "pgf")},
}


@pytest.fixture
def full():
    """No file may have more than ten bytes; forests are grown and figures drawn before that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    usual = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, usual)


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk(name, full, tmp_path):
    path = tmp_path / name
    mpl.use("agg")
    WRITERS[name](path)  # it works otherwise, and has compiled what it needs
    assert path.stat().st_size > 10
    kept = path.read_bytes()
    full()
    with pytest.raises(OSError, match="File too large") as error:
        WRITERS[name](path)
    assert Path(error.value.filename) == path
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == kept
