"""Texts in a CSV that a spreadsheet must not run as formulas."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from noiseproof.extras import need

#: How a formula begins in some spreadsheet; full-width signs are signs in some countries.
FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def escape(text: str) -> str:
    """Return a text that no spreadsheet runs: an apostrophe before what could be a formula.

    Numbers are left as they are. :func:`unescape` gives the text back.

    >>> escape("=HYPERLINK(A1)"), escape("'=1"), escape("-1"), escape("cat")
    ("'=HYPERLINK(A1)", "''=1", '-1', 'cat')
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unescape(text: str) -> str:
    """Undo :func:`escape`, in a file that noiseproof wrote and somebody may have saved again.

    >>> unescape("'=HYPERLINK(A1)"), unescape("'cat'")
    ('=HYPERLINK(A1)', "'cat'")
    """
    return text[1:] if text[:1] == "'" and FORMULA.match(text) else text


def write_csv(frame: Any, path: Path) -> None:
    """Write a table whose texts no spreadsheet runs; what UTF-8 cannot hold is written escaped."""
    safe = escaped(frame)
    how = quoting(value for name in safe for value in (name, *safe[name]))
    safe.to_csv(path, index=False, quoting=how, errors="backslashreplace")


def quoting(values: Iterable[Any]) -> Literal[0, 2]:
    """Return how to quote the fields of a CSV whose lines end in a line feed alone.

    Left alone, Python writes a carriage return bare, and readers take it for the end of a line.
    """
    bare = any(isinstance(value, str) and "\r" in value for value in values)
    return csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL


def escaped(frame: Any) -> Any:
    """Return a table whose texts no spreadsheet runs."""
    need("fit", "pandas")
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    texts = [c for c in frame if not is_numeric_dtype(frame[c]) and not is_bool_dtype(frame[c])]
    return frame.assign(
        **{c: [escape(v) if isinstance(v, str) else v for v in frame[c]] for c in texts}
    )
