"""The paper's two outlier studies (section 5, "Outlier detection"): wine of the other colour, and foreign digits.

Both give a table of signals with one line per repetition, model, method and row evaluated; `rows` says where the row
comes from, which for rows of the model's own kind is the model's name.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from joints.circuit.generative import PUBLISHED_DENSITIES, GenerativeForestClassifier
from joints.data.dataset import Dataset
from joints.errors import JointsError
from joints.forest.classifier import ForestClassifier
from joints.study.outliers.detectors import ClassKernelDensity, certainty
from joints.study.outliers.foreign import load_images
from joints.study.outliers.images import MADE, fit_into, images_of
from joints.study.outliers.signals import IMAGE_METHODS, WINE_METHODS
from joints.study.protocol import generator, scale, seed_of, standardise

logger = logging.getLogger(__name__)

TEST_SHARE = 1 / 7  # of the images, the last ones: the usual 60,000 and 10,000 of MNIST


def signals(
    X: np.ndarray,
    y: np.ndarray,
    rows: Mapping[str, np.ndarray],
    methods: Sequence[str],
    *,
    forest: Mapping[str, Any],
    random_state: int,
    bandwidth: float,
    leaves: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Fit every detector on (X, y) and evaluate it on several sets of rows.

    Parameters
    ----------
    X, y : ndarray of shape (n_samples, n_features) and (n_samples,)
        Training rows; all features are continuous.
    rows : mapping from name to ndarray of shape (n_rows, n_features)
        NaN where a value is missing.
    methods : sequence of str
        Keys of `joints.study.outliers.signals.LABELS`.
    forest : mapping
        Parameters of `joints.ForestClassifier.published`.
    random_state : int
        Seed of the forest.
    bandwidth : float
        Bandwidth of the kernel density.
    leaves : mapping, default=None
        Parameters of the leaf densities, by default the published ones; see `joints.GenerativeForestClassifier`.
    n_jobs : int or None, default=None

    Returns
    -------
    DataFrame
        method, rows, signal
    """
    all_rows = np.concatenate(list(rows.values()))
    grown = ForestClassifier.published(**forest, random_state=random_state, n_jobs=n_jobs).fit(X, y)
    of_leaves = {**PUBLISHED_DENSITIES, "relative_sd": True, **(leaves or {})}
    found: dict[str, np.ndarray] = {}
    for name, kind in (("gefp", "factorised"), ("gefp_lspn", "lspn")):
        if name in methods:
            generative = GenerativeForestClassifier.from_forest(grown, leaves=kind, **of_leaves)
            found[name] = generative.score_samples(all_rows)
            del generative  # with many features its leaves are most of the memory
    if "entropy" in methods or "max_probability" in methods:
        proba = grown.predict_proba(all_rows)
        found |= {"entropy": certainty(proba), "max_probability": proba.max(axis=1)}
    if "kde" in methods or "kde_published" in methods:
        kernel_density = ClassKernelDensity(bandwidth).fit(X, y)
        densities = kernel_density.class_log_densities(all_rows)
        found["kde"] = kernel_density.mix(densities, "density")
        found["kde_published"] = kernel_density.mix(densities, "published")
    names = np.repeat(list(rows), [len(part) for part in rows.values()])
    return pd.concat(
        [pd.DataFrame({"method": method, "rows": names, "signal": found[method]}) for method in methods],
        ignore_index=True,
    )


def hold_out(y: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    """A mask of the test rows: this share of each class, at random."""
    test = np.zeros(len(y), dtype=np.bool_)
    for label in np.unique(y):
        rows = random.permutation(np.flatnonzero(y == label))
        test[rows[: round(share * len(rows))]] = True
    return test


def exchange(
    datasets: Sequence[Dataset],
    *,
    seed: int,
    repetitions: int,
    test: float,
    bandwidth: float,
    forest: Mapping[str, Any],
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """The wine study: a model of each dataset, evaluated on the test rows of both.

    All rows are standardised by the model's own training rows, and clipped as everywhere in the paper.
    """
    first, second = datasets
    if first.features != second.features or first.n_categorical or second.n_categorical:
        raise JointsError(f"{first.name!r} and {second.name!r} must have the same features, all of them continuous")
    parts = []
    for repetition in range(1, repetitions + 1):
        tests = [hold_out(data.y, test, generator(seed, data.name, repetition, 0, "outliers")) for data in datasets]
        for data, is_test in zip(datasets, tests, strict=True):
            train = data.X[~is_test]
            mean, sd = scale(train, data.n_categories)
            asked = {
                other.name: standardise(other.X[held_out], mean, sd, data.n_categories)
                for other, held_out in zip(datasets, tests, strict=True)
            }
            part = signals(
                standardise(train, mean, sd, data.n_categories),
                data.y[~is_test],
                asked,
                WINE_METHODS,
                forest=forest,
                random_state=seed_of(seed, data.name, repetition, 0, "forest"),
                bandwidth=bandwidth,
                n_jobs=n_jobs,
            )
            parts.append(part.assign(repetition=repetition, model=data.name))
            logger.info("%s, repetition %d of %d", data.name, repetition, repetitions)
    return pd.concat(parts, ignore_index=True)


def foreign_digits(
    data: Dataset,
    foreign: Sequence[Mapping[str, Any]],
    files: Mapping[str, str | Path],
    *,
    seed: int,
    repetitions: int,
    train_rows: int,
    test_rows: int,
    bandwidth: float,
    min_sd: float,
    forest: Mapping[str, Any],
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """The image study: models of one dataset of images, evaluated on its test images and on foreign ones.

    Parameters
    ----------
    data : Dataset
        Square grey images.  The last seventh is held out for testing.
    foreign : sequence of mappings
        `label` and either `dataset`, a key of `files`, with the `margin` to leave, or `made`, a key of
        `joints.study.outliers.images.MADE`.
    files : mapping from dataset to a file of images
        A dataset whose file has no images is left out.
    seed, repetitions : int
    train_rows, test_rows : int
        The largest number of images of each kind; they are redrawn in each repetition.
    bandwidth, min_sd : float
        Smoothing of the kernel density and of the leaves, in units of the range from black to white.  In units
        of their own deviation, pixels that hardly ever vary would decide everything.
    """
    images = images_of(data.X, data.name)
    side = images.shape[1]
    theirs = _available(foreign, files)
    n_test = max(1, round(TEST_SHARE * len(images)))
    parts = []
    for repetition in range(1, repetitions + 1):
        random = generator(seed, data.name, repetition, 0, "outliers")
        train = _some(len(images) - n_test, train_rows, random)
        test = images[len(images) - n_test + _some(n_test, test_rows, random)]
        asked = {data.name: test}
        for kind in foreign:
            if "made" in kind:
                asked[kind["label"]] = MADE[kind["made"]](test, random)
            elif kind["dataset"] in theirs:
                chosen = theirs[kind["dataset"]]
                chosen = chosen[_some(len(chosen), test_rows, random)]
                asked[kind["label"]] = fit_into(chosen, side, kind.get("margin", 0))
        if len(asked) == 1:
            raise JointsError("none of the foreign images could be fetched, so there is nothing to tell apart")
        logger.info("%d images to learn from, %s", len(train), {name: len(part) for name, part in asked.items()})
        part = signals(
            images[train].reshape(len(train), -1),
            data.y[train],
            {name: part.reshape(len(part), -1) for name, part in asked.items()},
            IMAGE_METHODS,
            forest=forest,
            random_state=seed_of(seed, data.name, repetition, 0, "forest"),
            bandwidth=bandwidth,
            leaves={"min_sd": min_sd, "relative_sd": False},
            n_jobs=n_jobs,
        )
        parts.append(part.assign(repetition=repetition, model=data.name))
    return pd.concat(parts, ignore_index=True)


def _available(foreign: Sequence[Mapping[str, Any]], files: Mapping[str, str | Path]) -> dict[str, np.ndarray]:
    """The images of the foreign datasets that could be fetched; a warning names the others, with the reason."""
    found = {}
    for name in dict.fromkeys(kind["dataset"] for kind in foreign if "dataset" in kind):
        images, reason = load_images(files[name])
        if reason:
            logger.warning("%s is left out: %s.  Delete %s to try again.", name, reason, files[name])
        else:
            found[name] = images
    return found


def _some(n: int, at_most: int, random: np.random.Generator) -> np.ndarray:
    """All of 0, ..., n - 1, or `at_most` of them chosen at random, in ascending order."""
    return np.sort(random.permutation(n)[:at_most])
