"""Reading a file of a store: a plain file of a bounded size, inside the store, or not at all."""

import os
import stat
from pathlib import Path

from noiseproof.errors import DataError

#: Bytes of the largest record or packed file that is read; the published ones have 0.4 MB.
LARGEST = 1 << 28


class NotPlainError(DataError):
    """A pipe, a device, a folder, a link that leaves the store, or a file too large to be ours."""


def read_plain(path: Path, store: Path | None = None) -> bytes:
    """Return the content of a file of a store; raise NotPlainError rather than open anything else.

    Args:
        path: the file.
        store: the folder that a link must not leave; by default the folder of the file.
    """
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        real = Path(os.path.realpath(path, strict=True))  # OSError where links lead in a circle
        if not real.is_relative_to(os.path.realpath(store or path.parent)):
            raise NotPlainError(f"{path}: a link out of the store, not followed")
        path, found = real, real.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise NotPlainError(f"{path}: not a plain file, not opened")
    # Whatever takes its place from here on is not followed, and nothing is waited for.
    handle = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            raise NotPlainError(f"{path}: larger than any record, or not a plain file; not read")
        return file.read(LARGEST)
