"""Blank lines in a text table of one column: rows whose only field is empty."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: The bytes at the end of a file that are kept, to count the blank lines there.
TAIL = 1 << 16


LINE_END = re.compile(r"\r\n|\r|\n")


def blank_above(text: str) -> int:
    """Return how many blank lines a text begins with."""
    return len(LINE_END.findall(text[: len(text) - len(text.lstrip())]))


def blank_below(text: str) -> int:
    """Return how many blank lines a text ends with, after the line that is not.

    >>> blank_below("x\\n1"), blank_below("x\\n1\\n"), blank_below("x\\n1\\r\\n\\r\\n  ")
    (0, 0, 2)
    """
    _, *lines = LINE_END.split(text[len(text.rstrip()) :])
    return len(lines) - (lines[-1:] == [""])


def without_end(
    frames: Iterator["pd.DataFrame"], mark: str, end: Callable[[], str]
) -> Iterator["pd.DataFrame"]:
    """Return the rows of one column without those that are blank lines at the end of the file.

    Args:
        frames: the rows in blocks, of each line one.
        mark: what may be in front of a field.
        end: returns the end of the text, once all of it was read.
    """
    blank, most, empty = 0, 1, None  # how many may be at the end, and one of them
    for frame in frames:
        values = frame.iloc[:, 0].tolist()
        last, most = len(frame), max(most, len(frame))
        while last and _is_blank(values[last - 1], mark):
            last -= 1
        if last:
            yield from _repeated(empty, blank, most)
            yield frame[:last]
            blank = 0
        blank += len(frame) - last
        empty = frame[-1:] if last < len(frame) else empty
    text = end()
    if text.strip():
        yield from _repeated(empty, blank - blank_below(text), most)


def _is_blank(value: Any, mark: str) -> bool:
    return not value.removeprefix(mark).strip() if isinstance(value, str) else value != value


def _repeated(row: Any, times: int, most: int) -> Iterator[Any]:
    """Return a row so many times, in blocks of no more rows than ``most``."""
    for start in range(0, times, most):
        yield row.iloc[np.zeros(min(most, times - start), dtype=np.int64)]
