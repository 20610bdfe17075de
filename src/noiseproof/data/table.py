"""A user's own table: CSV, TSV or Parquet with a column of labels."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from noiseproof.data.dataset import Dataset
from noiseproof.data.labels import encode
from noiseproof.errors import DataError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = frozenset({".csv", ".tsv", ".parquet", ".pq"})


def read_table(path: str | Path, label: str) -> Dataset:
    """Read the numeric columns as float32 (N, d) and one column as the classes.

    Columns of text are left out; :attr:`Dataset.features` names the ones taken.

    Args:
        path: the file, ``.csv``, ``.tsv``, ``.parquet`` or ``.pq``.
        label: the column of labels, numbers or text.
    """
    path = Path(path)
    frame = read_frame(path)
    if label not in frame.columns:
        columns = [str(column) for column in frame.columns]
        raise DataError(f"{path}: no column {label!r}{did_you_mean(label, columns)}")
    missing = int(frame[label].isna().sum())
    if missing:
        raise DataError(f"{path}: {missing} of {len(frame)} rows have no {label!r}; remove them")
    answers = frame[label].to_numpy()
    codes, classes = encode(answers.astype(str) if answers.dtype.kind == "O" else answers, path)
    numbers = frame.drop(columns=label).select_dtypes(["number", "bool"], exclude="timedelta")
    if numbers.shape[1] == 0:
        raise DataError(f"{path}: no column of numbers beside {label!r}")
    for column, holes in numbers.isna().sum().items():
        if holes:
            raise DataError(f"{path}: column {column!r} has {holes} missing values; fill them")
    return Dataset(
        torch.from_numpy(np.ascontiguousarray(numbers.to_numpy(np.float32))),
        torch.from_numpy(codes),
        classes,
        path.stem,
        features=tuple(str(column) for column in numbers.columns),
    )


def read_frame(path: Path) -> "pd.DataFrame":
    """Read a table file, with every way it can fail as one line."""
    # Imported here because pandas takes half a second that nobody else should pay.
    import pandas as pd

    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pd.read_parquet(path)
        return pd.read_csv(path, sep="\t" if path.suffix.lower() == ".tsv" else ",")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, ValueError, pd.errors.ParserError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{path}: cannot be read as {path.suffix[1:]} ({reason})") from None
