"""A lock a run: two processes on one store share the work, and who asks can see what is running.

The lock is the system's own (flock), so that it ends with the process that holds it, however that
process ends; the file that is left says nothing.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from noiseproof.errors import DataError

fcntl: Any = None  # no flock: one process at a time is up to the user
with suppress(ImportError):
    import fcntl


class RunningElsewhereError(DataError):
    """Another process is at work on this run."""


def lock_file(out: Path, key: str) -> Path:
    """Return where the lock of the run with a key is, under ``out``."""
    return out / f".{key[:20]}.lock"


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock ``path``, or raise :class:`RunningElsewhereError` for ``what`` at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _take(path, what)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def is_locked(path: Path) -> bool:
    """Say whether a living process holds the lock."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _flock(handle, shared=True)
    finally:
        os.close(handle)


def _take(path: Path, what: str) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if not _flock(handle):
            os.close(handle)
            raise RunningElsewhereError(f"{what} is running in another process")
        if _is_file(handle, path):
            return handle
        os.close(handle)  # its holder removed the file between our opening and locking it


def _is_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _flock(handle: int, shared: bool = False) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
