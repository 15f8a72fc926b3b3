"""Images of digits: from a dataset's rows of pixels to grey images of one size.

A table has one column per pixel of a square image, row by row, or three if the image is in colour.  Grey values are
between 0 and 1, whatever the range in the table, and NaN where a pixel is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from joints.errors import JointsError

LUMINANCE = np.array([0.299, 0.587, 0.114])  # of red, green and blue (ITU-R BT.601)


def images_of(X: np.ndarray, name: str = "the table") -> np.ndarray:
    """The rows of a table as grey images.

    Parameters
    ----------
    X : ndarray of shape (n_samples, side * side) or (n_samples, 3 * side * side)
        Pixels in any range: the smallest value of the table becomes 0, the largest 1.
    name : str
        For messages.

    Returns
    -------
    ndarray of shape (n_samples, side, side)
    """
    n_pixels = X.shape[1]
    low, high = np.nanmin(X, initial=np.inf), np.nanmax(X, initial=-np.inf)
    scaled = (X - low) / (high - low) if high > low else np.where(np.isnan(X), np.nan, 0.0)
    if isqrt(n_pixels) ** 2 == n_pixels:
        return scaled.reshape(len(X), isqrt(n_pixels), isqrt(n_pixels))
    side = isqrt(n_pixels // 3)
    if 3 * side * side != n_pixels:
        raise JointsError(f"{name} has {n_pixels} columns, which is neither a square number nor three times one")
    return grey(scaled).reshape(len(X), side, side)


def grey(X: np.ndarray) -> np.ndarray:
    """The luminance of colour images in rows, of shape (n_samples, n_pixels).

    The three colours of a pixel may be adjacent, or all reds may come before all greens and all blues.  The arrangement
    in which the colours of a pixel are more alike is taken, because in pictures they are.
    """
    side_by_side = X.reshape(len(X), -1, 3)
    one_by_one = np.moveaxis(X.reshape(len(X), 3, -1), 1, 2)
    arrangements = (side_by_side, one_by_one)
    unlike = [np.nanmean(np.abs(colours[..., 0] - colours[..., 1])) for colours in arrangements]
    return arrangements[int(np.argmin(unlike))] @ LUMINANCE


def resize(images: np.ndarray, side: int) -> np.ndarray:
    """Images in another size, by linear interpolation between the centres of pixels.

    When an image becomes smaller, the interpolation reaches as far as one new pixel, so that nothing is skipped.

    Parameters
    ----------
    images : ndarray of shape (n_images, old_side, old_side)
    side : int

    Returns
    -------
    ndarray of shape (n_images, side, side)
        A pixel is missing if any pixel that it is computed from is missing.
    """
    weights = _interpolation(images.shape[1], side)
    missing = np.isnan(images)
    out = weights @ np.where(missing, 0.0, images) @ weights.T
    if missing.any():
        reach = (weights > 0).astype(np.float64)
        out[reach @ missing @ reach.T > 0] = np.nan
    return out


def _interpolation(old: int, new: int) -> np.ndarray:
    """Weights of shape (new, old) of the old pixels in each new one: a triangle around its centre."""
    step = old / new
    centres = (np.arange(new) + 0.5) * step
    distance = np.abs(centres[:, None] - (np.arange(old) + 0.5)) / max(step, 1.0)
    weights = np.maximum(1.0 - distance, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def fit_into(images: np.ndarray, side: int, margin: int = 0) -> np.ndarray:
    """Images in another size with a black margin on every side (MNIST's digits have one of 4 pixels)."""
    if not 0 <= 2 * margin < side:
        raise JointsError(f"a margin of {margin} on each side leaves nothing of {side} pixels: choose a smaller one")
    inner = resize(images, side - 2 * margin)
    return np.pad(inner, ((0, 0), (margin, margin), (margin, margin)))


def invert(images: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Swap dark and light."""
    return 1.0 - images


def turn(images: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rotate by a quarter turn."""
    return np.rot90(images, axes=(1, 2))


def shuffle(images: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Permute the pixels, in the same way in all images."""
    order = random.permutation(images[0].size)
    return images.reshape(len(images), -1)[:, order].reshape(images.shape)


# Ways to make images that are certainly foreign from the data's own, for runs without another dataset of digits.
MADE: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "inverted": invert,
    "turned": turn,
    "shuffled": shuffle,
}
