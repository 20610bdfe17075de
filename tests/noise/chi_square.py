"""Pearson's statistic for counts against a matrix of probabilities, row by row."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2


def fits(counts: NDArray[np.int64], matrix: NDArray[np.float64], level: float = 1e-3) -> bool:
    """Return whether ``counts`` can come from ``matrix``, at the significance ``level``."""
    expected = counts.sum(axis=1, keepdims=True) * matrix
    possible = expected > 0
    if counts[~possible].any():
        return False
    statistic = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
    freedom = possible.sum() - possible.any(axis=1).sum()
    return bool(statistic <= chi2.ppf(1 - level, freedom))
