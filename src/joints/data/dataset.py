"""A dataset as arrays: what the data stage writes and every later stage reads.

Continuous features keep their values, categorical ones are coded 0, ..., K - 1 over the whole dataset, and a missing
value is NaN (the paper's appendix C).  It is stored in a single file, without pickles.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from joints.errors import JointsError
from joints.runtime.files import replacing


@dataclass(frozen=True, eq=False)
class Dataset:
    """An encoded dataset.

    Attributes
    ----------
    name : str
        Key of the catalogue and stem of the file, such as ``german``.
    label : str
        Name in the paper's tables, such as ``credit-g``.
    X : ndarray of shape (n_samples, n_features), float64
        Values of continuous features, codes 0, ..., K - 1 of categorical ones, NaN where missing.
    n_categories : ndarray of shape (n_features,), int64
        K of each categorical feature, 0 for a continuous one.
    y : ndarray of shape (n_samples,), int64
        Class codes 0, ..., n_classes - 1.
    features : list of str
        Names of the features.
    categories : list of list of str
        Labels of each feature's categories in the order of their codes; empty for a continuous feature.
    classes : list of str
        Labels of the classes in the order of their codes.

    Examples
    --------
    >>> toy = Dataset("toy", "Toy", np.array([[0.5, 1.0], [np.nan, 0.0]]), np.array([0, 2]), np.array([0, 1]),
    ...               ["length", "colour"], [[], ["blue", "red"]], ["no", "yes"])
    >>> toy.n_samples, toy.n_categorical, toy.n_continuous, toy.n_classes, toy.majority, toy.n_missing
    (2, 1, 1, 2, 50.0, 1)
    """

    name: str
    label: str
    X: np.ndarray
    n_categories: np.ndarray
    y: np.ndarray
    features: list[str]
    categories: list[list[str]]
    classes: list[str]

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_categorical(self) -> int:
        return int(np.count_nonzero(self.n_categories))

    @property
    def n_continuous(self) -> int:
        return len(self.n_categories) - self.n_categorical

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def majority(self) -> float:
        """Percentage of the most frequent class, with the paper's two decimals."""
        return round(100 * float(np.bincount(self.y).max()) / self.n_samples, 2)

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(np.isnan(self.X).sum())

    def save(self, path: str | Path) -> None:
        """Write a `.npz` file; equal datasets give equal bytes."""
        labels = [label for feature in self.categories for label in feature]
        with replacing(path) as temporary, temporary.open("wb") as handle:
            np.savez_compressed(
                handle,
                name=np.array(self.name),
                label=np.array(self.label),
                X=np.ascontiguousarray(self.X, dtype=np.float64),
                n_categories=np.asarray(self.n_categories, dtype=np.int64),
                y=np.asarray(self.y, dtype=np.int64),
                features=np.array(self.features, dtype=str),
                categories=np.array(labels, dtype=str),
                classes=np.array(self.classes, dtype=str),
            )

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                n_categories = arrays["n_categories"]
                ends = np.cumsum(n_categories)
                labels = arrays["categories"].tolist()
                return cls(
                    name=str(arrays["name"]),
                    label=str(arrays["label"]),
                    X=arrays["X"],
                    n_categories=n_categories,
                    y=arrays["y"],
                    features=arrays["features"].tolist(),
                    categories=[labels[end - k : end] for end, k in zip(ends, n_categories, strict=True)],
                    classes=arrays["classes"].tolist(),
                )
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise JointsError(
                f"{path} is not a readable dataset file ({error}): delete it and run the workflow again"
            ) from error
