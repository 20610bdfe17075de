"""Scaled features for learners: scaled once, and read in blocks of rows."""

from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from torch import Tensor

from noiseproof.errors import DataError
from noiseproof.learn.directions import Directions

Scale = Literal["standard", "common"]

#: Clip values at this many deviations from the mean; beyond, they only say "far away".
FAR = 10.0
#: The mean squared length of a row after scaling by a common factor.
LENGTH = 16.0
#: A sparse column whose values are so many times as large as is usual is in another unit.
GIANT = 10.0
CHUNK = 4096


@dataclass(frozen=True)
class Scaling:
    """Scales a row of features: subtracts the mean, then multiplies by a factor.

    Args:
        mean: (D,); zero for sparse features, which must stay sparse.
        factor: (D,); zero for constant columns.
    """

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]

    @property
    def moving(self) -> int:
        """The number of columns that are not constant."""
        return int(np.count_nonzero(self.factor))

    @classmethod
    def of(cls, X: Any, scale: Scale = "standard", weights: ArrayLike | None = None) -> Self:
        """Return the scaling for a matrix with weighted rows.

        ``"standard"`` gives every column a standard deviation of 1. ``"common"`` multiplies all
        columns by one factor, which suits embeddings, whose directions are comparable. Sparse
        features get a common factor too, because the vectoriser has already weighted the words;
        columns in another unit, which would outweigh all others, get a smaller one.
        """
        rows, columns = X.shape
        share = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
        share = share / share.sum()
        if sparse.issparse(X):
            return cls(np.zeros(columns), _of_sparse(X, share))
        mean, variance = np.zeros(columns), np.zeros(columns)
        for start in range(0, rows, CHUNK):
            part = slice(start, start + CHUNK)
            mean += share[part] @ X[part]
        for start in range(0, rows, CHUNK):
            part = slice(start, start + CHUNK)
            variance += share[part] @ (X[part] - mean) ** 2
        deviation = np.sqrt(variance)
        # A deviation below the precision of the numbers is rounding, not variation.
        moves = deviation > 4 * np.finfo(X.dtype).eps * np.abs(mean) + 1e-30
        factor = np.divide(1, deviation, where=moves, out=np.zeros(columns))
        if scale == "common" and moves.any():
            factor = np.where(moves, np.sqrt(LENGTH / variance[moves].sum()), 0.0)
        return cls(mean, factor)


def _of_sparse(X: Any, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the factors of sparse columns: one for all, less for a column in another unit.

    What unit a column is in shows in its values that are not 0, however rare they are.
    """
    X, columns = X.tocsr(), X.shape[1]
    weight = np.repeat(share, np.diff(X.indptr))
    squares = np.bincount(X.indices, weight * np.square(X.data, dtype=np.float64), columns)
    filled = np.bincount(X.indices, weight * (X.data != 0), columns)
    size = np.sqrt(np.divide(squares, filled, where=filled > 0, out=np.zeros(columns)))
    usual = np.median(size[size > 0]) if squares.any() else 0.0
    cut = np.minimum(1.0, np.divide(GIANT * usual, size, where=size > 0, out=np.ones(columns)))
    total = float(squares @ cut**2)
    return cut * (np.sqrt(LENGTH / total) if total > 0 else 0.0)


class Matrix:
    """Features (N, D) and their scaling."""

    def __init__(self, X: Any, scaling: Scaling | None = None) -> None:
        self.values: Any = X.tocsr() if sparse.issparse(X) else as_floats(X)
        if self.values.ndim != 2:
            raise DataError(f"expected a matrix of rows and columns, got shape {X.shape}")
        self.scaling = scaling or Scaling.of(self.values)
        self._lock = Lock()
        self._directions: Directions | None = None
        if len(self.scaling.mean) != self.values.shape[1]:
            raise DataError(
                f"X has {self.values.shape[1]} features, expected {len(self.scaling.mean)}"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        rows, columns = self.values.shape
        return rows, columns

    @property
    def sparse(self) -> bool:
        """Whether the features are sparse."""
        return bool(sparse.issparse(self.values))

    def scaled(self, rows: ArrayLike | slice, dtype: DTypeLike = np.float32) -> Any:
        """Return some rows, scaled; sparse if the features are sparse."""
        part = self.values[rows]
        if self.sparse:
            factor = self.scaling.factor
            alike = bool((factor == factor[:1]).all())
            out = (
                part * float(factor[0]) if alike and len(factor) else part.multiply(factor).tocsr()
            )
            return out.astype(dtype)
        out = part - self.scaling.mean
        out *= self.scaling.factor
        return np.clip(out, -FAR, FAR, out=out).astype(dtype)

    @cached_property
    def all(self) -> Any:
        """All rows, scaled; cached for learners that pass over them many times."""
        if self.sparse:
            return self.scaled(slice(None))
        out = np.empty(self.shape, dtype=np.float32)
        for start in range(0, len(out), CHUNK):
            out[start : start + CHUNK] = self.scaled(slice(start, start + CHUNK))
        return out

    def directions(self, seed: int) -> Directions:
        """Return the coordinates of all rows, scaled; computed once for all threads."""
        with self._lock:
            if self._directions is None:
                self._directions = Directions.of(self.all, seed)
            return self._directions

    def batch(self, rows: ArrayLike | slice) -> "Batch":
        """Return some scaled rows as a batch that multiplies weights."""
        return as_batch(self.scaled(rows))


def as_floats(X: Any) -> NDArray[Any]:
    """Return an array of floats, without a copy if it already is one."""
    array = np.asarray(X)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


class DenseBatch:
    """Dense rows that multiply weights, with the gradient of the product."""

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows

    def times(self, weight: Tensor) -> Tensor:
        """Return X W."""
        return self.rows @ weight

    def back(self, gradient: Tensor) -> Tensor:
        """Return X' G."""
        return self.rows.t() @ gradient


class SparseBatch:
    """The same for sparse rows."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def times(self, weight: Tensor) -> Tensor:
        """Return X W."""
        return torch.from_numpy(self.rows @ weight.numpy())

    def back(self, gradient: Tensor) -> Tensor:
        """Return X' G."""
        return torch.from_numpy(self.rows.T @ gradient.numpy())


Batch = DenseBatch | SparseBatch


def as_batch(rows: Any) -> Batch:
    """Return scaled rows as a batch."""
    return SparseBatch(rows) if sparse.issparse(rows) else DenseBatch(torch.from_numpy(rows))
