"""Draw noisy labels from a transition matrix, class by class, always from the true classes.

Only the generator's ``random`` is used, because uniform doubles are the part of numpy's streams
that is the same in every version and on every platform. The true labels are read and the noisy
ones are written to another array, so a class is never drawn after samples of another class have
been relabelled into it (erratum 2 of the released code).
"""

from collections.abc import Iterator

import numpy as np

from noiseproof.noise.labels import Integers
from noiseproof.noise.matrix import Doubles


def independent(matrix: Doubles, true: Integers, generator: np.random.Generator) -> Integers:
    """Draw each label independently: P(noisy = j | true = i) = matrix[i, j]."""
    uniform = generator.random(len(true))
    noisy = true.copy()
    for i, members in _by_class(np.argsort(true, kind="stable"), true, len(matrix)):
        noisy[members] = _inverse(matrix[i], uniform[members])
    return noisy


def exact(matrix: Doubles, true: Integers, generator: np.random.Generator) -> Integers:
    """Flip exactly int((1 - matrix[i, i]) * n_i) of the n_i samples of class i.

    The samples that flip are random. Each destination gets its expected number of them, rounded
    down or up (systematic sampling, which favours no destination).
    """
    # The order within a class is random, so its first samples are a random subset.
    order = np.lexsort((generator.random(len(true)), true))
    offset = generator.random(len(matrix))
    noisy = true.copy()
    for i, members in _by_class(order, true, len(matrix)):
        away = matrix[i].copy()
        away[i] = 0
        # The rate 0.3 may be stored as 0.29999999999999993, and 0.3 of 5000 is 1500.
        flips = int(away.sum() * len(members) + 1e-6)
        if flips:
            points = (np.arange(flips) + offset[i]) / flips
            noisy[members[:flips]] = _inverse(away / away.sum(), points)
    return noisy


def _by_class(order: Integers, true: Integers, classes: int) -> Iterator[tuple[int, Integers]]:
    ends = np.cumsum(np.bincount(true, minlength=classes))
    for i, members in enumerate(np.split(order, ends[:-1])):
        if len(members):
            yield i, members


def _inverse(row: Doubles, points: Doubles) -> Integers:
    """Return the inverse of the cumulative sum of ``row`` at ``points`` of [0, 1]."""
    edges = np.minimum(np.cumsum(row), 1)
    # Rounding may leave the sum short of one, and then a point near one would fall off the end:
    # give the rest to the last class that can be drawn.
    edges[np.flatnonzero(row)[-1] :] = np.inf
    return np.searchsorted(edges, points, side="right")
