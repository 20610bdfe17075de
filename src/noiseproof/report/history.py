"""The epochs of several seeds as one curve."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noiseproof.results import Record


def mean_curve(records: Iterable["Record"], field: str) -> list[float | None]:
    """Return the mean of a field of :class:`~noiseproof.train.Epoch`, one value per epoch.

    Runs that failed are left out: they would change the mean where they stop.

    Args:
        records: the seeds of one cell.
        field: such as ``"test_accuracy"`` or ``"corrupted_part"``.
    """
    histories = [
        [getattr(row, field) for row in record.history]
        for record in records
        if record.status == "done"
    ]
    return [_mean(values) for values in zip_longest(*histories)]


def thinned(length: int, most: int = 60) -> list[int]:
    """Return at most ``most`` of the positions 0 ... length - 1, evenly, the last among them.

    >>> thinned(3), thinned(9, most=4)
    ([0, 1, 2], [0, 3, 5, 8])
    """
    if length <= most:
        return list(range(length))
    return [round(i * (length - 1) / (most - 1)) for i in range(most)]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
