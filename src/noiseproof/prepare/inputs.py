"""What a caller may hand over: a path, a table, a matrix, images; with labels or without."""

import re
import warnings
from dataclasses import replace
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from noiseproof.errors import DataError, DataWarning, ParameterError
from noiseproof.prepare.classes import one_column
from noiseproof.prepare.columns.values import LONGEST, as_text, with_gaps
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.formats.table_files import column_name, split_label, tidy
from noiseproof.prepare.forms import TOO_LARGE, as_inputs, blurred, canonical, check_range, plain
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.pictures import encode_array
from noiseproof.prepare.read import read
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, counted
from noiseproof.tables.frames import as_column, as_frame, is_foreign, with_columns
from noiseproof.tables.labels import repeated

HALF = re.compile("[\ud800-\udfff]")


def as_samples(X: Any, y: Any = None, *, labelled: bool = True, **options: Any) -> Samples:
    """Return inputs, and labels where they are wanted, as :class:`Samples`.

    Args:
        X: a path, a DataFrame, an array, masked or not, a sparse matrix, a tensor or lists.
        y: the labels, or for a path or a DataFrame the name of their column.
        labelled: whether there have to be labels.
        options: of :class:`~noiseproof.prepare.formats.reading.Reading`, for a path, and
            ``progress``; ``encoder`` for images in memory too.
    """
    if isinstance(X, (str, PathLike)):
        if y is not None and not isinstance(y, str):
            raise ParameterError("beside a path, expected the name of a column of labels")
        progress = options.pop("progress", SILENT)
        return read(Path(X), y, Reading(**options), labelled=labelled, progress=progress)
    given = [n for n in ("embeddings", "encoding") if options.get(n) is not None]
    if given:
        raise ParameterError(f"{given[0]}: expected beside a path alone")
    y = _sized(one_column(y, "the data"))
    if y is None and labelled:
        raise ParameterError("expected labels: fit(X, y), or the name of their column")
    if is_foreign(X):
        X = as_frame(X)
    if hasattr(X, "columns"):
        return _frame(X, y, labelled)
    if hasattr(X, "read"):
        raise ParameterError("X: an open file; give its path, or a table that was read from it")
    X = plain(X)
    inputs = _array(X)
    if y is not None and len(y) != inputs.shape[0]:
        raise DataError(f"{counted(inputs.shape[0], 'row')} but {counted(len(y), 'label')}")
    samples = Samples("the data", inputs, y, doubts=blurred(X))
    return encode_array(samples, options.get("encoder"), options.get("progress", SILENT))


def label_name(X: Any, y: Any) -> Any:
    """Return what a table's column of labels is called once it is read, if y is its name.

    Columns may have numbers, or the names of several levels.
    """
    if isinstance(y, bool) or not isinstance(y, int | float | np.number | tuple):
        return y
    return column_name(y) if y in list(getattr(X, "columns", ())) else y


def group_name(X: Any, group: Any) -> Any:
    """Return the name of the table's column of groups, if groups are its name or its values.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"patient": [1, 1, 2], "age": [50, 51, 60]})
    >>> group_name(frame, frame["patient"])
    'patient'
    """
    # Of a table, that would be its column called so.
    name = None if hasattr(group, "columns") else getattr(group, "name", None)
    if name is not None and name in list(getattr(X, "columns", ())) and len(group) == len(X):
        return column_name(name) if same_values(X[name], group) else group
    return label_name(X, group)


def _sized(y: Any) -> Any:
    """Return labels that have a length, such as those of a generator."""
    try:
        if y is not None:
            len(y)
        return y
    except TypeError:
        pass
    try:
        return list(y)
    except TypeError:
        raise DataError(f"expected one label a row, got {y!r}") from None


def warn_of_another_order(frame: Any, y: Any, what: str = "labels") -> None:
    """Warn where labels have the index of the table in another order: they may be of other rows."""
    import pandas as pd

    if not (isinstance(frame, pd.DataFrame) and isinstance(y, pd.Series | pd.DataFrame)):
        return
    rows, labels = frame.index, y.index
    if len(rows) != len(labels) or not rows.is_unique or rows.equals(labels):
        return
    if rows.isin(labels).all():
        line = f"rows and {what} have the same index in different orders; they go by position"
        warnings.warn(line, DataWarning, stacklevel=2)


def warn_of_other_numbers(X: Any, what: str) -> None:
    """Warn where rows are named by number, and the numbers of the table's index are others."""
    import pandas as pd

    if not isinstance(X, pd.DataFrame) or X.index.dtype.kind not in "iu":
        return
    if not np.array_equal(X.index, np.arange(len(X))):
        line = f"{what}: rows are counted from 0, which the index of the table does not do"
        warnings.warn(line, DataWarning, stacklevel=2)


def _frame(frame: Any, y: Any, labelled: bool) -> Samples:
    samples = _split(frame, y, labelled)
    inputs = samples.inputs
    broken = {name: inputs[name].map(_valid) for name in inputs if _is_broken(inputs[name])}
    return replace(samples, inputs=with_columns(inputs, broken)) if broken else samples


def _is_broken(column: Any) -> bool:
    """Return whether a column has values that pandas cannot compare."""
    return column.dtype == object and any(value is not _valid(value) for value in column)


def _valid(value: Any) -> Any:
    """Return texts without half characters (lone surrogates), and numbers that can be written."""
    if isinstance(value, int) and abs(value) >= LONGEST:
        return np.inf
    if isinstance(value, Decimal) and value.is_snan():
        return None
    if not isinstance(value, str) or value.isascii() or not HALF.search(value):
        return value
    return HALF.sub("\ufffd", value)


def _split(frame: Any, y: Any, labelled: bool) -> Samples:
    warn_of_another_order(frame, y)
    frame = tidy(frame, "the table")
    if len(frame) == 0:
        raise DataError("the table: there are no rows")
    if not isinstance(y, str):
        if y is not None and len(y) != len(frame):
            raise DataError(f"{counted(len(frame), 'row')} but {counted(len(y), 'label')}")
        return _beside(frame, y)
    if y not in frame.columns and not labelled:
        return Samples("the table", frame)
    inputs, labels, notes = split_label(frame, y, "the table")
    return Samples("the table", inputs, labels, notes=notes)


def _beside(frame: Any, y: Any) -> Samples:
    """Return a table and labels that stand beside it; ``fit(frame, frame["y"])`` has them twice."""
    name = getattr(y, "name", None)
    name = None if name is None else column_name(name)
    if name is None or name not in frame.columns or frame.shape[1] == 1:
        return Samples("the table", frame, y)
    if not same_values(frame[name], y):
        return Samples("the table", frame, y)
    again = [name, *repeated(frame.columns, name)]
    if len(again) == frame.shape[1]:
        raise DataError(f"the table: no column beside {name!r}")
    note = f"left out, labels once more: {shortlist(again)}"
    return Samples("the table", frame.drop(columns=again), y, notes=(note,))


def same_values(one: Any, other: Any) -> bool:
    """Return whether two columns have the same values, whatever their types and indexes."""
    import pandas as pd

    read = [
        as_text(with_gaps(pd.Series(list(as_column(column)), dtype=object)))
        for column in (one, other)
    ]
    (first, names), (second, others) = read
    return names == others and np.array_equal(first, second)


def _array(X: Any) -> Any:
    if sparse.issparse(X):
        return _sparse(X)
    if X.dtype == object and X.ndim == 2:
        X = _as_numbers(X)
    inputs = as_inputs(X, "X")
    if len(inputs) == 0:
        raise DataError("X: there are no rows")
    return inputs


def _sparse(X: Any) -> Any:
    if X.dtype.kind not in "biuf":
        raise DataError(f"X: expected a sparse matrix of numbers (N, d), got {X.dtype} {X.shape}")
    if X.shape[0] == 0:
        raise DataError("X: there are no rows")
    check_range(X, "X")
    missing = int((~np.isfinite(X.data)).sum())
    if missing:
        raise DataError(
            f"X: {missing} values are missing or infinite, which sparse ones may not be"
        )
    # As dense rows are: columns that float32 makes constant, and values it makes 0, are no others.
    return X if X.dtype == np.float32 else canonical(X.astype(np.float32).tocsr())


def _as_numbers(array: Any) -> Any:
    """Return objects, such as None among numbers, as floats where they are."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return array
    except OverflowError:
        raise DataError(TOO_LARGE) from None
