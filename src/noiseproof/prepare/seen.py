"""Which rows have the features of others, whatever types the values of either have."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.prepare.checks import row_hashes
from noiseproof.prepare.columns.column import Number
from noiseproof.prepare.features import Preprocessor
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.table_features import TableFeatures, column_of


def occur_in(
    features: Preprocessor, rows: Samples, X: Any, others: Samples, Z: Any
) -> NDArray[np.bool_]:
    """Return (N,) whether each of the rows occurs among others.

    Once scaled, 0.1 in single precision and 0.1 in double have different bits: numbers are compared
    as they came, in the coarser of their two types.

    Args:
        features: what made the features.
        rows: the rows.
        X: (N, D) their features.
        others: the other rows.
        Z: (M, D) their features.
    """
    if rows.kind == others.kind == "images":
        # Compare pixels: computed features differ in their last bits from batch to batch.
        return np.isin(row_hashes(rows.inputs), row_hashes(others.inputs))
    columns = features.columns if isinstance(features, TableFeatures) else ()
    numbers = [column for column in columns if isinstance(column, Number)]
    if not isinstance(features, TableFeatures) or not numbers:
        return np.isin(row_hashes(X), row_hashes(Z))
    kept = np.flatnonzero(~features.of_kind(Number))
    frames = (rows.inputs, others.inputs)
    types = [_coarser(*(column_of(frame, c.name) for frame in frames)) for c in numbers]
    ours, theirs = (
        # An odd factor, so that what differs here and agrees there does not cancel out.
        _numbers(frame, numbers, types) * np.uint64(0x9E3779B97F4A7C15)
        + row_hashes(matrix[:, kept])
        for frame, matrix in zip(frames, (X, Z), strict=True)
    )
    return np.isin(ours, theirs)


def _coarser(one: Any, other: Any) -> np.dtype[Any]:
    """Return the type in which two columns of numbers can be compared."""
    found = [getattr(column.dtype, "numpy_dtype", column.dtype) for column in (one, other)]
    floats = [dtype for dtype in found if isinstance(dtype, np.dtype) and dtype.kind == "f"]
    return min([*floats, np.dtype(np.float64)], key=lambda dtype: dtype.itemsize)


def _numbers(
    frame: Any, columns: Sequence[Number], types: Sequence[np.dtype[Any]]
) -> NDArray[np.uint64]:
    """Return a hash of some columns of numbers for each row; all gaps are the same."""
    values = np.empty((len(frame), len(types)))
    for at, (column, dtype) in enumerate(zip(columns, types, strict=True)):
        with np.errstate(over="ignore"):
            values[:, at] = column.read(column_of(frame, column.name)).astype(dtype)
    values[~np.isfinite(values)] = np.nan
    return row_hashes(values)
