"""Foreign images for the outlier studies: fetched from a dataset of the catalogue, or left out with a reason."""

from __future__ import annotations

import logging
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from joints.data.catalogue import DatasetEntry
from joints.data.encode import encode
from joints.data.fetch import fetch
from joints.data.sources import Settings
from joints.errors import JointsError
from joints.runtime.checksums import damaged
from joints.runtime.files import replacing
from joints.study.outliers.images import images_of

logger = logging.getLogger(__name__)


def fetch_images(
    entry: DatasetEntry, sources: Sequence[Mapping[str, Any]], settings: Settings
) -> tuple[np.ndarray, str]:
    """The images of a dataset in the catalogue and an empty reason; or no images and the reason why not.

    A foreign dataset that cannot be fetched is not a failure: the others are still worth looking at.
    """
    try:
        table, _ = fetch(entry.name, sources, entry.named_columns(), settings)
        return images_of(encode(entry, [table]).X, entry.name), ""
    except JointsError as error:
        logger.warning("%s is left out of the images: %s.", entry.label, error)
        return np.empty((0, 1, 1)), str(error)


def save_images(images: np.ndarray, reason: str, path: str | Path) -> None:
    """Write the result of `fetch_images` to a `.npz` file."""
    with replacing(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, images=images.astype(np.float32), reason=np.array(reason))


def load_images(path: str | Path) -> tuple[np.ndarray, str]:
    """Read what `save_images` wrote."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return arrays["images"].astype(np.float64), str(arrays["reason"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise damaged(path, error) from error
