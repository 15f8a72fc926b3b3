"""Missing at random: what is missing depends on features that stay observed, and on nothing that goes missing."""

from __future__ import annotations

import numpy as np

from joints.study.mechanisms.logistic import LogisticMechanism, numbers_of, standardised


class MissingAtRandom(LogisticMechanism):
    """A fifth of the features stay observed; a random combination of them decides about each other feature.

    The score of feature j in row i is the standardised sum over the observed features k of b[j, k] * z[i, k], where z
    are standardised values (a random normal number for each category) and b are random normal numbers.  The observed
    features themselves only go missing when nothing else is left, at rates beyond the share of the other features.

    Parameters
    ----------
    slope : float, default=2
    observed : float, default=0.2
        The share of features that stay observed, rounded down, but at least one of them.
    """

    def __init__(self, slope: float = 2.0, observed: float = 0.2) -> None:
        super().__init__(slope)
        if not 0 < observed < 1:
            raise ValueError(f"observed is {observed!r}: choose a share between 0 and 1")
        self.observed = observed

    def scores(self, X: np.ndarray, n_categories: np.ndarray, random: np.random.Generator) -> np.ndarray:
        m = X.shape[1]
        stays = random.permutation(m)[: max(1, int(self.observed * m))]
        z = numbers_of(X[:, stays], n_categories[stays], random)
        out = standardised(z @ random.normal(size=(len(stays), m)))
        out[:, stays] = -np.inf
        return out
