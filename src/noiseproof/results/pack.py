"""Packed records: many in one compressed file, for publishing. While a grid runs, one file each.

A packed file is xz over lines, a record a line, its values to the digit those of the record's own
file: unpacking gives that file back byte for byte.
"""

import io
import json
import lzma
from collections.abc import Iterable, Iterator
from typing import Any

from noiseproof.errors import DataError

SUFFIX = ".records.xz"
#: Bytes of the longest line that is read: a record of 100,000 epochs has a quarter of it.
_LONGEST = 1 << 27
#: Bytes of memory that unpacking may take; what :func:`pack` writes needs 65 MB.
_MEMORY = 1 << 28
#: A file unpacks to so many times its bytes, and these besides, at most; ours to 24 times.
_RATIO, _FREE = 100, 1 << 25


def record_text(values: Any) -> str:
    """Return the text of a record's own file."""
    return json.dumps(values, indent=1) + "\n"


def parse_record(text: str | bytes) -> Any:
    """Return the values of a record's text; there is no NaN and no infinity in one."""
    return json.loads(text, parse_constant=_refuse)


def pack(records: Iterable[Any], quick: bool = False) -> bytes:
    """Return the content of a packed file.

    Args:
        records: the values of each, as :func:`parse_record` gives them.
        quick: pack in little time and memory, for a file that is soon removed.
    """
    lines = (json.dumps(values, separators=(",", ":")) + "\n" for values in records)
    preset = 0 if quick else 9 | lzma.PRESET_EXTREME
    return lzma.compress("".join(lines).encode(), preset=preset)


def unpack(content: bytes) -> Iterator[bytes]:
    """Yield the text of each record of a packed file.

    Raises:
        DataError: at the place where the file is damaged.
    """
    file, left = io.BufferedReader(_Unpacked(content)), _RATIO * len(content) + _FREE
    empty = True
    while line := file.readline(_LONGEST):
        empty = False
        left -= len(line)
        if left < 0:
            raise DataError("it unpacks to far more than records do; the rest is not read")
        if not line.endswith(b"\n"):
            raise DataError("a record is torn, or too long to be one")
        yield line
    if empty:  # such as a copy that failed
        raise DataError("there is no record in it")


class _Unpacked(io.RawIOBase):
    """The bytes in an xz file, a piece at a time, in bounded memory."""

    def __init__(self, content: bytes) -> None:
        self.rest = content
        self.decompressor: lzma.LZMADecompressor | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            while self.rest or self.decompressor:
                if self.decompressor is None:
                    self.decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
                found = self.decompressor.decompress(self.rest, len(buffer))
                self.rest = b""
                if self.decompressor.eof:  # another file may have been appended to this one
                    self.rest, self.decompressor = self.decompressor.unused_data, None
                elif not found and self.decompressor.needs_input:
                    raise DataError("the packed file is torn")
                if found:
                    buffer[: len(found)] = found
                    return len(found)
        except lzma.LZMAError as error:
            raise DataError(f"not a packed file, or damaged: {error}") from None
        return 0


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} in a record")
