"""The rows of a text table as they are written: how many fields each has, and how its line ends."""

import csv
import io
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TextIO

from noiseproof.errors import DataError
from noiseproof.tables.watched import LONGEST

#: The rest of a field that a quote in an earlier line has opened.
CLOSING = re.compile(r'(?:[^"]++|"")*+"')


def width_of(text: str, separator: str, columns: int) -> int:
    """Return how many fields the rows of a table have, by the first one.

    It is one for each column, unless the rows end in a separator and the names do not, or the other
    way round.

    Args:
        text: the beginning of the file.
        separator: of the columns.
        columns: how many there are, with that of the names of rows.
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:  # a row below the first shows that it is there to its end
        names, row, _ = islice((row for row in rows if is_written(row)), 3)
    except (csv.Error, ValueError):  # a field too long for this module; a table of one row
        return columns
    ends = (len(row) == columns + 1 and not row[-1], len(row) == columns - 1 and not names[-1])
    return len(row) if any(ends) else columns


def is_written(row: list[str]) -> bool:
    """Return whether a row is no blank line."""
    return len(row) > 1 or bool(row and row[0].strip())


def check_records(lines: TextIO, separator: str, width: int, path: Path) -> None:
    """Raise DataError where a row has too few fields, or its line ends in the middle of it.

    pandas fills short rows up with gaps at the end, though it may be another field that is missing.
    It also ends a row at a carriage return and at a line feed alike: where lines end in one of
    them, the other is part of a text, and would tear the row.

    Args:
        lines: the text of the file, with the line ends that it has.
        separator: of the columns.
        width: how many fields a row has.
        path: the file, for messages.
    """
    above, fed = 0, False  # the last line that is not blank, and whether a line feed ends it
    feeds = None  # whether line feeds end the lines: the first one tells
    blank = 0  # the line above, if it is blank and ends in a carriage return
    for line, fields, start, end in _records(lines, separator, width):
        if fields == 1 and not end.strip(" \t\r\n"):
            if above and not fed and end == "\r\n" and width == 1:
                raise DataError(
                    f"{path}: lines end in two carriage returns and a line feed, so that every "
                    "second one seems blank; save it with one line end per line"
                )
            blank = line if above and end[-1] == "\r" else 0
            fed = fed or end[-1] == "\n"  # \r\r\n ends a line, too
            continue
        if above:
            feeds = fed if feeds is None else feeds
            if blank and width > 1 and start.startswith(separator):
                raise DataError(
                    f"{path}: line {blank} is blank and ends in a carriage return: the row below "
                    "it would be misread; remove it, or end all lines in line feeds"
                )
            is_short, other = fields < width, "\r" if feeds else "\n"
            if fed != feeds or (is_short and end[-1] == other):
                what, torn = ("carriage return" if feeds else "line feed"), (above, line)
                raise DataError(
                    f"{path}: a {what} in the middle of line {torn[fed == feeds]} would end the "
                    'row; put "..." around the field, or end all lines alike'
                )
            if is_short:
                raise DataError(
                    f"{path}: line {line} has too few fields, {fields} of {width}; add the missing "
                    f"separators ({separator!r}), also where only the last fields are empty (Excel "
                    "leaves these out, unless the last column has no gaps)"
                )
        above, fed, blank = line, end[-1] == "\n", 0


def _records(lines: TextIO, separator: str, width: int) -> Iterator[tuple[int, int, str, str]]:
    """Return for each row: the number of its last line, its fields, its first and last line."""
    opening = rf'(?<![^{separator}])"'  # a quote is one at the beginning of a field alone
    opened, quoted = re.compile(opening), re.compile(opening + CLOSING.pattern)
    field = rf'(?:"[^"]*+"|[^"{separator}]*+)'
    usual = re.compile(rf"{field}(?:{separator}{field}){{{width - 1}}}\s*+")  # a shortcut
    # Whether a line begins in quotes, the separators above it, and the first line of its row.
    is_open, before, first = False, 0, ""
    for number, line in enumerate(iter(partial(lines.readline, LONGEST), ""), start=1):
        if is_open:
            closed = CLOSING.match(line)
            if closed is None:
                continue
            line = "q" + line[closed.end() :]
        elif '"' not in line:
            yield number, line.count(separator) + 1, line, line
            continue
        elif usual.fullmatch(line):
            yield number, width, line, line
            continue
        else:
            first = line
        line = quoted.sub("q", line)
        found = opened.search(line)
        before += line.count(separator, 0, found.start() if found else len(line))
        is_open = found is not None
        if not is_open:
            yield number, before + 1, first, line
            before = 0
