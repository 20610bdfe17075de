"""Rows whose labels a person has checked: they are trained on, and some of them judge."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from noiseproof.noise.matrix import Doubles

Labels = NDArray[np.int64]

#: The variance, for one checked row, of the difference between two good models: they differ on
#: about one row in ten.
DIFFERENCE = 0.1
#: By how much the noisy labels may mislead the choice between two models, as a standard deviation:
#: where right labels clearly dominate, and where they may not.
SOUND, UNSOUND = 0.02, 0.08


@dataclass(frozen=True, eq=False)
class Review:
    """Checked rows.

    Args:
        given: (N,) the labels of all rows as they were given.
        rows: (M,) the rows that were checked, in order.
        random: (M,) whether a row was drawn at random. Only such rows say how good a model is:
            rows that were checked because they looked wrong are not like the others.
    """

    given: Labels
    rows: Labels
    random: NDArray[np.bool_]

    @property
    def judges(self) -> Labels:
        """The checked rows that were drawn at random."""
        return self.rows[self.random]

    @property
    def known(self) -> NDArray[np.bool_]:
        """(N,) whether the label of a row was checked."""
        found = np.zeros(len(self.given), dtype=bool)
        found[self.rows] = True
        return found

    def within(self, kept: Labels) -> Self:
        """Return the review of some of the rows, which are then numbered from 0."""
        at = np.searchsorted(kept, self.rows)
        inside = (at < len(kept)) & (kept[np.minimum(at, len(kept) - 1)] == self.rows)
        return replace(self, given=self.given[kept], rows=at[inside], random=self.random[inside])


def stakes(weights: Doubles, judges: Labels, misled: float) -> Doubles:
    """Return how much each row counts in the choice of a model; they sum to 1.

    Many noisy labels measure precisely something that is a little off; a few checked ones measure
    roughly what is wanted. Each kind counts by its precision.

    Args:
        weights: (N,) how much each row counts otherwise.
        judges: the rows whose labels are true and which were drawn at random.
        misled: by how much noisy labels may mislead, as a standard deviation.

    >>> stakes(np.ones(100), np.arange(60), misled=0.08)[[0, 99]].round(4)
    array([0.0132, 0.0052])
    """
    share: Doubles = weights / weights.sum()
    total = float(share[judges].sum())
    if not 0 < total < 1:
        return share
    chance = DIFFERENCE / len(judges)
    wanted = max(total, misled**2 / (misled**2 + chance))
    share = share * (1 - wanted) / (1 - total)
    share[judges] *= wanted / total * (1 - total) / (1 - wanted)
    return share
