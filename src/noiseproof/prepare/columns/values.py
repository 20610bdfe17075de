"""The values of a column as numbers, as texts, as days."""

from collections.abc import Collection
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.prepare.forms import LARGEST
from noiseproof.tables.gaps import NO_NUMBER, NO_VALUE

#: Numbers with a sign of money or per cent, or with something between the thousands.
DECORATED = (
    r"[(+\-\u2212]?[$€£¥₹]?\s?[+\-\u2212]?(\d+|\d{1,3}([,.'’_\s]\d{3})+)([.,]\d+)?-?\s?"
    r"[%‰$€£¥₹]?\)?"
)

#: Integers from here on have more decimal digits than Python writes.
LONGEST = 10**4000
#: Kinds of objects, as pandas infers them, of which equal ones are written alike.
WRITTEN_ALIKE = ("string", "bytes", "integer", "floating", "boolean", "date", "empty")
#: A column of these words and gaps is numbers, as it is without gaps.
TRUTH = {"true": 1.0, "false": 0.0}


def as_numbers(column: Any, truth: bool = True) -> NDArray[np.float64]:
    """Return a column as new floats: NaN for what is not a number, infinite beyond LARGEST.

    Args:
        column: of any type.
        truth: whether true and false are 1 and 0; otherwise they are no numbers.
    """
    import pandas as pd

    types = pd.api.types
    if types.is_timedelta64_dtype(column):
        return np.asarray(column.dt.total_seconds(), dtype=np.float64).copy()
    if types.is_datetime64_any_dtype(column) or types.is_complex_dtype(column):
        return np.full(len(column), np.nan)  # pandas would count nanoseconds, or drop a part
    if types.is_bool_dtype(column):
        column = column.astype("float64") if truth else pd.Series(np.full(len(column), np.nan))
    elif not types.is_numeric_dtype(column):
        texts = column.astype(object).map(_bare)
        column = pd.to_numeric(texts, errors="coerce")
        if truth and column.isna().any():
            words = texts[column.isna()].astype(str).str.lower().map(TRUTH)
            column = column.fillna(words)
    numbers = np.array(column.to_numpy(np.float64, na_value=np.nan))
    numbers[np.abs(numbers) > LARGEST] = np.inf
    return numbers


def _bare(value: Any) -> Any:
    """Return what pandas reads as a number only where it is one.

    Texts lose the spaces around them, of which pandas knows ASCII's; booleans, dates and periods
    become the texts that a CSV would have, or pandas would count since 1970; times are in seconds;
    integers that no float holds are infinite.
    """
    import pandas as pd

    if isinstance(value, np.timedelta64 | timedelta):
        return seconds(value)
    if isinstance(value, bool | np.bool_ | date | np.datetime64 | pd.Period):
        return str(value)
    if isinstance(value, int) and abs(value) > LARGEST:
        return np.inf
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text[-1:] == "-" and text[:1].isdigit():  # as SAP writes -104.45
        return f"-{text[:-1]}"
    return text


def seconds(span: Any) -> float:
    """Return a span of time in seconds; pandas' own spans end at 292 years.

    >>> seconds(timedelta(days=365_000)), seconds(np.timedelta64(1500, "ms"))
    (31536000000.0, 1.5)
    """
    if isinstance(span, timedelta):
        return span.total_seconds()
    if np.datetime_data(span.dtype)[0] in "YM":  # in seconds on average
        span = span.astype("timedelta64[s]")
    return float(span / np.timedelta64(1, "s"))


def with_gaps(column: Any) -> Any:
    """Return a column in which blank texts, and words for no value, are gaps, as in a CSV.

    Otherwise a model fitted to a CSV would take the same "" or "NA" of a frame or of a Parquet
    file for a category that it has never seen.

    >>> import pandas as pd
    >>> with_gaps(pd.Series(["red", "", "NA", " ", "?"])).isna().tolist()
    [False, True, True, True, False]
    """
    if column.dtype.kind in "biufcmM":
        return column
    gaps = np.array([_says_nothing(value) for value in column.to_numpy(object)], dtype=bool)
    return column.mask(gaps) if gaps.any() else column


def _says_nothing(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_snan()  # which pandas cannot compare; it knows all other gaps
    return isinstance(value, str) and value.strip() in NO_VALUE


def is_gap(column: Any, words: Collection[str] = ()) -> NDArray[np.bool_]:
    """Return where a column of numbers or dates has no value, or a mark such as ? for none.

    Args:
        column: of any type.
        words: what else stands for no value in this column.

    >>> import pandas as pd
    >>> is_gap(pd.Series(["1.5", " ?", None, "n/a", "much"])).tolist()
    [False, True, True, True, False]
    """
    gap = column.isna().to_numpy(bool)
    if column.dtype.kind in "biufcmM":
        return np.asarray(gap)
    marks = [
        isinstance(v, str) and (v.strip().lower() in NO_NUMBER or v.strip() in words)
        for v in column.to_numpy(object)
    ]
    return np.asarray(gap | np.array(marks, dtype=bool))


def as_text(column: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Return the different texts of a column, and for each row which of them it is (-1: missing).

    Spaces at the ends are taken off. Values that are equal and written differently, such as 1 and
    true, are different texts.
    """
    import pandas as pd

    if column.dtype == object and pd.api.types.infer_dtype(column) not in WRITTEN_ALIKE:
        column = column.map(text_of, na_action="ignore")
    codes, values = pd.factorize(column)
    texts = [text_of(value).strip() for value in values]
    different = list(dict.fromkeys(texts))
    if len(different) < len(texts):
        place = {text: i for i, text in enumerate(different)}
        codes = np.append([place[text] for text in texts], -1)[codes]
    return np.asarray(codes, dtype=np.int64), different


def text_of(value: Any) -> str:
    """Return a value as text: bytes as what they encode, 3 for 3.0, others as Python writes them.

    >>> [text_of(value) for value in (3, 3.0, 3.5, "3.0", b"three", [3.0], np.arange(2))]
    ['3', '3', '3.5', '3.0', 'three', '[3.0]', '[0, 1]']
    """
    if isinstance(value, str):
        return str.__str__(value)  # an enumeration of texts would write its own name
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, np.ndarray):
        return str(value.tolist())  # numpy would leave out the middle
    number = isinstance(value, float | np.floating | Decimal) and np.isfinite(float(value))
    if number and value == int(value):
        value = int(value)
    return hex(value) if isinstance(value, int) and abs(value) >= LONGEST else str(value)


def hashable(value: Any) -> Any:
    """Return a list, an array or a dict as text; other values as they are."""
    if isinstance(value, set):
        return repr(sorted(map(repr, value)))  # the order of a set is chance
    try:
        hash(value)
        return value
    except TypeError:
        return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def is_bytes(column: Any) -> NDArray[np.bool_]:
    """Return where a column holds bytes that are not UTF-8."""
    return np.array([isinstance(v, bytes) and not _is_utf8(v) for v in column], dtype=bool)


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
