"""Rows that belong together (copies, sentences of one document) say less than as many others."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noiseproof.errors import NoiseError
from noiseproof.noise.labels import Integers
from noiseproof.noise.matrix import Doubles


def units_of(groups: ArrayLike) -> Integers | None:
    """Return (N,) the groups as numbers from 0 on; None if every row is on its own."""
    try:
        found, unit = np.unique(np.asarray(groups), return_inverse=True)
        gaps = bool((found != found).any())  # NaN, which would be one group
    except TypeError:
        gaps = True
    if gaps:
        raise NoiseError(
            "expected a group for each row, all of one type, got missing or mixed ones"
        )
    return None if len(found) == unit.size else np.asarray(unit, dtype=np.int64)


def mean_and_error(
    values: Any, share: Doubles, units: Integers | None = None
) -> tuple[float, float]:
    """Return a weighted mean and its standard error.

    Args:
        values: (N,).
        share: (N,) what each counts; they sum to 1.
        units: (N,) a number from 0 on for each row, equal for rows that belong together.

    >>> mean_and_error(np.array([0.0, 1.0, 1.0, 0.0]), np.full(4, 0.25))
    (0.5, 0.25)
    >>> mean_and_error(np.array([0.0, 1.0, 1.0, 0.0]), np.full(4, 0.25), np.array([0, 1, 1, 0]))
    (0.5, 0.5)
    """
    mean = float(values @ share)
    apart = (values - mean) * share
    if units is None:
        return mean, math.sqrt(float(apart @ apart))
    each = np.bincount(units, apart)
    count = len(np.unique(units[share > 0]))
    # Of few groups the mean is near to them by chance.
    return mean, math.sqrt(float(each @ each) * count / max(1, count - 1))


def independent(values: Any, units: Integers | None) -> float:
    """Return how many rows on their own would say as much of the mean.

    Where all values are equal, nothing shows how far rows of a group are alike, and each group
    counts as one row.

    >>> independent(np.array([0, 1, 1, 0, 1, 1, 0, 0]), np.array([0, 1, 1, 0, 2, 2, 3, 3]))
    3.0
    """
    n = len(values)
    if units is None:
        return float(n)
    values = np.asarray(values, dtype=np.float64)
    if np.ptp(values) < 1e-12:  # their variance and its error would be rounding alone
        return float(len(np.unique(units)))
    _, error = mean_and_error(values, np.full(n, 1 / n), units)
    return float(np.clip(values.var() / error**2, 1, n)) if error > 0 else float(n)
