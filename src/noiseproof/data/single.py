"""Numbers as float32, in which models compute: columns whose differences it would lose."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from noiseproof.data.labels import Array
from noiseproof.errors import DataError

#: Rounding may move a value by this part of its column's standard deviation.
MOVED = 0.01
#: A smaller standard deviation counts as none: its square is hardly a float32.
SMALL = 1e-28
#: Rows that are looked at in one go.
BLOCK = 4096


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
        if len(blurred(column[:, None])):
            raise DataError(
                f"{where}: column {name!r} differs too little for float32: subtract its least "
                "value, scale it, or leave it out"
            )
    return torch.from_numpy(found)


def blurred(X: Any) -> npt.NDArray[np.int64]:
    """Return the columns of numbers (N, d), dense or CSR, whose differences float32 would lose.

    >>> blurred(np.array([[1e9, 1.0, 1e-300], [1e9 + 1, 3.0, 0.0], [1e9 + 2, 2.0, 0.0]]))
    array([0, 2])
    """
    reach, error, total, squares = (np.zeros(X.shape[1]) for _ in range(4))
    if X.shape[0] == 0 or X.dtype.itemsize <= 2 or X.dtype.kind not in "iuf":
        return np.empty(0, dtype=np.int64)
    for apart, kept in _differences(X):
        reach = np.maximum(reach, np.abs(apart).max(axis=0))
        error = np.maximum(error, np.abs(kept - apart).max(axis=0))
    rows, moves = X.shape[0], reach > 0
    least = reach / (2 * np.sqrt(rows))  # no standard deviation is smaller
    if not (moves & ((error > MOVED * least) | (least < SMALL))).any():
        return np.empty(0, dtype=np.int64)
    scale = np.where(moves, reach, 1)  # else squares of small numbers would be 0
    for apart, _ in _differences(X):
        total += (apart / scale).sum(axis=0)
        squares += ((apart / scale) ** 2).sum(axis=0)
    spread = scale * np.sqrt(np.maximum(squares / rows - (total / rows) ** 2, 0))
    return np.flatnonzero(moves & ((error > MOVED * spread) | (spread < SMALL)))


def _differences(X: Any) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Yield the differences to a first value, exact and of float32; of what is not finite, 0.

    Integers are subtracted as such: of long ones, float64 holds no more than the differences.
    """
    exact = np.dtype(np.int64 if X.dtype.kind in "iu" else np.float64)
    first = _dense(X[:BLOCK])
    start = first[np.isfinite(first).argmax(axis=0), np.arange(X.shape[1])]
    start = np.nan_to_num(start, posinf=0, neginf=0)
    for at in range(0, X.shape[0], BLOCK):
        part = _dense(X[at : at + BLOCK])
        with np.errstate(over="ignore", invalid="ignore"):
            apart = (part.astype(exact) - start.astype(exact)).astype(np.float64)
            kept = part.astype(np.float32).astype(np.float64) - start.astype(np.float32)
        known = np.isfinite(apart) & np.isfinite(kept)
        yield np.where(known, apart, 0), np.where(known, kept, 0)


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)  # scipy may not be there
