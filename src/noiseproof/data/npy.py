"""Arrays in numpy's format, whose heads may claim anything."""

import math
import zipfile
import zlib
from collections import Counter
from lzma import LZMAError
from typing import IO

import numpy as np

#: What numpy and zipfile raise for a damaged file: a dimension may be too large for C, or a truth
#: value, and Python has no other error for a password or an unknown way to compress.
UNREADABLE = (
    OSError, ValueError, EOFError, LookupError, TypeError, ArithmeticError, RecursionError,
    RuntimeError, zipfile.BadZipFile, zlib.error, LZMAError,
)  # fmt: skip
#: What reads a head, by the first number of its version; the third is as the second, in UTF-8.
_HEADS = {
    1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0,
    3: np.lib.format.read_array_header_2_0,
}  # fmt: skip


def check_array(stream: IO[bytes], size: int) -> None:
    """Raise an error if a file says that its array is larger than the file.

    numpy makes room for an array before it reads it.

    Args:
        stream: the file, at its start; what is no array is left to the reader.
        size: its bytes.
    """
    start = stream.read(8)
    if start[:6] != np.lib.format.MAGIC_PREFIX or len(start) < 8 or start[6] not in _HEADS:
        return
    try:
        shape, _, dtype = _HEADS[start[6]](stream)
    except Exception:  # of many kinds: heads are parsed as Python
        raise ValueError("its head is damaged") from None
    if not dtype.hasobject and stream.tell() + math.prod(shape) * dtype.itemsize > size:
        raise ValueError("it is shorter than its head says")


def check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Raise an error if the arrays of an ``.npz`` of a size are said to be larger than it is.

    Arrays that overlap are: a small file would be many large ones. Of two arrays with one name,
    nobody could tell which one is read.
    """
    if sum(part.compress_size for part in archive.infolist()) > size:
        raise ValueError("its arrays overlap")
    names = Counter(part.filename.removesuffix(".npy") for part in archive.infolist())
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise ValueError(f"two arrays are called {twice!r:.40}")
    for part in archive.infolist():
        with archive.open(part) as stream:
            check_array(stream, part.file_size)
