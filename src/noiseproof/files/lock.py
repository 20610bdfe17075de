"""Locks: one process at a time, and anybody can ask whether one is at work.

The lock is the system's own, so it ends with the process that holds it, however that ends; a lock
file that is left behind says nothing. Where the file system has no locks, every process gets one.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from noiseproof.errors import LockedError
from noiseproof.files.hold import is_held, release, take
from noiseproof.files.part import explained, make_folder

#: Who asks takes the lock for some microseconds; who wants it waits that out.
_PATIENCE, _PAUSE = 0.2, 0.02


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock ``path``, or raise LockedError: ``what`` is running in another process."""
    with explained(path):
        make_folder(path.parent)
        handle = _lock(path, what)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        release(handle)


def _lock(path: Path, what: str) -> int:
    until = time.monotonic() + _PATIENCE
    while True:
        if (handle := take(path)) is not None:
            return handle
        if time.monotonic() > until:
            raise LockedError(f"{what} is running in another process")
        time.sleep(_PAUSE)


def is_locked(path: Path) -> bool:
    """Tell whether a living process holds the lock; nothing is written, so anybody may ask.

    A link, or a file that cannot be read, is not a lock that could become free: taking it is an
    error, so there is nothing to wait for. Where nobody can tell, nobody holds it.
    """
    is_plain = path.is_file() and not path.is_symlink()
    return is_plain and os.access(path, os.R_OK) and is_held(path)
