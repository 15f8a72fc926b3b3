"""The forests of the study: grown once per fold, kept in files, and shared by all methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib

from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.forest.classifier import ForestClassifier
from joints.runtime.files import replacing
from joints.runtime.progress import FoldProgress
from joints.study.protocol import Fold, Protocol, folds_of, seed_of

ForestOf = Callable[[Fold], ForestClassifier]  # the forest grown on a training fold


def grow(data: Dataset, protocol: Protocol, fold: Fold, parameters: Mapping[str, Any], n_jobs: int) -> ForestClassifier:
    """Grow the forest of one fold."""
    return ForestClassifier(
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
) -> None:
    """Grow the forests of some repetitions and write them to `folder`, one file per fold."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    progress = FoldProgress(f"{data.name}, forests", len(repetitions) * protocol.folds)
    for fold in folds_of(data, protocol, repetitions):
        forest = grow(data, protocol, fold, parameters, n_jobs)
        with replacing(folder / file_name(fold)) as temporary:
            joblib.dump(forest, temporary, compress=("zlib", 1))
        progress.step()


def from_folders(folders: Sequence[str | Path]) -> ForestOf:
    """The forests that `grow_into` has written to some folders."""

    def read(fold: Fold) -> ForestClassifier:
        paths = [Path(folder) / file_name(fold) for folder in folders]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise JointsError(
                f"there is no {file_name(fold)} in {', '.join(map(str, folders))}: grow the forests first"
            )
        return joblib.load(path)

    return read


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
    return f"repetition{fold.repetition}_fold{fold.fold}.joblib"
