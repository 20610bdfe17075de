"""A matrix of numbers as features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.errors import DataError
from noiseproof.prepare.forms import (
    BLURRED,
    LARGEST,
    as_inputs,
    column_numbers,
    in_form,
    prefers_sparse,
)
from noiseproof.prepare.notes import Gaps, Notes
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, Progress

#: A value is far out if it is beyond the range of its column by this many times that range.
FAR = 2.0


@dataclass(frozen=True, eq=False)
class MatrixFeatures:
    """A matrix of numbers as it is, gaps filled, always sparse or always dense.

    Args:
        fill: (d,) what a gap becomes: the mean of its column.
        missing: (d,) the share of gaps in a column.
        low: (d,) values below it are far out of the range of the fit.
        high: (d,) values above it are.
        used: the columns that are features, in their order. Of sparse rows only those that varied
            in the fit: hashed words leave most columns empty.
        sparse: whether the features are sparse.
    """

    fill: NDArray[np.float32]
    missing: NDArray[np.float32]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    used: NDArray[np.int64]
    sparse: bool = False

    @property
    def columns(self) -> int:
        """How many columns the rows have."""
        (columns,) = self.fill.shape
        return int(columns)

    @property
    def width(self) -> int:
        """How many features there are."""
        (width,) = self.used.shape
        return int(width)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features: columns have numbers alone."""
        return tuple(f"column {i}" for i in self.used)

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """(D,) which features are known to be 0 or 1: none."""
        return np.zeros(self.width, dtype=np.bool_)

    @classmethod
    def learn(cls, samples: Samples) -> "MatrixFeatures":
        """Measure the columns; a matrix of gaps alone is an error."""
        X = samples.inputs
        if X.shape[1] == 0:
            raise DataError(f"{samples.name}: the rows have no columns")
        rows, columns = X.shape
        if sparse.issparse(X):
            total, count = (
                np.asarray(X.sum(axis=0, dtype=np.float64)).ravel(),
                np.full(columns, rows),
            )
            least, most = (X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel())
            same = bool((least == most).all())
        else:
            total, count, least, most, same = _measured(X)
        if not count.any():
            raise DataError(f"{samples.name}: every value is missing")
        _refuse(same, samples)
        fill = (total / np.maximum(count, 1)).astype(np.float32)
        missing, reach = (1 - count / rows).astype(np.float32), FAR * (most - least)
        low, high = _anywhere(fill)
        moves = reach > 0
        low[moves] = np.maximum(least - reach, -LARGEST)[moves]
        high[moves] = np.minimum(most + reach, LARGEST)[moves]
        is_sparse = prefers_sparse(X)
        return cls(fill, missing, low, high, _used(moves, is_sparse), is_sparse)

    def transform(self, samples: Samples, notes: Notes, progress: Progress = SILENT) -> Any:
        """Return the matrix itself, or a copy without gaps and in the form of the fit."""
        X = samples.inputs
        if samples.kind == "table":
            X = _numbers(samples)
        elif samples.kind == "images":
            raise DataError(f"{samples.name}: the model reads rows of numbers, these are images")
        if X.shape[1] != self.columns:
            raise DataError(
                f"{samples.name}: rows of {X.shape[1]} numbers, the model reads {self.columns}"
            )
        X = self._told(X, notes) if sparse.issparse(X) else self._filled(X, notes)
        X = in_form(X.astype(np.float32, copy=False), self.sparse)
        return X if self.width == self.columns else X[:, self.used]

    def _told(self, X: Any, notes: Notes) -> Any:
        """Count the values of sparse rows that are far out of the range of the fit."""
        rows, X = X.shape[0], X.tocsr()
        at, values = X.indices, X.data
        out = (values < self.low[at]) | (values > self.high[at])
        far = np.bincount(at[out], minlength=self.columns)
        zeros = rows - np.bincount(at, minlength=self.columns)
        far += np.where((self.low > 0) | (self.high < 0), zeros, 0)
        notes.count(Gaps(self.missing, np.zeros_like(far), far, rows))
        return X

    def _filled(self, X: NDArray[np.float32], notes: Notes) -> NDArray[np.float32]:
        rows, columns = np.nonzero(~np.isfinite(X))
        far = np.zeros(self.columns, dtype=np.int64)
        for start in range(0, len(X), 4096):
            part = X[start : start + 4096]
            far += ((part < self.low) | (part > self.high)).sum(axis=0)
        missing = np.bincount(columns, minlength=self.columns)
        notes.count(Gaps(self.missing, missing, far, len(X)))
        if len(rows) == 0:
            return X
        X = X.copy()
        X[rows, columns] = self.fill[columns]
        return X

    def describe(self) -> dict[str, Any]:
        """Return the form."""
        return {"kind": "matrix", "sparse": self.sparse}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what gaps become, how frequent they are, the columns' ranges, and their use."""
        return {
            "fill": self.fill, "missing": self.missing, "low": self.low, "high": self.high,
            "used": self.used,
        }  # fmt: skip

    @classmethod
    def load(
        cls, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "MatrixFeatures":
        """Undo :meth:`describe` and :meth:`arrays`."""
        fill, missing, low, high, used = (
            arrays[name] for name in ("fill", "missing", "low", "high", "used")
        )
        if not missing.shape == low.shape == high.shape == fill.shape:
            raise ValueError("a share of gaps and a range for each column")
        if not ((missing >= 0) & (missing <= 1)).all():
            raise ValueError("missing: expected shares")
        inside = used.ndim == 1 and used.dtype == np.int64 and len(used) > 0
        if not inside or used[0] < 0 or used[-1] >= len(fill) or not (np.diff(used) > 0).all():
            raise ValueError("used: expected numbers of columns, in order")
        if not isinstance(description["sparse"], bool):
            raise ValueError("sparse: expected a truth value")
        return cls(fill, missing, low, high, used, description["sparse"])


def _measured(X: Any) -> tuple[Any, Any, Any, Any, bool]:
    """Return the columns' sums, counts, least and most values, and whether all rows are equal."""
    total, count = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.int64)
    least, most = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    same = True
    for start in range(0, len(X), 4096):
        part = X[start : start + 4096]
        known = np.isfinite(part)
        total += np.where(known, part, 0).sum(axis=0, dtype=np.float64)
        count += known.sum(axis=0)
        least = np.minimum(least, np.where(known, part, np.inf).min(axis=0))
        most = np.maximum(most, np.where(known, part, -np.inf).max(axis=0))
        same = same and bool(((part == X[0]) | (np.isnan(part) & np.isnan(X[0]))).all())
    return total, count, least, most, same


def _anywhere(like: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return ends of ranges out of which nothing is."""
    far = np.full(like.shape, LARGEST, np.float32)
    return -far, far


def _used(varied: NDArray[np.bool_], is_sparse: bool) -> NDArray[np.int64]:
    """Return the numbers of the columns that are features."""
    return np.flatnonzero(varied) if is_sparse and varied.any() else np.arange(len(varied))


def _refuse(same: bool, samples: Samples) -> None:
    """Raise if every row is the same; the reason may be that rows are read in single precision."""
    if same:
        why = "every row is the same; there is nothing to learn from"
        why = next((doubt for doubt in samples.doubts if doubt.startswith(BLURRED)), why)
        raise DataError(f"{samples.name}: {why}")


def _numbers(samples: Samples) -> NDArray[np.float32]:
    frame = samples.inputs
    if (at := column_numbers(frame.columns)) is not None:  # of the columns of an array
        frame = frame.iloc[:, np.argsort(at)]
    try:
        if any(dtype.kind in "mMc" for dtype in frame.dtypes):
            raise TypeError("dates, times and complex numbers are none")
        numbers = frame.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise DataError(f"{samples.name}: the model reads rows of numbers alone") from None
    return np.asarray(as_inputs(numbers, samples.name))
