"""The forests of the study: grown once a fold, kept in files, and shared by all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib

from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.forest.classifier import ForestClassifier
from joints.runtime.files import replacing
from joints.runtime.progress import Progress
from joints.study.protocol import Fold, Protocol, folds_of, seed_of


def grow(
    data: Dataset,
    protocol: Protocol,
    repetitions: Sequence[int],
    parameters: Mapping[str, Any],
    folder: str | Path,
    n_jobs: int = 1,
) -> None:
    """Grow the forests of some repetitions and write them to `folder`, one file a fold."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    progress = Progress(f"{data.name}, forests", len(repetitions) * protocol.folds)
    for fold in folds_of(data, protocol, repetitions):
        forest = ForestClassifier(
            **parameters,
            categorical_features={j: int(k) for j, k in enumerate(data.n_categories) if k},
            random_state=seed_of(protocol.seed, data.name, fold.repetition, fold.fold, "forest"),
            n_jobs=n_jobs,
        ).fit(fold.X, fold.y)
        with replacing(folder / file_name(fold)) as temporary:
            joblib.dump(forest, temporary, compress=("zlib", 1))
        progress.step()


def forest_of(fold: Fold, folders: Sequence[str | Path]) -> ForestClassifier:
    """The forest of a fold, from the folders that `grow` has filled."""
    paths = [Path(folder) / file_name(fold) for folder in folders]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise JointsError(f"there is no {file_name(fold)} in {', '.join(map(str, folders))}: grow the forests first")
    return joblib.load(path)


def file_name(fold: Fold) -> str:
    """A folder may hold the forests of several repetitions."""
    return f"repetition{fold.repetition}_fold{fold.fold}.joblib"
