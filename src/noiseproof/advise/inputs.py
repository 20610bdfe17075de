"""What a caller may hand over: a path, a table, a matrix, images; with labels or without."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from noiseproof.advise.table import Samples, as_inputs, read, split_label, tidy
from noiseproof.errors import DataError, ParameterError


def as_samples(X: Any, y: Any = None, *, labelled: bool = True, **options: Any) -> Samples:
    """Return inputs, and labels where they are wanted, as :class:`Samples`.

    Args:
        X: a path, a DataFrame, an array, a scipy-sparse matrix or a tensor.
        y: the labels, or for a path or a DataFrame the name of their column.
        labelled: whether there have to be labels.
        options: of :func:`~noiseproof.advise.table.read`, for a path.
    """
    if isinstance(X, (str, PathLike)):
        if y is not None and not isinstance(y, str):
            raise ParameterError("beside a path, expected the name of a column of labels")
        return read(Path(X), y, labelled=labelled, **options)
    if any(value is not None for name, value in options.items() if name != "progress"):
        raise ParameterError(f"expected {', '.join(options)} beside a path alone")
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
        return X.tocsr()
    if hasattr(X, "detach"):
        X = X.detach().cpu().numpy()
    inputs = as_inputs(np.asarray(X), "X")
    if len(inputs) == 0:
        raise DataError("X: there are no rows")
    return inputs
