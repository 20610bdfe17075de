"""Inputs as heads want them: standardised a batch at a time, never copied whole."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from torch import Tensor

from noiseproof.errors import DataError

#: A value this many deviations from the mean says no more than that it is far away.
FAR = 10.0
#: The mean squared length of a scaled sparse row.
SPARSE_LENGTH = 16.0
CHUNK = 4096

Floats = NDArray[Any]


@dataclass(frozen=True)
class Scaling:
    """What is subtracted from a row of inputs, and by what it is then multiplied.

    Args:
        mean: (D,); zero for sparse inputs, which must stay sparse.
        factor: (D,); zero where a column never changes.
    """

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def of(cls, X: Any, weights: ArrayLike | None = None) -> Self:
        """Measure a matrix, each row counting its weight: columns get mean 0 and deviation 1.

        The columns of a sparse matrix share one factor: how rare a word is was the vectoriser's
        to weigh.
        """
        rows, columns = X.shape
        share = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
        share = share / share.sum()
        if sparse.issparse(X):
            squares = float(share @ np.asarray(X.multiply(X).sum(axis=1)).ravel())
            factor = np.sqrt(SPARSE_LENGTH / squares) if squares > 0 else 0.0
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
        return cls(mean, np.divide(1, deviation, where=moves, out=np.zeros(columns)))


class Matrix:
    """A matrix of inputs (N, D) and its scaling, to be read by rows."""

    def __init__(
        self, X: Any, scaling: Scaling | None = None, weights: ArrayLike | None = None
    ) -> None:
        self.values: Any = X.tocsr() if sparse.issparse(X) else as_floats(X)
        if self.values.ndim != 2:
            raise DataError(f"expected a matrix of rows and columns, got shape {X.shape}")
        self.scaling = scaling or Scaling.of(self.values, weights)
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
        """Whether the inputs are sparse."""
        return bool(sparse.issparse(self.values))

    def scaled(self, rows: ArrayLike | slice) -> Any:
        """Return some rows, scaled, in double precision; sparse if the inputs are."""
        part = self.values[rows]
        if self.sparse:
            return part * float(self.scaling.factor[0])
        return np.clip((part - self.scaling.mean) * self.scaling.factor, -FAR, FAR)

    def batch(self, rows: ArrayLike | slice, dtype: DTypeLike = np.float32) -> "Batch":
        """Return some rows, scaled, to multiply weights with."""
        scaled = self.scaled(rows).astype(dtype)
        return SparseBatch(scaled) if self.sparse else DenseBatch(torch.from_numpy(scaled))


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
