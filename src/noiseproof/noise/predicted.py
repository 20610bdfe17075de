"""What a classifier, and the labels of neighbours, say of each row: the class, and how surely."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noiseproof.noise.labels import Integers
from noiseproof.noise.matrix import Doubles

LEADING = 10  # classes a row; the rest have next to no probability
LEAST = 1e-30  # the floor of probabilities; near 0 a float32 has few digits
HARD = 0.5  # the floor of probabilities that are all 0 or 1
_VOTE = 0.05  # the share of positive probabilities that may be less than a vote
_FINE = 1e-3  # a vote that is one of many, as in a softmax of half precision
_PARTS = (0.5, 0.25, 0.125, 0.0625)  # of a vote
_BLOCK = 4_000_000  # numbers in a block of rows


@dataclass(frozen=True)
class Rows:
    """What the estimate needs of each row.

    Args:
        predicted: (N,) the most likely class.
        near: (N,) 1 where the given label is the runner-up, and 1/n where it is one of n; else 0.
        odds: (N, m) log p of that class less log p of the m likeliest, from 0 upwards.
        own: (N,) the probability of the given label.
        classes: K.
    """

    predicted: Integers
    near: Doubles
    odds: Doubles
    own: Doubles
    classes: int


def leading(
    given: Integers,
    probabilities: NDArray[np.floating],
    votes: Integers | None,
    power: Doubles,
    floor: float,
) -> Rows:
    """Return the predictions and log-odds of p ** power[0] * (votes + 0.2) ** power[1].

    Of classes that are equally likely, the one with more labels is predicted.

    Args:
        given: (N,) labels.
        probabilities: (N, K).
        votes: (N, k) the labels of each row's neighbours, or None.
        power: (2,).
        floor: what a smaller probability is taken for.
    """
    N, K = probabilities.shape
    m = min(K, LEADING)
    predicted, near = np.empty(N, dtype=np.int64), np.empty(N)
    odds, own = np.empty((N, m)), np.empty(N)
    step = max(1, _BLOCK // K)
    order = _by_frequency(given, probabilities)
    for start in range(0, N, step):
        block = slice(start, start + step)
        z = power[0] * log_probabilities(probabilities[block], floor)
        if votes is not None:
            z += power[1] * log_votes(votes[block], K)
        first = predicted[block] = _likeliest(z, order)
        top = np.partition(z, K - m, axis=1)[:, K - m :] if m < K else z
        odds[block] = np.sort(z.max(axis=1, keepdims=True) - top, axis=1)
        every = np.arange(len(z))
        above = z[every, first] - z[every, given[block]]
        own[block] = np.exp(-above) / np.exp(-odds[block]).sum(axis=1)
        z[every, first] = -np.inf
        runner_up = z.max(axis=1)
        ties = (z == runner_up[:, None]).sum(axis=1)
        near[block] = (z[every, given[block]] == runner_up) / ties
    return Rows(predicted, near, odds, own, K)


def _by_frequency(given: Integers, p: NDArray[np.floating]) -> Integers:
    """Return (K,) the classes, those with more labels first: no matter how they are numbered."""
    sums = np.round(p.mean(axis=0, dtype=np.float64), 9)
    return np.asarray(np.lexsort((-sums, -np.bincount(given, minlength=p.shape[1]))))


def _likeliest(z: Doubles, order: Integers) -> Integers:
    """Return (N,) the class with the highest score, in a tie the first of them in ``order``."""
    found: Integers = z.argmax(axis=1)
    tied = np.flatnonzero((z == z[np.arange(len(z)), found][:, None]).sum(axis=1) > 1)
    found[tied] = order[z[np.ix_(tied, order)].argmax(axis=1)]
    return found


def floors(p: NDArray[np.floating]) -> tuple[float, ...]:
    """Return what a probability of 0 may mean: how small it is, at most and less.

    A 0 of five neighbours or ten trees says only that none of them voted for the class, so it is
    half a vote at most, and a vote is about the least of the probabilities that are not 0.
    Probabilities without a 0, or with very small ones, are taken as they are.
    """
    zeros, between = int((p == 0).sum()), p[(p > 0) & (p < 1)].astype(np.float64)
    if not zeros:
        return (LEAST,)
    if not between.size:
        return (HARD,)
    # A few may be less than a vote, but no more of them than there are zeros.
    vote = float(np.quantile(between, min(_VOTE, zeros / (zeros + len(between)))))
    return tuple(part * vote for part in _PARTS) if vote > _FINE else (LEAST,)


def log_probabilities(p: NDArray[np.floating], floor: float) -> Doubles:
    """Return log p, of what is below the floor that of the floor."""
    return np.asarray(np.log(np.maximum(p, floor, dtype=np.float64)))  # float16 ends at 6e-8


def log_votes(votes: Integers, classes: int) -> Doubles:
    """Return (N, K), the log of how many neighbours vote for each class, plus a fifth."""
    counts = np.zeros((len(votes), classes))
    np.add.at(counts, (np.arange(len(votes))[:, None], votes), 1)
    return np.log(counts + 0.2)
