"""The bytes of a text table, watched while they are read."""

import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from noiseproof.tables.blank_lines import TAIL

if TYPE_CHECKING:
    import pandas as pd

#: The rows that are parsed at a time are no longer than this; more is a quote that never ends.
LONGEST = 1 << 30


@contextmanager
def unpacked(path: Path, packed: bool) -> Iterator[BinaryIO]:
    """Open a file, which is ``packed`` by gzip or is not, to read what is in it."""
    with path.open("rb") as file:
        yield gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[misc]


class Watched(io.RawIOBase):
    """A file of which somebody hears how much was read, and of which no block is endless.

    Args:
        file: what is read.
        line_end: a carriage return and a line feed as the file's encoding has them, up to the
            last byte that is not 0.
        hears: is told how many bytes have been read.
    """

    def __init__(
        self, file: BinaryIO, line_end: bytes, hears: Callable[[int], None] | None
    ) -> None:
        self.file, self.line_end, self.hears = file, line_end, hears
        self.total = self.block = self.returns = 0
        self.tail = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, and return how many bytes are in it."""
        data = self.file.read(len(buffer))
        buffer[: len(data)] = data
        if b"\r" in data or b"\r" in self.tail[-2:]:
            seam = self.tail[1 - len(self.line_end) :] + data
            self.returns += data.count(b"\r") - seam.count(self.line_end)
        self.tail = (self.tail + data)[-TAIL:] if data else self.tail
        self.total += len(data)
        self.block += len(data)
        if self.block > LONGEST:
            raise ValueError(f"a row of more than {LONGEST >> 20} MB; does a quote never end?")
        if self.hears is not None:
            self.hears(self.total)
        return len(data)

    def bounded(self, frames: Iterator["pd.DataFrame"]) -> Iterator["pd.DataFrame"]:
        """Begin to count anew with each block."""
        for frame in frames:
            self.block = 0
            yield frame

    @property
    def has_lone_returns(self) -> bool:
        """Whether a carriage return that no line feed follows may have been read."""
        begun = len(self.line_end) > 1 and self.tail.endswith((b"\r", b"\r\0"))
        return self.returns > begun
