"""The first line of a text table: what separates its columns, and that it is one."""

import re
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from noiseproof.errors import DataError
from noiseproof.tables.row_names import NAMED_ROW

#: What may separate columns.
MARKS = ",;\t"
#: The names of the columns take no more bytes than this.
HEADER = 1 << 26
#: A table has no more columns than this, and of these no more have one name.
COLUMNS, ALIKE = 100_000, 1_000


def read_head(file: BinaryIO, path: Path) -> bytes:
    """Return the beginning of a file, with all of its first line.

    Raises:
        DataError: the line does not end; pandas would take a dozen times as much memory to find
            that out.
    """
    parts = [file.read(1 << 16)]
    for _ in range(HEADER >> 16):
        if not parts[-1] or b"\n" in parts[-1] or b"\r" in parts[-1]:
            return b"".join(parts)
        parts.append(file.read(1 << 16))
    raise DataError(
        f"{path}: the first line is longer than {HEADER >> 20} MB; a table begins "
        "with the names of its columns"
    )


def check_names(text: str, separator: str, path: Path) -> None:
    """Raise DataError if a text begins with no names, or with more than pandas has any time for.

    It numbers equal names in time that grows with the square of their number.
    """
    line = re.match(r"\s*+([^\r\n]*+)", text)[1]  # type: ignore[index]
    if re.fullmatch(r'"?sep=.?"?', line, re.IGNORECASE):
        raise DataError(
            f"{path}: the first line, {line!r}, is for Excel alone; remove it, so that the file "
            "begins with the names of its columns"
        )
    if line.count(separator) < ALIKE:
        return
    names = Counter(line.split(separator))
    if (count := names.total()) > COLUMNS:
        raise DataError(
            f"{path}: {count:,} columns, more than the {COLUMNS:,} that are read; save them as "
            "arrays, X and y in one .npz"
        )
    del names[""]
    name, count = max(names.items(), key=lambda pair: pair[1], default=("", 0))
    if count > ALIKE:
        raise DataError(f"{path}: {count:,} columns are called {name!r}; give each its own name")


def separator_of(text: str) -> str:
    """Return what separates the columns of a text table: the most frequent in its header.

    One column alone is separated by what is not in its rows: 3,14 is one number there.

    >>> separator_of('"name, first";age (years, full);y')
    ';'
    >>> separator_of("size, cm;kind\\n1,5;a"), separator_of("size; cm,kind\\n1.5,a")
    (';', ',')
    >>> separator_of("one column alone"), separator_of("one column\\n3,14")
    (',', ';')
    >>> separator_of('"one column"\\n3,14'), separator_of('"one column"\\n"row 1";3,14')
    (';', ';')
    """
    plain = re.sub(r'"[^"]*"', "quoted", text).lstrip("\r\n")
    header = re.match("[^\r\n]*", plain)[0]  # type: ignore[index]
    rows = plain[len(header) :]
    if most := max(map(header.count, MARKS)):
        often = [mark for mark in MARKS if header.count(mark) == most]
        row = re.match("[^\r\n]*", rows.lstrip("\r\n"))[0]  # type: ignore[index]
        # "Size, cm;kind" above "1,5;a": a comma may be in a name or a number, a semicolon hardly.
        fits = [mark for mark in often if row.count(mark) == most]
        return fits[-1] if fits else often[0]
    if named := NAMED_ROW.match(text):
        return named[0][-1]
    return next((mark for mark in MARKS if not re.search(rf"{mark}[^\r\n]", rows)), MARKS[0])
