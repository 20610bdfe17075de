"""Read which rows a person has checked, and their true labels."""

from collections import Counter
from collections.abc import Sequence
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataError, did_you_mean
from noiseproof.files.spreadsheet import unescape
from noiseproof.fitting.review.reviewed import read_text
from noiseproof.prepare.classes import MISSING, Classes, Codes, one_column
from noiseproof.progress import counted
from noiseproof.tables.first_line import separator_of
from noiseproof.tables.frames import as_frame, is_foreign

ROW, LABEL = "row", "label"


class Trusted(NamedTuple):
    """Training rows, numbered as they are trained on, and their true classes."""

    rows: NDArray[np.int64]
    codes: Codes


def trusted_rows(trusted: Any, names: Sequence[int | str], classes: Classes) -> Trusted:
    """Return the checked rows.

    Args:
        trusted: a CSV file or a DataFrame with the columns ``row`` and ``label``, or a pair of rows
            and labels. Rows are named as in suspect_rows.csv: numbers from 0, or paths of images.
        names: the name of each training row.
        classes: the classes of the training labels.
    """
    where, rows, labels = _columns(trusted)
    codes = classes.codes(labels, where)
    at = {str(name): i for i, name in enumerate(names)}
    named = [_name(row) for row in rows]
    if "" in named:
        raise DataError(f"{where}: a row has no number or name; leave it out, with its label")
    texts = [text if text in at else text.strip() for text in named]
    for text in texts:
        if text not in at:
            raise DataError(
                f"{where}: no labelled row is called {text!r}{did_you_mean(text, at)}; "
                "rows are named as in suspect_rows.csv"
            )
    places = np.array([at[text] for text in texts], dtype=np.int64)
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise DataError(f"{where}: row {twice!r} occurs twice")
    given = codes != MISSING
    if not given.any():
        raise DataError(f"{where}: no row has a label")
    return Trusted(places[given], codes[given])


def _columns(trusted: Any) -> tuple[str, Sequence[Any], Any]:
    """Return where the rows come from, their names and their labels."""
    where = "trusted"
    if isinstance(trusted, (str, PathLike)):
        where = str(trusted)
        trusted = _table(where)
    if is_foreign(trusted):
        trusted = as_frame(trusted)
    if hasattr(trusted, "columns"):
        if "fingerprint" in trusted.columns:  # its doubtful rows were not drawn at random
            raise DataError(f"{where}: was exported by the review page; give it as --reviewed")
        missing = next((name for name in (ROW, LABEL) if name not in trusted.columns), None)
        if missing is not None:
            raise DataError(f"{where}: no column is called {missing!r}; expected row and label")
        return where, list(trusted[ROW]), trusted[LABEL].reset_index(drop=True)
    try:
        rows, labels = trusted
    except (TypeError, ValueError):
        raise DataError(f"{where}: expected a file, a DataFrame, or (rows, labels)") from None
    rows, labels = one_column(rows, where), one_column(labels, where)
    try:
        rows, labels = list(rows), labels if hasattr(labels, "__len__") else list(labels)
    except TypeError:
        raise DataError(f"{where}: expected rows and labels, got {trusted!r}") from None
    if len(rows) != len(labels):
        raise DataError(f"{where}: {counted(len(rows), 'row')} but {counted(len(labels), 'label')}")
    return where, rows, labels


def _name(row: Any) -> str:
    """Return the name of a row: 3 for 3.0, and for a number in a tensor; "" for a missing one."""
    import pandas as pd

    if row is np.ma.masked:  # as a number it would be 0
        return ""
    row = row.item() if hasattr(row, "item") else row
    row = row.as_py() if hasattr(row, "as_py") else row
    if pd.api.types.is_scalar(row) and pd.isna(row):
        return ""
    return str(int(row) if isinstance(row, float) and row.is_integer() else row)


def _table(path: str) -> Any:
    """Return the file as texts; labels are read as they are written."""
    import pandas as pd

    text = read_text(Path(path))
    try:
        table = pd.read_csv(
            StringIO(text), sep=separator_of(text), dtype=str, keep_default_na=False
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        raise DataError(f"{path}: expected a CSV file with the columns row and label") from None
    if not isinstance(table.index, pd.RangeIndex):
        raise DataError(f"{path}: rows have more fields than there are names of columns")
    return table.map(unescape)
