"""Rows of a text table that begin with a name for which there is no column, as R writes them."""

import csv
import io
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from noiseproof.errors import DataError
from noiseproof.progress import counted
from noiseproof.tables.records import is_written

if TYPE_CHECKING:
    import pandas as pd

#: How R writes a table of one column.
NAMED_ROW = re.compile(r'\s*+[^\r\n]++\r?\n"[^"\r\n]*"[,;\t]')
#: Below the first line, a row that begins with a field in quotes.
QUOTED_ROW = re.compile(r'\s*+[^\r\n]++[\r\n]++"')
#: Names are compared with this many before them, at most.
REMEMBERED = 1_000_000

MORE = "rows have one field more than there are names of columns"
WAY_OUT = 'name all columns in the first line, or put "..." around fields that contain separators'


def check_ends(text: str, separator: str, path: Path) -> None:
    """Raise DataError where rows may begin with a number that R gave them, or end in nothing.

    Below the names of two columns, ``"1",0.5,`` is row 1 with an empty last field, or one of the
    rows that all end in a comma.
    """
    if not QUOTED_ROW.match(text):
        return
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        names, row = islice(filter(None, lines), 2)
    except (csv.Error, ValueError):  # a field too long for this module; one line
        return
    if len(row) == len(names) + 1 and row[0] == "1" and not row[-1]:
        raise DataError(
            f"{path}: {MORE}: either the first or the last has no name; name all columns in the "
            "first line"
        )


def check_first_names(text: str, first: "pd.DataFrame", separator: str, path: Path) -> None:
    """Raise DataError if what the first rows begin with may be something else than their names.

    Args:
        text: the beginning of the file.
        first: its first rows, indexed by their names.
        separator: of the columns.
        path: the file, for messages.
    """
    if len(first.columns) == 1 and separator != "\t" and not NAMED_ROW.match(text):
        # "Good film, really" would lose its start.
        raise DataError(
            f'{path}: one column, but rows of several fields; put "..." around each field'
        )
    if QUOTED_ROW.match(text) or list(first.index) == [1, 2][: len(first)]:
        return
    # R may leave out the quotes. In texts there are commas too, but hardly any tabs.
    if separator != "\t" or (first.index.dtype.kind in "iuf" and first.index.notna().all()):
        raise DataError(f"{path}: {MORE}; {WAY_OUT}")


def check_all_names(lines: Iterable[str], separator: str, columns: int, path: Path) -> None:
    """Raise DataError unless every row begins with a name that no other row has.

    Otherwise the first row alone may have a field too many, or every row has one in its middle: a
    text with a comma in it, and no quotes.

    Args:
        lines: the text of the file.
        separator: of the columns.
        columns: how many have a name.
        path: the file, for messages.
    """
    rows = csv.reader(lines, delimiter=separator)
    written = filter(is_written, rows)
    line_of: dict[str, int] = {}
    try:
        next(written, None)  # the names of the columns
        for row in written:
            line = rows.line_num
            if len(row) != columns + 1:
                raise DataError(
                    f"{path}: {counted(columns, 'column name')}, {columns + 1} fields in the first "
                    f"row, and {len(row)} in line {line}; {WAY_OUT}"
                )
            if (first := line_of.setdefault(row[0], line)) != line:
                raise DataError(
                    f"{path}: {MORE}, and the first is no name of a row: lines {first} and {line} "
                    f"both have {row[0][:40]!r}; {WAY_OUT}"
                )
            if len(line_of) > REMEMBERED:
                del line_of[next(iter(line_of))]
    except csv.Error:  # a field too long for this module
        return
