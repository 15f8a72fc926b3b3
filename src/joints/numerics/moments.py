"""What is safe to say of a column's spread."""

from __future__ import annotations

import numpy as np


def varies(X: np.ndarray) -> np.ndarray:
    """Which columns have two different values, not counting NaN; bool of shape (n_columns,).

    The standard deviation cannot tell: that of a constant column may be a tiny rounding error instead of 0.
    """
    low = np.where(np.isnan(X), np.inf, X).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(X), -np.inf, X).max(axis=0, initial=-np.inf)
    return low < high
