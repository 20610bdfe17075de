"""Change single fields of a text table and leave every other byte as it is."""

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from noiseproof.errors import DataError
from noiseproof.tables.delimited import Delimited
from noiseproof.tables.labels import MARK
from noiseproof.tables.read import readable, table_suffix


def edited(path: Path, column: str, changes: Mapping[int, str], encoding: str | None) -> bytes:
    """Return the content of a text table with some fields of a column changed.

    A field that was quoted stays so; one that was not is quoted only if its new text needs it.
    Line ends, spaces, blank lines, the byte order mark and all other fields stay as they are. The
    result of a ``.gz`` is not packed.

    Args:
        path: a ``.csv`` or ``.tsv``, perhaps ``.gz``.
        column: the column to change.
        changes: the new text by row, from 0; rows are counted as pandas counts them.
        encoding: of the text; None is UTF-8, or UTF-16 where the file says so.
    """
    suffix = table_suffix(path) or ".csv"
    with readable(path, encoding):
        file = Delimited.look(path, suffix, encoding)
        known = [
            str(text).removeprefix(MARK)
            for frame in file.frames(label=column, only=[column])
            for text in frame[column].fillna(MARK)
        ]
        raw = gzip.decompress(path.read_bytes()) if file.packed else path.read_bytes()
        text, coding = _decoded(raw, file.encoding)
        if text.encode(coding) != raw:
            raise DataError(f"{path}: {coding} cannot be changed in place; save it as UTF-8")
    at = file.columns.index(column) + file.row_names
    parts, done, last = [], 0, 0
    alone = len(file.columns) == 1 and not file.row_names
    for row, (start, end) in enumerate(_records(text, file.separator, alone)):
        if row == 0 or (done == len(known) and not text[start:end].strip()):
            continue  # the header, or a blank line at the end
        field = _field(text, start, end, at, file.separator)
        if done >= len(known) or _unquoted(text[slice(*field)]) != known[done]:
            raise DataError(
                f"{path}: row {done} cannot be found in the file; save it as a plain CSV"
            )
        if done in changes:
            parts += [
                text[last : field[0]],
                _quoted(changes[done], text[field[0] : field[0] + 1], file.separator),
            ]
            last = field[1]
        done += 1
    if done != len(known):
        raise DataError(f"{path}: {done} lines where {len(known)} rows were read; save it again")
    return "".join([*parts, text[last:]]).encode(coding)


def _decoded(raw: bytes, encoding: str) -> tuple[str, str]:
    """Return the text, a byte order mark as its first character, and the encoding that keeps it."""
    name = encoding.lower().replace("_", "-")
    if name == "utf-8-sig":
        name = "utf-8"
    if name == "utf-16":
        name = "utf-16-be" if raw[:2] == b"\xfe\xff" else "utf-16-le"
    return raw.decode(name), name


def _field_pattern(separator: str) -> str:
    """Return what a field looks like: a quote counts only at its beginning."""
    rest = rf"[^{re.escape(separator)}\r\n]*+"
    return rf'(?>"(?:[^"]++|"")*+"{rest}|{rest})'


def _records(text: str, separator: str, alone: bool) -> Iterator[tuple[int, int]]:
    """Return where each record begins and ends; the header comes first.

    Blank lines are left out, unless a column is alone: there they are rows.
    """
    header = True
    field, sep = _field_pattern(separator), re.escape(separator)
    record = re.compile(rf"(?:{field}{sep})*+{field}")
    at = 1 if text[:1] == "\ufeff" else 0
    while at < len(text):
        found = record.match(text, at)
        assert found is not None  # an empty field always matches
        end = found.end()
        if text[at:end].strip(" \t".replace(separator, "")) or (alone and not header):
            yield at, end
            header = False
        at = end + (2 if text[end : end + 2] == "\r\n" else 1)


def _field(text: str, start: int, end: int, at: int, separator: str) -> tuple[int, int]:
    """Return where a field of a record begins and ends; past the end where it is missing."""
    field = re.compile(_field_pattern(separator))
    for _ in range(at):
        found = field.match(text, start, end)
        assert found is not None
        if found.end() >= end:
            return end, end
        start = found.end() + 1
    found = field.match(text, start, end)
    assert found is not None
    return found.span()


def _unquoted(field: str) -> str:
    """Return the text of a field.

    >>> _unquoted('"a ""b"" c"'), _unquoted('"a" b'), _unquoted('a "b" c')
    ('a "b" c', 'a b', 'a "b" c')
    """
    found = re.match(r'"((?:[^"]++|"")*+)"', field)
    if found is None:
        return field
    return found[1].replace('""', '"') + field[found.end() :]


def _quoted(text: str, first: str, separator: str) -> str:
    """Return a text as a field, quoted where the old field was or where it must be."""
    special = {separator, '"', "\r", "\n"}
    if first == '"' or any(letter in text for letter in special) or not text:
        return '"' + text.replace('"', '""') + '"'
    return text
