"""Numbers as float32, in which networks compute; what that cannot hold is refused, not blurred."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from noiseproof.data.labels import Array
from noiseproof.errors import DataError

#: Rounding may move a value by this part of its column's standard deviation.
MOVED = 0.01


def as_float32(
    columns: Sequence[Array], names: Sequence[object], rows: int, where: str | Path
) -> Tensor:
    """Return columns of ``rows`` numbers as float32 (N, d).

    A column whose differences would be lost is refused by its name.

    >>> as_float32([np.array([0.5, 1.5])], ["x"], 2, "mine.csv")
    tensor([[0.5000],
            [1.5000]])
    >>> as_float32([1_700_000_000 + np.arange(3)], ["time"], 3, "mine.csv")
    Traceback (most recent call last):
    noiseproof.errors.DataError: mine.csv: column 'time' differs too little for float32: ...
    """
    found = np.empty((rows, len(columns)), np.float32)
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        with np.errstate(over="ignore"):  # the data set names what is not finite
            found[:, j] = column
        if _is_blurred(column, found[:, j]):
            raise DataError(
                f"{where}: column {name!r} differs too little for float32: subtract its least "
                "value, scale it, or leave it out"
            )
    return torch.from_numpy(found)


def _is_blurred(column: Array, rounded: Array) -> bool:
    if column.dtype.itemsize <= 2 or column.dtype == np.float32 or not len(column):
        return False
    if not np.isfinite(rounded).all():
        return False
    # From the first value on: of long integers, float64 too holds the differences alone.
    whole = column.dtype.kind == "i"
    apart = (column - column[0] if whole else column.astype(np.float64) - column[0]).astype(float)
    kept = rounded.astype(np.float64) - float(rounded[0])
    most = float(np.abs(apart).max())
    return most > 0 and float(np.abs(kept - apart).max() / most) > MOVED * np.std(apart / most)
