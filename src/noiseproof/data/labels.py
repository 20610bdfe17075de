"""Labels as they come in files, turned into 0..K-1 and the names of the classes."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from noiseproof.data.gaps import GAPS
from noiseproof.errors import DataError
from noiseproof.extras import need

Array = npt.NDArray[np.generic]
#: Stands before labels while a table is read, so that pandas finds no gaps among them.
MARK = "="
#: An integer as every program writes it; digits of other scripts would not come back.
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def encode(labels: Array, where: str | Path) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Number the different labels in their sorted order.

    Args:
        labels: integers, booleans, strings, or floats without a fraction, shape (N,).
        where: the file, for the message of an error.

    >>> codes, classes = encode(np.array(["dog", "cat", "dog"]), "pets.csv")
    >>> codes.tolist(), classes
    ([1, 0, 1], ('cat', 'dog'))
    >>> encode(np.array([10, 9, 10]), "numbers.csv")[1]
    ('9', '10')
    """
    if labels.ndim != 1:
        raise DataError(f"{where}: expected one label a sample, got labels of shape {labels.shape}")
    if labels.dtype.kind == "f":
        numbers = labels.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise DataError(
                f"{where}: {int((~np.isfinite(numbers)).sum())} labels are missing or not finite"
            )
        if (numbers % 1 != 0).any():
            fraction = numbers[numbers % 1 != 0][0]
            raise DataError(f"{where}: label {fraction} is a quantity, not a class")
        if (np.abs(numbers) > 2.0**53).any():
            raise DataError(f"{where}: labels beyond 2^53 are not exact as floats; use integers")
        labels = numbers.astype(np.int64)
    elif labels.dtype.kind == "S":
        try:
            labels = np.char.decode(labels.astype(np.bytes_), "utf-8")
        except UnicodeDecodeError:
            raise DataError(f"{where}: labels of bytes that are not UTF-8 text") from None
    elif labels.dtype.kind not in "biuU":
        raise DataError(f"{where}: labels of type {labels.dtype} are not classes")
    values, codes = np.unique(labels, return_inverse=True)
    if len(values) < 2:
        raise DataError(f"{where}: fewer than two classes among {len(labels)} labels")
    return codes.astype(np.int64), tuple(str(value) for value in values.tolist())


def check_range(labels: Array, count: int, where: str | Path) -> None:
    """Refuse labels outside 0..count-1, naming the file."""
    wrong = (labels.astype(np.int64) < 0) | (labels.astype(np.int64) >= count)
    if wrong.any():
        at = int(wrong.argmax())
        raise DataError(
            f"{where}: label {int(labels[at].item())} of sample {at} is out of range 0..{count - 1}"
        )


def label_gaps(texts: Collection[str]) -> set[str]:
    """Return which of some labels are no label.

    Among labels that are numbers, words such as NA and None are gaps; among words only what is
    nothing but spaces is one.

    >>> sorted(label_gaps(["None", "NA", "", "yes"])), sorted(label_gaps(["1", "NA", " "]))
    ([''], [' ', 'NA'])
    """
    need("fit", "pandas")
    import pandas as pd

    words = {text for text in texts if text.strip().lower() in GAPS}
    values = pd.Series(list(set(texts) - words), dtype=object)
    if len(values) and pd.to_numeric(values, errors="coerce").notna().all():
        return words
    return {text for text in words if not text.strip()}


def as_labels(texts: Any) -> Any:
    """Return labels as they are written: integers where all are, and otherwise texts.

    pandas takes words such as NA and None for gaps, and :func:`label_gaps` only some. Only integers
    as every program writes them are taken for integers, so that each label can be written again
    byte for byte.

    >>> import pandas as pd
    >>> as_labels(pd.Series(["None", "NA", "", "yes"])).tolist()
    ['None', 'NA', nan, 'yes']
    >>> as_labels(pd.Series(["1", "NA", "", "900000000000207008"])).tolist()
    [1, <NA>, <NA>, 900000000000207008]
    >>> as_labels(pd.Series(["1E5", "100000", "007", " 1"])).tolist()
    ['1E5', '100000', '007', ' 1']
    """
    need("fit", "pandas")
    import pandas as pd

    different = {str(text) for text in texts.unique()}
    gaps = label_gaps(different)
    values = different - gaps
    if not values or not all(INTEGER.fullmatch(value) for value in values):
        return texts.where(~texts.isin(gaps))
    numbers = {value: int(value) for value in values}
    exact = pd.array([numbers.get(text) for text in texts], dtype="Int64")
    return pd.Series(exact).astype("Int64" if gaps else "int64")
