"""From weighed disagreements to a transition matrix of a given rate."""

import numpy as np

from noiseproof.noise.labels import Integers
from noiseproof.noise.matrix import Doubles

_USUAL = 5  # rows of the average class that each class's rate is shrunk with
_MOST = 0.99  # of a class's labels that can be wrong
_STEPS = 20


def shrunk(prior: Doubles, flips: Doubles, rate: float, rows: float) -> Doubles:
    """Return T with the overall ``rate`` and the proportions of ``flips``.

    Classes with few rows are drawn towards the overall rate, and flips that differ no more than
    counts do by chance are evened out.

    Args:
        prior: (K,) how frequent each true class is.
        flips: (K, K) the rows of true class i labelled j, zeros on the diagonal; overwritten.
        rate: the share of wrong labels.
        rows: N.
    """
    K = len(prior)
    totals = flips.sum(axis=1)
    if totals.sum() > 0:
        rates = totals * (rate * rows / totals.sum())
        rates = (rates + _USUAL * rate) / (prior * rows + _USUAL)
        for _ in range(_STEPS):  # what the most a class can have wrong cuts off, others make up for
            rates = np.minimum(rates * (rate / max(float(prior @ rates), 1e-12)), _MOST)
    else:
        rates = np.full(K, rate)
    keep = evenness(flips, totals)
    some = totals > 0
    flips *= np.where(some, keep * rates / np.where(some, totals, 1), 0)[:, None]
    flips += np.where(some, (1 - keep) * rates, rates)[:, None] / (K - 1)
    np.fill_diagonal(flips, 0)
    np.fill_diagonal(flips, 1 - flips.sum(axis=1))
    return flips


def evenness(flips: Doubles, totals: Doubles) -> float:
    """Return how far to trust that flips to one class differ from those to another, 0 to 1.

    The shrinkage of James and Stein: without it, the least of K (K - 1) ratios would be the
    unluckiest one and not the smallest.
    """
    K = len(flips)
    some = totals > 0
    if K == 2 or not some.any():
        return 1.0
    even = totals[some] / (K - 1)
    squares = np.einsum("ij,ij->i", flips, flips)[some]
    chi_square = float((squares / even - totals[some]).sum())
    return max(0.0, 1 - (K - 2) * int(some.sum()) / chi_square) if chi_square > 0 else 0.0


def counted(true: Integers, given: Integers, weight: Doubles, classes: int) -> Doubles:
    """Return (K, K), the weight of the rows of true class i labelled j."""
    place = true * classes + given
    counts: Doubles = np.bincount(place, weight, classes * classes).astype(np.float64, copy=False)
    return counts.reshape(classes, classes)
