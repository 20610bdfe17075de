"""Holding a file or folder: what one process holds, no other moves or removes.

Whoever holds something has a ``flock`` on it, which ends with the process however that ends, and
has looked since whether it still has its name: it may have lost it in the meantime. Where there is
no ``flock`` (Windows, some network drives), nobody can tell what is held.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from noiseproof.errors import LockedError

fcntl: Any = None
with suppress(ImportError):
    import fcntl

#: Seconds: whoever replaces a folder holds it for as long as its files are read.
_PATIENCE, _PAUSE = 300.0, 0.005


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold what has a name, waiting for whoever holds it; yield whether there is anything."""
    while True:
        try:
            handle = _open(path)
        except (FileNotFoundError, NotADirectoryError):
            yield False
            return
        except OSError:  # a link, or it may not be read: nobody else can hold it either
            yield True
            return
        try:
            if hold(handle, path):
                yield True
                return
        finally:
            release(handle)


@contextmanager
def held_if_free(path: Path, unsure: bool = False) -> Iterator[bool]:
    """Hold what has a name, unless a living process may hold it; yield whether it is held now.

    Args:
        path: the file or folder.
        unsure: what to yield where nobody can tell.
    """
    try:
        handle = _open(path)
    except OSError:
        yield False
        return
    try:
        free = _try(handle)
        yield (unsure if free is None else free) and has_name(handle, path)
    finally:
        release(handle)


def hold(handle: int, path: Path, what: Path | None = None) -> bool:
    """Hold an open file or folder; return whether it still has its name.

    Args:
        handle: of the file or folder.
        path: its name.
        what: what is written, for the message, where that is something else.

    Raises:
        LockedError: another process did not let go of it.
    """
    until = time.monotonic() + _PATIENCE
    while _try(handle) is False:
        if time.monotonic() > until:
            raise LockedError(f"cannot write {what or path}: another process is at work on it")
        time.sleep(_PAUSE)
    return has_name(handle, path)


def release(handle: int) -> None:
    """Let go of a file or folder, and close it."""
    try:
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # also for a child that was forked meanwhile
    finally:
        os.close(handle)


def is_held(path: Path) -> bool:
    """Tell whether a living process holds a file; where nobody can tell, none does."""
    try:
        handle = _open(path)
    except OSError:
        return False
    try:
        return _try(handle, shared=True) is False
    finally:
        release(handle)


def take(path: Path) -> int | None:
    """Make or open a file, and hold it, unless another process does; return its descriptor."""
    handle, mine = _open(path, os.O_RDWR | os.O_CREAT), False
    try:
        mine = _try(handle) is not False and has_name(handle, path)
        return handle if mine else None
    finally:
        if not mine:
            release(handle)


def _open(path: Path, flags: int = os.O_RDONLY) -> int:
    # Windows has neither flag.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags, 0o666)


def _try(handle: int, shared: bool = False) -> bool | None:
    """Take the lock if it is free; return whether that was done, None where there are no locks.

    Network drives lock for one process only what it may write, and shared what it may read.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def has_name(handle: int, path: Path) -> bool:
    """Return whether an open file or folder is called by this name."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return os.path.samestat(os.fstat(handle), path.lstat())
    return False
