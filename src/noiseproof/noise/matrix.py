"""Arithmetic of transition matrices as plain arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import NoiseError
from noiseproof.noise.labels import as_numbers, to_array

Doubles = NDArray[np.float64]


def check_matrix(matrix: Any, place: Callable[[int], str] = lambda i: f"row {i}") -> Doubles:
    """Return ``matrix`` as a read-only float64 copy with rows that sum to one.

    ``place`` says how an error names row i.
    """
    array = as_numbers(to_array(matrix))
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
    # Leave sums that are one up to rounding: a matrix that is saved and read back stays the same.
    rough = np.abs(sums - 1) > 1e-12
    array[rough] /= sums[rough, None]
    array.flags.writeable = False
    return array


def off_diagonal(matrix: Doubles) -> Doubles:
    """Return ``matrix`` with zeros on its diagonal, which leaves the flips."""
    return np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix)


def largest_flips(matrix: Doubles) -> Doubles:
    """Return (K,): for each class i, the largest T_ij with j != i.

    >>> largest_flips(np.array([[0.8, 0.2, 0.0], [0.3, 0.6, 0.1], [0.0, 0.0, 1.0]]))
    array([0.2, 0.3, 0. ])
    """
    pairs = enumerate(matrix)
    return np.array([max(row[:i].max(initial=0), row[i + 1 :].max(initial=0)) for i, row in pairs])


def ratio(numerator: Doubles, denominator: Doubles) -> Doubles:
    """Return the quotient, or infinity where the denominator is 0 or next to nothing.

    >>> ratio(np.array([1.0, 1.0, 1.0]), np.array([0.5, 0.0, 1e-320]))
    array([ 2., inf, inf])
    """
    found = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.inf)
    with np.errstate(over="ignore"):
        np.divide(numerator, denominator, out=found, where=denominator > 0)
    return found
