"""Arithmetic of transition matrices as plain arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import NoiseError
from noiseproof.noise.labels import to_array

Floats = NDArray[np.float64]


def check_matrix(matrix: Any, place: Callable[[int], str] = lambda i: f"row {i}") -> Floats:
    """Return ``matrix`` as a read-only float64 copy with rows that sum to one.

    ``place`` says how an error names row i.
    """
    array = to_array(matrix)
    if array.dtype.kind not in "fiub":
        raise NoiseError("expected a matrix of numbers")
    array = array.astype(np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise NoiseError(f"expected a square matrix, got shape {array.shape}")
    if len(array) < 2:
        raise NoiseError(f"expected at least 2 classes, got {len(array)}")
    for i, j in np.argwhere(~np.isfinite(array) | (array < 0))[:1]:
        raise NoiseError(f"{place(i)} has {array[i, j]} in column {j}: not a probability")
    sums = array.sum(axis=1)
    for i in np.flatnonzero(np.abs(sums - 1) > 1e-6)[:1]:
        raise NoiseError(f"{place(i)} sums to {sums[i]:.7g}, not to 1")
    # A sum that is one but for rounding is left alone: a matrix read back is then the same matrix.
    rough = np.abs(sums - 1) > 1e-12
    array[rough] /= sums[rough, None]
    array.flags.writeable = False
    return array


def off_diagonal(matrix: Floats) -> Floats:
    """Return ``matrix`` with zeros on its diagonal: the flips alone."""
    return np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix)


def levels(matrix: Floats) -> Floats:
    """Return T_ii / T_ij for every i and j != i, infinite where class i is never labelled j.

    >>> levels(np.array([[0.8, 0.2], [0.0, 1.0]]))
    array([[inf,  4.],
           [inf, inf]])
    """
    flips = off_diagonal(matrix)
    ratio = np.full_like(flips, np.inf)
    np.divide(np.diag(matrix)[:, None], flips, out=ratio, where=flips > 0)
    return ratio
