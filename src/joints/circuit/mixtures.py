"""The distribution of a continuous feature given evidence: a mixture of Gaussians, each cut to the cell of its leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erfcx, ndtr

from joints.circuit.posterior import Gaussians, Posterior

MOST_STEPS = 200  # towards a quantile; bisection alone needs about 60


class Distributions:
    """Distributions of one continuous feature, one for each row of a table.

    Returned by `distribution` of the circuits; everything is in closed form but `quantile`, which inverts `cdf`.
    """

    def __init__(self, posteriors: Sequence[Posterior], gaussians: Gaussians) -> None:
        self._posteriors, self._gaussians = posteriors, gaussians  # of some rows each, so that little is needed at once

    def __len__(self) -> int:
        return sum(len(posterior.start) - 1 for posterior in self._posteriors)

    def __repr__(self) -> str:
        return f"<distributions of a feature in {len(self)} rows: mean, std, pdf, cdf, quantile>"

    def mean(self) -> np.ndarray:
        """The mean of each distribution; shape (n_samples,)."""
        return np.concatenate([posterior.sum_of(self._moments[0]) for posterior in self._posteriors])

    def std(self) -> np.ndarray:
        """The standard deviation of each distribution; shape (n_samples,)."""
        means, variances = self._moments

        def one(posterior: Posterior) -> np.ndarray:
            own, centre = means[posterior.component], posterior.sum_of(means)
            square = variances[posterior.component] + (own - np.repeat(centre, np.diff(posterior.start))) ** 2
            return np.sqrt(np.add.reduceat(posterior.weight * square, posterior.start[:-1]))

        return np.concatenate([one(posterior) for posterior in self._posteriors])

    def pdf(self, x: Any) -> np.ndarray:
        """The densities at `x`, which is a number or has one for each row; shape (n_samples,)."""
        return self._at(x, _Mixtures.pdf)

    def cdf(self, x: Any) -> np.ndarray:
        """The probabilities of values up to `x`, which is a number or has one for each row; shape (n_samples,)."""
        return self._at(x, _Mixtures.cdf)

    def quantile(self, q: Any) -> np.ndarray:
        """The values up to which a distribution has probability `q`, in (0, 1).

        Parameters
        ----------
        q : float or array-like of shape (n_quantiles,)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_quantiles)
        """
        levels = np.asarray(q, dtype=np.float64)
        if levels.ndim > 1 or not levels.size or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"q is {q!r}: give a probability between 0 and 1, or a list of them.")
        found = []
        for posterior in self._posteriors:
            mixtures, centre = _Mixtures(posterior, self._gaussians), posterior.sum_of(self._moments[0])
            found.append(np.column_stack([mixtures.quantile(float(level), centre) for level in levels.ravel()]))
        out = np.concatenate(found)
        return out if levels.ndim else out[:, 0]

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        return cut_moments(self._gaussians)

    def _at(self, x: Any, function: Callable[[_Mixtures, np.ndarray], np.ndarray]) -> np.ndarray:
        """A function of the rows' distributions and a number for each."""
        given = np.asarray(x, dtype=np.float64)
        if given.shape not in ((), (1,), (len(self),)):
            raise ValueError(f"x has shape {given.shape}: give one number, or one for each of the {len(self)} rows.")
        found, first = [], 0
        for posterior in self._posteriors:
            last = first + len(posterior.start) - 1
            here = np.broadcast_to(given, len(self))[first:last]
            found.append(np.where(np.isnan(here), np.nan, function(_Mixtures(posterior, self._gaussians), here)))
            first = last
        return np.concatenate(found)


class _Mixtures:
    """The distributions of some rows, whose components are laid side by side."""

    def __init__(self, posterior: Posterior, gaussians: Gaussians) -> None:
        self._posterior = posterior
        own = gaussians._replace(**{name: part[posterior.component] for name, part in gaussians._asdict().items()})
        self._own = own
        self._a, self._b = (own.low - own.mean) / own.sd, (own.high - own.mean) / own.sd
        self._mass = _mass(self._a, self._b)

    def pdf(self, x: np.ndarray) -> np.ndarray:
        x, own = self._for_entries(x), self._own
        z = (x - own.mean) / own.sd
        inside = (x > own.low) & (x <= own.high)
        density = np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * own.sd)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._sum(np.where(inside & (self._mass > 0), density / self._mass, 0.0))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return np.clip(self._sum(self._shares_below(self._for_entries(x))), 0.0, 1.0)

    def _for_entries(self, x: np.ndarray) -> np.ndarray:
        return np.repeat(x, np.diff(self._posterior.start))

    def _sum(self, values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(self._posterior.weight * values, self._posterior.start[:-1])

    def _shares_below(self, x: np.ndarray) -> np.ndarray:
        own, a, b = self._own, self._a, self._b
        z = np.clip((x - own.mean) / own.sd, a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = _mass(a, z) / self._mass
        # a cell so far out that nothing of the Gaussian is left there: all of it at the end that is nearer
        return np.where(self._mass > 0, share, np.where(a > 0, x > own.low, x >= own.high))

    def quantile(self, level: float, centre: np.ndarray) -> np.ndarray:
        """By Newton's method from the centre on, or bisection where that leaves the bracket."""
        own, start = self._own, self._posterior.start[:-1]
        reach = 40.0 * own.sd
        low = np.minimum.reduceat(np.maximum(own.low, own.mean - reach), start)
        high = np.maximum.reduceat(np.minimum(own.high, own.mean + reach), start)
        x = np.clip(centre, low, high)
        for _ in range(MOST_STEPS):
            above = self.cdf(x) - level
            low, high = np.where(above < 0, x, low), np.where(above < 0, high, x)
            if (high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))).all() or (np.abs(above) < 1e-13).all():
                break
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                newton = x - above / self.pdf(x)
            x = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        return x


def cut_moments(gaussians: Gaussians) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of Gaussians that are cut to intervals."""
    mean, sd, low, high = gaussians
    a, b = (low - mean) / sd, (high - mean) / sd
    mass = _mass(a, b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at_a, at_b = _hazard(a, b, a, mass), _hazard(a, b, b, mass)
        shift = np.clip(at_a - at_b, a, b)
        spread = 1.0 + np.where(np.isfinite(a), a * at_a, 0.0) - np.where(np.isfinite(b), b * at_b, 0.0) - shift**2
    narrow = b - a < 1e-2  # differences of nearly equal numbers: as good as uniform
    shift[narrow] = 0.5 * (a[narrow] + b[narrow])
    spread = np.where(narrow, (b - a) ** 2 / 12.0, np.clip(spread, 0.0, 1.0))
    return mean + sd * shift, sd**2 * spread


def _mass(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The standard normal's mass between two bounds, from the tail that is smaller."""
    mirrored = low > 0
    return ndtr(np.where(mirrored, -low, high)) - ndtr(np.where(mirrored, -high, low))


def _hazard(a: np.ndarray, b: np.ndarray, at: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The density at one of the bounds of a standard normal cut to (a, b]; 0 at infinity."""
    plain = np.exp(-0.5 * at**2) / (np.sqrt(2 * np.pi) * mass)
    # far out both underflow, but not their ratio; the other bound does not matter there
    near = np.where(a > 0, a, -b)
    far = (mass < 1e-280) & (np.abs(at) == near)
    return np.where(far, np.sqrt(2 / np.pi) / erfcx(near / np.sqrt(2)), np.where(np.isfinite(at), plain, 0.0))
