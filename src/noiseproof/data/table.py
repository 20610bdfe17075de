"""A user's own table: CSV, TSV or Parquet with a column of labels."""

import warnings
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
import torch

from noiseproof.data.dataset import Dataset
from noiseproof.data.labels import encode
from noiseproof.data.single import as_float32
from noiseproof.errors import DataError, DataWarning, did_you_mean
from noiseproof.extras import need
from noiseproof.memory import Budget
from noiseproof.progress import SILENT
from noiseproof.tables.gaps import NO_NUMBER
from noiseproof.tables.labels import repeated
from noiseproof.tables.read import checked_size, read_frame

#: Columns that a warning names at most.
NAMED = 5
#: What is read as numbers where a column has nothing else.
TRUTH = ("true", "false")


def read_table(path: str | Path, label: str) -> Dataset:
    """Read the numeric columns as float32 (N, d) and one column as the classes.

    Other columns are left out, and a warning names them. A gap in a numeric column is an error, a
    field of blanks or a mark such as ``?`` is a gap too.

    Args:
        path: the file, ``.csv``, ``.tsv`` (either also ``.gz``), ``.parquet`` or ``.pq``.
        label: the column of labels, numbers or text.
    """
    need("fit", "pandas")
    path = Path(path)
    size = checked_size(path, [path])
    frame = read_frame(path, label, hears=Budget(path, size, SILENT.update).hear).frame
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{path}: two columns are called {twice!r}")
    if label not in frame.columns:
        columns = [str(column) for column in frame.columns]
        raise DataError(f"{path}: no column {label!r}{did_you_mean(label, columns)}")
    missing = int(frame[label].isna().sum())
    if missing:
        raise DataError(f"{path}: {missing} of {len(frame)} rows have no {label!r}; remove them")
    codes, classes = encode(_answers(frame[label], path), path)
    inputs = frame.drop(columns=[label, *repeated(frame.columns, label)])
    numbers = _numbers(inputs, label, path)
    arrays = [_plain(numbers[name]) for name in numbers.columns]
    return Dataset(
        as_float32(arrays, list(numbers.columns), len(numbers), path),
        torch.from_numpy(codes),
        classes,
        path.stem,
        features=tuple(str(column) for column in numbers.columns),
    )


def _numbers(inputs: Any, label: str, where: Path) -> Any:
    """Return the columns of numbers, which have no gaps; name the others in a warning."""
    from pandas.api.types import infer_dtype

    objects = [name for name in inputs if infer_dtype(inputs[name]) in ("boolean", "decimal")]
    inputs = inputs.astype(dict.fromkeys(objects, "float64"))  # as those that have types
    numbers = inputs.select_dtypes(["number", "bool"], exclude="timedelta")
    left = [name for name in inputs if name not in numbers]
    holes = {name: int(numbers[name].isna().sum()) for name in numbers}
    for name, count in (holes | {name: _marked(inputs[name]) for name in left}).items():
        if count:
            raise DataError(f"{where}: column {name!r} has {count} missing values; fill them")
    if numbers.shape[1] == 0:
        raise DataError(f"{where}: no column of numbers beside {label!r}")
    if left:
        names = ", ".join(repr(str(name)) for name in left[:NAMED])
        more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
        what = f"{where}: not numeric, and left out: {names}{more}"
        warnings.warn(what, DataWarning, stacklevel=3)
    return numbers


def _marked(column: Any) -> int:
    """Return how many values are missing where gaps alone make a column of numbers one of text.

    >>> import pandas as pd
    >>> [_marked(pd.Series(v)) for v in (["1.5", " ", None, "?"], ["1.5", "2"], ["?", "much"])]
    [3, 0, 0]
    """
    import pandas as pd

    values = column.dropna().to_numpy(object)
    if not all(isinstance(value, str | Number | np.bool_) for value in values):
        return 0  # dates, lists, tables
    texts = pd.Series([str(value).strip().lower() for value in values], dtype=object)
    known = texts[~texts.isin(NO_NUMBER)]
    numbers = pd.to_numeric(known, errors="coerce").notna().all() or known.isin(TRUTH).all()
    return len(column) - len(known) if len(known) and numbers else 0


def _plain(column: Any) -> Any:
    """Return a column of numbers without gaps as an array of numpy's own types."""
    found = column.to_numpy()
    return found if found.dtype.kind in "biuf" else column.to_numpy(np.float64)


def _answers(column: Any, where: Path) -> Any:
    """Return labels as an array: of text, but quantities as numbers, so that they are refused."""
    import pandas as pd

    answers = column.to_numpy()
    if answers.dtype.kind != "O":
        return answers
    try:
        numbers = pd.to_numeric(pd.Series(answers), errors="coerce")
        fractions = numbers.notna().all() and (numbers % 1 != 0).any()
        return numbers.to_numpy(float) if fractions else answers.astype(str)
    except (ValueError, TypeError):  # lists, tables, bytes that are no text
        kind = type(answers[0]).__name__
        raise DataError(f"{where}: labels of type {kind} are not classes") from None
