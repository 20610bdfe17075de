"""Features as linear and hidden learners want them: scaled once, read a block of rows at a time."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from torch import Tensor

from noiseproof.errors import DataError

Scale = Literal["standard", "common"]

#: A value this many deviations from the mean says no more than that it is far away.
FAR = 10.0
#: The mean squared length of a row under a common factor.
LENGTH = 16.0
CHUNK = 4096


@dataclass(frozen=True)
class Scaling:
    """What is subtracted from a row of features, and by what it is then multiplied.

    Args:
        mean: (D,); zero for sparse features, which must stay sparse.
        factor: (D,); zero where a column never changes.
    """

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def of(cls, X: Any, scale: Scale = "standard", weights: ArrayLike | None = None) -> Self:
        """Measure a matrix, each row counting its weight.

        ``"standard"`` gives every column deviation 1. ``"common"`` multiplies all columns by one
        factor, which suits embeddings, whose directions are comparable. Sparse features always
        have a common factor: how much a rare word counts was for the vectoriser to say.
        """
        rows, columns = X.shape
        share = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
        share = share / share.sum()
        if sparse.issparse(X):
            squares = float(share @ np.asarray(X.multiply(X).sum(axis=1)).ravel())
            factor = np.sqrt(LENGTH / squares) if squares > 0 else 0.0
            return cls(np.zeros(columns), np.full(columns, factor))
        mean, variance = np.zeros(columns), np.zeros(columns)
        for start in range(0, rows, CHUNK):
            part = slice(start, start + CHUNK)
            mean += share[part] @ X[part]
        for start in range(0, rows, CHUNK):
            part = slice(start, start + CHUNK)
            variance += share[part] @ (X[part] - mean) ** 2
        deviation = np.sqrt(variance)
        # Less than the numbers themselves can hold is rounding, not change.
        moves = deviation > 4 * np.finfo(X.dtype).eps * np.abs(mean) + 1e-30
        factor = np.divide(1, deviation, where=moves, out=np.zeros(columns))
        if scale == "common" and moves.any():
            factor = np.where(moves, np.sqrt(LENGTH / variance[moves].sum()), 0.0)
        return cls(mean, factor)


class Matrix:
    """Features (N, D) and their scaling."""

    def __init__(self, X: Any, scaling: Scaling | None = None) -> None:
        self.values: Any = X.tocsr() if sparse.issparse(X) else as_floats(X)
        if self.values.ndim != 2:
            raise DataError(f"expected a matrix of rows and columns, got shape {X.shape}")
        self.scaling = scaling or Scaling.of(self.values)
        if len(self.scaling.mean) != self.values.shape[1]:
            raise DataError(
                f"X has {self.values.shape[1]} features, expected {len(self.scaling.mean)}"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.values.shape
        return rows, columns

    @property
    def sparse(self) -> bool:
        """Whether the features are sparse."""
        return bool(sparse.issparse(self.values))

    def scaled(self, rows: ArrayLike | slice, dtype: DTypeLike = np.float32) -> Any:
        """Return some rows, scaled; sparse if the features are."""
        part = self.values[rows]
        if self.sparse:
            factor = float(self.scaling.factor[0]) if self.shape[1] else 0.0
            return (part * factor).astype(dtype)
        out = part - self.scaling.mean
        out *= self.scaling.factor
        return np.clip(out, -FAR, FAR, out=out).astype(dtype)

    @cached_property
    def all(self) -> Any:
        """All rows, scaled; kept, for learners that pass over them many times."""
        if self.sparse:
            return self.scaled(slice(None))
        out = np.empty(self.shape, dtype=np.float32)
        for start in range(0, len(out), CHUNK):
            out[start : start + CHUNK] = self.scaled(slice(start, start + CHUNK))
        return out

    def batch(self, rows: ArrayLike | slice) -> "Batch":
        """Return some rows, scaled, to multiply weights with."""
        return as_batch(self.scaled(rows))


def as_floats(X: Any) -> NDArray[Any]:
    """Return an array of floats, the same one where it is."""
    array = np.asarray(X)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


class DenseBatch:
    """Rows that multiply weights, and the gradient of that product."""

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
