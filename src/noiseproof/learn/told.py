"""The noise of labels, by what models tell of rows whose class they knew.

If all rows of a class are held out together, as a single row is, no model can predict it. It misses
them all, right or wrong, which says nothing of their labels.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.learner import Floats, Labels
from noiseproof.noise import EstimatedTransition, estimate

#: So small a share of unknown rows changes nothing: with thousands of classes, to leave them out
#: would copy a gigabyte of probabilities.
FEW = 0.001
#: Its multiples spread evenly between whole numbers.
GOLDEN = (5**0.5 - 1) / 2


def held_out_whole(labels: Labels, units: Labels | None) -> NDArray[np.bool_]:
    """Return (N,) whether all rows of a row's class are held out together.

    Args:
        labels: (N,) of all rows.
        units: (N,) a number for each row, equal for rows that belong together; None without such.

    >>> held_out_whole(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 2, 3, 3])).tolist()
    [False, False, True, True, True]
    """
    if units is None:
        return np.asarray(np.bincount(labels)[labels] == 1)
    of_labels, _ = np.unique(np.stack([labels, units]), axis=1)
    return np.asarray(np.bincount(of_labels)[labels] == 1)


def noise_in(
    labels: Labels,
    probabilities: Floats,
    unknown: NDArray[np.bool_],
    *,
    names: Sequence[str] | None = None,
    trusted: tuple[Labels, Labels] | None = None,
    units: Labels | None = None,
    difficult: float = 0.0,
) -> EstimatedTransition:
    """Return the noise as estimated from held-out predictions.

    Args:
        labels: (N,) as given.
        probabilities: (N, K) held out.
        unknown: (N,) rows whose class no model knew. They may all be wrong or all be right, and the
            interval of the rate says so.
        names: of the classes.
        trusted: row numbers and their true labels.
        units: as :func:`held_out_whole` takes them.
        difficult: as :func:`noiseproof.noise.estimate` takes it.
    """
    if unknown.mean() > FEW and not unknown.all():
        known = np.flatnonzero(~unknown)
        if trusted is not None:
            kept = ~unknown[trusted[0]]
            trusted = np.searchsorted(known, trusted[0][kept]), trusted[1][kept]
            trusted = trusted if kept.any() else None
        found = estimate(
            labels[known], probabilities[known], names, trusted=trusted,
            groups=None if units is None else units[known], difficult=difficult,
        )  # fmt: skip
        share, (low, high) = float(unknown.mean()), found.rate_interval
        wrong = share * (np.arange(len(found.draws)) * GOLDEN % 1)  # of all rows, among the unknown
        rate, accuracy = found.draws.T
        draws = [rate * (1 - share) + wrong, accuracy * (1 - share + wrong)]
        return EstimatedTransition(
            found.matrix, found.prior, (low * (1 - share), high * (1 - share) + share),
            np.stack(draws, axis=1), found.agreement * (1 - share), len(labels), found.classes,
            found.calibration,
        )  # fmt: skip
    return estimate(
        labels, probabilities, names, trusted=trusted, groups=units, difficult=difficult
    )
