"""Locks: one process at a time, and anybody can ask whether one is at work.

The lock is the system's own, so it ends with the process that holds it, however that ends; a lock
file that is left behind says nothing.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noiseproof.errors import LockedError
from noiseproof.files.hold import is_held
from noiseproof.files.part import explained, make_folder

#: Who asks takes the lock for some microseconds; who wants it waits that out.
_PATIENCE = 0.2


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock ``path``, or raise LockedError: ``what`` is running in another process."""
    # Imported here because it brings asyncio, for which nobody else should pay.
    from filelock import FileLock, Timeout

    lock = FileLock(path, thread_local=False)
    with explained(path):
        make_folder(path.parent)
        try:
            lock.acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
        except Timeout:
            raise LockedError(f"{what} is running in another process") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def is_locked(path: Path) -> bool:
    """Tell whether a living process holds the lock; nothing is written, so anybody may ask.

    A link, or a file that cannot be read, is not a lock that could become free: taking it is an
    error, so there is nothing to wait for.
    """
    is_plain = path.is_file() and not path.is_symlink()
    return is_plain and os.access(path, os.R_OK) and is_held(path)
