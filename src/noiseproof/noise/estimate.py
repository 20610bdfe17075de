"""How noisy are these labels? The transition matrix, from held-out probabilities."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from noiseproof.errors import NoiseError, ParameterError
from noiseproof.losses.parameter import as_number
from noiseproof.noise import difficulty, flips
from noiseproof.noise.clustered import independent, units_of
from noiseproof.noise.difficulty import Posterior
from noiseproof.noise.estimated import NEAR_ZERO, Calibration, EstimatedTransition, told_apart
from noiseproof.noise.given import read_given, read_labels, read_neighbours
from noiseproof.noise.labels import Integers, to_array
from noiseproof.noise.matrix import Doubles
from noiseproof.noise.neighbours import trust
from noiseproof.noise.predicted import Rows, leading

_DRAWS = 1_000
_UNSURE = 0.5  # how likely what shows is noise at most, where it may all be difficulty
_CHANCE = 0.45  # the same where the classifier may know no more than the largest class
_OTHERWISE = 0.1  # prior belief that the model of noise and difficulty does not hold


@np.errstate(under="ignore")  # the least likely rates of the grid have a weight of 0
def estimate(
    labels: ArrayLike | Tensor,
    probabilities: ArrayLike | Tensor,
    classes: Sequence[str] | None = None,
    *,
    neighbours: ArrayLike | Tensor | None = None,
    trusted: tuple[ArrayLike, ArrayLike] | None = None,
    groups: ArrayLike | None = None,
    difficult: float = 0.0,
) -> EstimatedTransition:
    """Estimate how labels go wrong, from the predictions of a classifier that never saw them.

    Where the label and the classifier disagree, one of them is wrong, and only the classifier's
    mistakes get rarer as its confidence grows: see :mod:`noiseproof.noise.difficulty`. Intervals
    allow for noise that falls on hard rows, for a classifier of any confidence, and for one that
    hardly learned anything. Measured in benchmarks/results/estimate_noise.md.

    Labels alone cannot reveal two things: a class most of whose labels are those of another, and
    wrong labels that follow a rule which the classifier learns too. For these, give ``trusted``
    rows. A classifier that does not suit the classes, such as a linear one where boundaries curve,
    is confidently wrong about correct labels, which looks like noise: give ``neighbours``, or let
    :func:`noiseproof.fit` compare classifiers.

    Args:
        labels: (N,) the given labels, numbers from 0 to K-1 or names of classes.
        probabilities: (N, K) held out, as from cross-validation. Their confidence does not matter,
            but they should differ: predictions of 0 or 1 alone do not show what is difficult.
            The columns of a DataFrame are matched by name.
        classes: the K names; by default those of labels given as names, in order.
        neighbours: (N, k) for each row the numbers of the other rows nearest to it, as from
            :func:`nearest`. Their labels are a second opinion, weighted by how well it predicts.
        trusted: row numbers, and the true labels of these rows. A few dozen help a lot. Duplicates
            count once; rows of one group count for less if they are wrong together.
        groups: (N,) a value for each row, equal for rows that belong together, such as copies or
            the sentences of one document: the more such rows err together, the wider the
            intervals.
        difficult: the share of the classifier's misses that may be hard rows rather than wrong
            labels, because more data would fix them or they all lie in one region. Ignored up to
            0.6.

    >>> from noiseproof.noise import TransitionMatrix
    >>> numbers = np.random.default_rng(0)
    >>> true = np.arange(3000) % 3
    >>> scores = 2 * numbers.normal(size=(3000, 3)) + 8 * np.eye(3)[true]
    >>> p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    >>> noisy = TransitionMatrix([[0.8, 0.2, 0], [0, 1, 0], [0, 0.1, 0.9]]).corrupt(true, seed=1)
    >>> T = estimate(noisy, p, classes=["cat", "dog", "frog"])
    >>> print(T)
    EstimatedTransition(3 classes, rate 0.1033 (0.087 to 0.12), clean level 4.042, dominant)
      true \\ given     cat     dog    frog
               cat   0.801   0.198   0.001
               dog   0.001   0.999   0.000
              frog   0.003   0.107   0.890
    >>> low, high = T.rate_interval
    >>> low < noisy.rate < high
    True
    """
    names, given, p = read_given(labels, probabilities, classes)
    N, K = p.shape
    if not N:
        raise NoiseError("expected at least one row of probabilities")
    difficult = as_number("difficult", difficult)
    if not 0 <= difficult <= 1:
        raise ParameterError(f"difficult: expected a share from 0 to 1, got {difficult!r}")
    votes = None if neighbours is None else given[read_neighbours(neighbours, N)]
    power, floor = trust(given, p, votes)
    rows = leading(given, p, votes, power, floor)
    units = _check_groups(groups, N)
    alone = independent(rows.predicted != given, units)
    found = difficulty.posterior(given, rows, alone / N, difficult)
    belief, known = 1.0, None
    if trusted is not None:
        known = _check_trusted(trusted, names, N, K)
        places, true = known
        together = None if units is None else units_of(units[places])
        found, belief = _informed(
            found, given[places] != true, rows.predicted[places] != true, together
        )
    rate, seen = found.mean(found.rate), found.mean(found.seen)
    sharpness = float(np.exp(found.mean(np.log(found.sharpness))))
    prior, counts = _counts(given, rows, seen, sharpness)
    if known is not None and belief < 1:
        wrong = given[places] != true
        learned = flips.counted(true[wrong], given[places][wrong], np.ones(wrong.sum()), K)
        counts = belief * counts + (1 - belief) * N / len(true) * learned
        shares = (np.bincount(true, minlength=K) + 1) / (len(true) + K)
        prior = belief * prior + (1 - belief) * shares
    low, high = difficulty.interval(found.rate, found.weight, alone)
    noisy = float(found.weight[found.seen > seen / 3].sum())
    if known is None and low <= NEAR_ZERO * high:
        low = 0.0
    ends = min(low, rate), max(high, rate)
    share = min(1.0, seen / max(rate, 1e-9))
    calibration = Calibration(sharpness, (float(power[0]), float(power[1])), share, noisy, floor)
    if not told_apart(ends, calibration, prior):
        # So no single label is more likely wrong than right.
        largest = float(np.bincount(given).max()) / N
        known_more = float((rows.predicted == given).mean()) - largest > 1 / np.sqrt(alone)
        at_most = min(noisy, _UNSURE if known_more else _CHANCE)
        calibration = dataclasses.replace(calibration, noisy=at_most)
    return EstimatedTransition(
        flips.shrunk(prior, counts, rate, N),
        prior,
        ends,
        _drawn(found),
        float((rows.predicted == given).mean()),
        N,
        names,
        calibration,
    )


def _check_groups(groups: Any, N: int) -> Integers | None:
    if groups is None:
        return None
    array = to_array(groups)
    if array.shape != (N,):
        raise NoiseError(f"expected a group for each of {N} rows, got {array.shape}")
    return units_of(array)


def _check_trusted(
    trusted: tuple[Any, Any], names: tuple[str, ...] | None, N: int, K: int
) -> tuple[Integers, Integers]:
    try:
        places, labels = trusted
    except (TypeError, ValueError):
        raise NoiseError("expected trusted rows as their numbers and their true labels") from None
    rows, (_, codes) = to_array(places), read_labels(labels, K, names)
    if rows.shape != codes.shape or not rows.size:
        raise NoiseError(f"expected as many trusted rows as true labels, got {rows.shape}")
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= N:
        raise ParameterError(f"expected trusted row numbers from 0 to {N - 1}")
    once, first, back = np.unique(rows, return_index=True, return_inverse=True)
    for place in np.flatnonzero(codes[first][back] != codes)[:1]:
        raise NoiseError(f"trusted row {rows[place]} has two different true labels")
    return once.astype(np.int64), codes[first]


def _informed(
    found: Posterior,
    wrong: NDArray[np.bool_],
    missed: NDArray[np.bool_],
    units: Integers | None,
) -> tuple[Posterior, float]:
    """Return the posterior that knows trusted rows, and how far they bear the model out.

    Args:
        found: without them.
        wrong: whether the label of each is wrong.
        missed: whether the classifier gets each wrong.
        units: a number for each, equal for rows that belong together; None without such.
    """
    steps = (np.arange(40) + 0.5) / 40
    rate, accuracy = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    blank = np.full(len(rate), np.nan)
    open_minded = np.full(len(rate), _OTHERWISE / len(rate))
    every = Posterior(
        np.append(found.rate, rate),
        np.append(found.seen, rate),
        np.append(found.accuracy, accuracy),
        np.append(found.sharpness, blank),
        np.append((1 - _OTHERWISE) * found.weight, open_minded),
    )
    log_weight = np.zeros(len(every.rate))
    for seen, likely in ((wrong, every.rate), (missed, 1 - every.accuracy)):
        likely, share = np.clip(likely, 1e-3, 1 - 1e-3), float(seen.mean())
        each = share * np.log(likely) + (1 - share) * np.log1p(-likely)
        log_weight += independent(seen, units) * each
    weight = every.weight * np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    belief = float(weight[: len(found.weight)].sum())
    return dataclasses.replace(every, weight=weight), belief


def _counts(given: Integers, rows: Rows, rate: float, sharpness: float) -> tuple[Doubles, Doubles]:
    """Return the prior and (K, K) the flips, each disagreement as far as the label is at fault."""
    K = rows.classes
    e = 1 - 1 / np.exp(-sharpness * rows.odds).sum(axis=1)
    label_wrong, prediction_wrong = rate * (1 - e), (1 - rate) * e
    fault = label_wrong / np.maximum(label_wrong + prediction_wrong, 1e-12)
    fault = np.where(rows.predicted == given, 0.0, fault)
    true = np.bincount(rows.predicted, fault, K) + np.bincount(given, 1 - fault, K)
    return true / len(given), flips.counted(rows.predicted, given, fault, K)


def _drawn(found: Posterior) -> Doubles:
    """Return equally likely pairs of rate and accuracy, in order of the rate."""
    order = np.argsort(found.rate, kind="stable")
    sums = np.cumsum(found.weight[order])
    places = order[np.searchsorted(sums, (np.arange(_DRAWS) + 0.5) / _DRAWS * sums[-1])]
    return np.stack([found.rate[places], found.accuracy[places]], axis=1)
