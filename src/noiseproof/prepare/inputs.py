"""What a caller may hand over: a path, a table, a matrix, images; with labels or without."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from noiseproof.errors import DataError, ParameterError
from noiseproof.prepare.read import Samples, as_inputs, check_range, read, split_label, tidy


def as_samples(X: Any, y: Any = None, *, labelled: bool = True, **options: Any) -> Samples:
    """Return inputs, and labels where they are wanted, as :class:`Samples`.

    Args:
        X: a path, a DataFrame, an array, a scipy-sparse matrix or a tensor.
        y: the labels, or for a path or a DataFrame the name of their column.
        labelled: whether there have to be labels.
        options: of :func:`~noiseproof.prepare.read.read`, for a path.
    """
    if isinstance(X, (str, PathLike)):
        if y is not None and not isinstance(y, str):
            raise ParameterError("beside a path, expected the name of a column of labels")
        return read(Path(X), y, labelled=labelled, **options)
    given = [n for n in ("embeddings", "encoding") if options.get(n) is not None]
    if given:
        raise ParameterError(f"expected {given[0]} beside a path alone")
    if y is not None and not hasattr(y, "__len__"):
        y = list(y)
    if y is None and labelled:
        raise ParameterError("expected labels: fit(X, y), or the name of their column")
    if hasattr(X, "columns"):
        return _frame(X, y, labelled)
    inputs = _array(X)
    if y is not None and len(y) != inputs.shape[0]:
        raise DataError(f"{inputs.shape[0]} rows but {len(y)} labels")
    return Samples("the data", inputs, y)


def _frame(frame: Any, y: Any, labelled: bool) -> Samples:
    frame = tidy(frame, "the table")
    if not isinstance(y, str):
        if y is not None and len(y) != len(frame):
            raise DataError(f"{len(frame)} rows but {len(y)} labels")
        return Samples("the table", frame, y)
    if y not in frame.columns and not labelled:
        return Samples("the table", frame)
    return Samples("the table", *split_label(frame, y, "the table"))


def _array(X: Any) -> Any:
    if sparse.issparse(X):
        return _sparse(X)
    if hasattr(X, "detach"):
        X = X.detach().cpu().numpy()
    array = rectangular(X)
    if array.dtype == object and array.ndim == 2:
        array = _as_numbers(array)
    inputs = as_inputs(array, "X")
    if len(inputs) == 0:
        raise DataError("X: there are no rows")
    return inputs


def _sparse(X: Any) -> Any:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(f"X: expected a sparse matrix of numbers (N, d), got {X.dtype} {X.shape}")
    if X.shape[0] == 0:
        raise DataError("X: there are no rows")
    X = X.tocsr()
    check_range(X, "X")
    if not np.isfinite(X.data).all():
        missing = int((~np.isfinite(X.data)).sum())
        raise DataError(
            f"X: {missing} values are missing or infinite, which sparse ones may not be"
        )
    return X


def _as_numbers(array: Any) -> Any:
    """Return objects, such as None among numbers, as floats where they are."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return array


def rectangular(X: Any) -> Any:
    """Return rows as an array; rows of different lengths are an error that names two."""
    try:
        return np.asarray(X)
    except ValueError:
        raise DataError(f"X: {_ragged(X)}") from None


def _ragged(X: Any) -> str:
    lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
    other = next((at for at, length in enumerate(lengths) if length != lengths[0]), None)
    if other is None:
        return "expected numbers (N, d), got rows of lists of different lengths"
    return (
        f"row 0 has {lengths[0]} values, row {other} has {lengths[other]}; expected as many in each"
    )
