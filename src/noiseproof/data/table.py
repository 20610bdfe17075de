"""A user's own table: CSV, TSV or Parquet with a column of labels."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from noiseproof.data.dataset import Dataset
from noiseproof.data.labels import encode
from noiseproof.data.single import as_float32
from noiseproof.errors import DataError, did_you_mean
from noiseproof.extras import need
from noiseproof.memory import Budget
from noiseproof.progress import SILENT
from noiseproof.tables.labels import repeated
from noiseproof.tables.read import checked_size, read_frame


def read_table(path: str | Path, label: str) -> Dataset:
    """Read the numeric columns as float32 (N, d) and one column as the classes.

    Columns of text are left out; :attr:`Dataset.features` names the ones taken.

    Args:
        path: the file, ``.csv``, ``.tsv`` (either also ``.gz``), ``.parquet`` or ``.pq``.
        label: the column of labels, numbers or text.
    """
    need("fit", "pandas")
    from pandas.api.types import infer_dtype

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
    objects = [name for name in inputs if infer_dtype(inputs[name]) in ("boolean", "decimal")]
    inputs = inputs.astype(dict.fromkeys(objects, "float64"))  # as those that have types
    numbers = inputs.select_dtypes(["number", "bool"], exclude="timedelta")
    if numbers.shape[1] == 0:
        raise DataError(f"{path}: no column of numbers beside {label!r}")
    for column, holes in numbers.isna().sum().items():
        if holes:
            raise DataError(f"{path}: column {column!r} has {holes} missing values; fill them")
    arrays = [_plain(numbers[name]) for name in numbers.columns]
    return Dataset(
        as_float32(arrays, list(numbers.columns), len(numbers), path),
        torch.from_numpy(codes),
        classes,
        path.stem,
        features=tuple(str(column) for column in numbers.columns),
    )


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
