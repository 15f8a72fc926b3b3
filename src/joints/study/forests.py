"""The forests of the study: grown once per fold, kept in files, and shared by all methods.

A file holds plain arrays and the parameters as JSON; unlike a pickle, it cannot run code when it is read.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.forest.arrays import Forest, TrainingData
from joints.forest.classifier import ForestClassifier
from joints.runtime.files import replacing
from joints.runtime.progress import FoldProgress
from joints.study.protocol import Fold, Protocol, folds_of, seed_of

UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error)
ForestOf = Callable[[Fold], ForestClassifier]  # the forest grown on a training fold


def grow(data: Dataset, protocol: Protocol, fold: Fold, parameters: Mapping[str, Any], n_jobs: int) -> ForestClassifier:
    """Grow the forest of one fold."""
    return ForestClassifier.published(
        **parameters,
        categorical_features={j: int(k) for j, k in enumerate(data.n_categories) if k},
        random_state=seed_of(protocol.seed, data.name, fold.repetition, fold.fold, "forest"),
        n_jobs=n_jobs,
    ).fit(fold.X, fold.y)


def grow_into(
    folder: str | Path,
    data: Dataset,
    protocol: Protocol,
    repetitions: Sequence[int],
    parameters: Mapping[str, Any],
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Grow the forests of some repetitions and write them to `folder`, one file per fold; returns the CPU seconds."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    seconds = []
    progress = FoldProgress(f"{data.name}, forests", len(repetitions) * protocol.folds)
    for fold in folds_of(data, protocol, repetitions):
        start = process_time()
        forest = grow(data, protocol, fold, parameters, n_jobs)
        seconds.append((data.name, fold.repetition, fold.fold, process_time() - start))
        write_forest(folder / file_name(fold), forest)
        progress.step()
    return pd.DataFrame(seconds, columns=["dataset", "repetition", "fold", "forest_seconds"])


def from_folders(folders: Sequence[str | Path]) -> ForestOf:
    """The forests that `grow_into` has written to some folders."""

    def read(fold: Fold) -> ForestClassifier:
        paths = [Path(folder) / file_name(fold) for folder in folders]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise JointsError(
                f"there is no {file_name(fold)} in {', '.join(map(str, folders))}: grow the forests first"
            )
        return read_forest(path)

    return read


def grown_each_time(data: Dataset, protocol: Protocol, parameters: Mapping[str, Any], n_jobs: int = 1) -> ForestOf:
    """Forests that are grown whenever they are asked for: for training rows that no other method shares."""
    return partial(grow, data, protocol, parameters=parameters, n_jobs=n_jobs)


def forests_from(
    folders: Sequence[str | Path], data: Dataset, protocol: Protocol, own: Mapping[str, Any], n_jobs: int
) -> ForestOf:
    """The forests in some folders; or, with parameters of their own, forests that are grown each time."""
    return grown_each_time(data, protocol, own, n_jobs) if own else from_folders(folders)


def write_forest(path: str | Path, forest: ForestClassifier) -> None:
    """Write a forest of the study; equal forests give equal bytes."""
    parameters = forest.get_params()
    del parameters["n_jobs"]  # which the reader chooses
    parameters["categorical_features"] = list(parameters["categorical_features"].items())  # JSON's keys are strings
    arrays = {
        "parameters": np.array(json.dumps(parameters)),
        "X": forest.training_data_.X,
        "y": forest.classes_[forest.training_data_.y],
        **forest.forest_._asdict(),
    }
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")  # without the time of writing
            file.writestr(entry, content.getbuffer(), zipfile.ZIP_DEFLATED, compresslevel=1)


def read_forest(path: str | Path) -> ForestClassifier:
    """Read what `write_forest` wrote."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            parameters = json.loads(arrays["parameters"].item())
            parameters["categorical_features"] = dict(parameters["categorical_features"])
            forest = ForestClassifier(**parameters)
            forest._take_training_data(arrays["X"], arrays["y"])
            forest.forest_ = Forest(**{name: arrays[name] for name in Forest._fields})
            _check_ranges(forest.forest_, forest.training_data_)
    except UNREADABLE as error:
        raise JointsError(f"{path} is not a readable forest ({error}): delete it and run the workflow again") from error
    return forest


def _check_ranges(forest: Forest, data: TrainingData) -> None:
    """Raise a ValueError unless every number that kernels use as an index points to something."""
    n_nodes, inner = len(forest.feature), forest.feature >= 0
    n_leaves, nodes = n_nodes - int(inner.sum()), np.flatnonzero(inner)
    sizes = np.diff(forest.tree_start)
    end = np.repeat(forest.tree_start[1:], sizes)[nodes]
    n_flags = data.n_categories[forest.feature[nodes]]
    subset = forest.subset[nodes][n_flags > 0]
    good = {
        "tree_start": forest.tree_start[0] == 0 and forest.tree_start[-1] == n_nodes and (sizes > 0).all(),
        "leaf_start": np.array_equal(forest.leaf_start, np.concatenate([[0], np.cumsum(~inner)])[forest.tree_start]),
        "feature": (forest.feature >= -1).all() and (forest.feature < data.X.shape[1]).all(),
        "threshold": np.isfinite(forest.threshold[nodes][n_flags == 0]).all(),
        "subset": (subset >= 0).all() and (subset + n_flags[n_flags > 0] <= len(forest.goes_left)).all(),
        "right": ((forest.right[nodes] > nodes + 1) & (forest.right[nodes] < end)).all(),
        "leaf": np.array_equal(forest.leaf[~inner], np.arange(n_leaves)),
        "counts": forest.counts.shape == (n_nodes, data.n_classes) and (forest.counts >= 0).all(),
        "seeds": len(forest.seeds) == forest.n_trees,
    }
    for name, holds in good.items():
        if not holds:
            raise ValueError(f"its {name!r} does not fit")


def grown_once(data: Dataset, protocol: Protocol, parameters: Mapping[str, Any], n_jobs: int = 1) -> ForestOf:
    """Forests that are grown on first use and kept in memory."""
    kept: dict[tuple[int, int], ForestClassifier] = {}

    def of(fold: Fold) -> ForestClassifier:
        place = fold.repetition, fold.fold
        if place not in kept:
            kept[place] = grow(data, protocol, fold, parameters, n_jobs)
        return kept[place]

    return of


def file_name(fold: Fold) -> str:
    """The name of a fold's file; a folder may hold the forests of several repetitions."""
    return f"repetition{fold.repetition}_fold{fold.fold}.npz"
