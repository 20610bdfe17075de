"""Wide features in few coordinates, for learners that a rotation of the features leaves alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.noise import stream

#: The largest number of directions: their second moments are quick to compute and to invert.
MOST_DIRECTIONS = 1000
#: Features up to this wide are used as they are, if the rows are more than the columns.
MOST_COLUMNS = 2500


@dataclass(frozen=True, eq=False)
class Directions:
    """Rows X (N, D) as coordinates: X = rows @ basis' as nearly as so many directions allow.

    Args:
        rows: (N, d) the coordinates.
        basis: (D, d) orthonormal columns; None if the rows are as they were.
        squares: (N,) the squared lengths of the rows of X.
    """

    rows: NDArray[Any]
    basis: NDArray[Any] | None
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, X: NDArray[Any], seed: int) -> "Directions":
        """Return the directions of dense rows.

        Few rows span a small space, and their coordinates in it are exact. Of many wide rows, the
        directions of most variance are kept, found with one step of the power method (Halko,
        Martinsson and Tropp, 2011).
        """
        rows, columns = X.shape
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        if columns <= min(rows, MOST_COLUMNS):
            return cls(X, None, squares)
        if rows <= MOST_DIRECTIONS:
            spanning = X.T
        else:
            drawn = stream(seed, "directions").normal(size=(columns, MOST_DIRECTIONS))
            spanning = X.T @ (X @ drawn.astype(X.dtype))
        basis = np.linalg.qr(spanning)[0]
        return cls(X @ basis, basis, squares)

    def back(self, weight: NDArray[Any]) -> NDArray[Any]:
        """Return the weight (D, K) on the columns of X that equals one (d, K) on coordinates."""
        return weight if self.basis is None else np.asarray(self.basis @ weight)
