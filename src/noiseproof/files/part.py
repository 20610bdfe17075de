"""Hidden neighbours: what is being written, and what killed processes left of it.

The writer of a part holds a ``flock`` on it, which ends with the process however that ends. A part
that nobody holds is a leftover. Where there is no ``flock`` (Windows, some network drives), nobody
can tell, and leftovers stay.
"""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from noiseproof.errors import FileError

fcntl: Any = None
with suppress(ImportError):
    import fcntl

#: What some file systems answer when asked to sync a folder.
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise what goes wrong while ``path`` is written as a FileError of one line."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise FileError(f"cannot write {path}: {reason[:1].lower()}{reason[1:]}") from None


@contextmanager
def part(path: Path, *, folder: bool = False) -> Iterator[tuple[Path, int]]:
    """Make an empty neighbour of ``path`` to write into; remove it if it is still there at the end.

    Args:
        path: what it will become.
        folder: make a folder rather than a file.

    Yields:
        where it is, and an open descriptor of it.
    """
    made, handle = _make(path, folder)
    try:
        yield made, handle
    finally:
        os.close(handle)
        remove(made)


@contextmanager
def aside(path: Path | None) -> Iterator[None]:
    """Take a file away; it comes back where the block fails, and is removed where it succeeds."""
    if path is None or not os.path.lexists(path):
        yield
        return
    with part(path) as (kept, _):
        os.replace(path, kept)
        try:
            yield
        except BaseException:
            os.replace(kept, path)
            raise


def _make(path: Path, folder: bool) -> tuple[Path, int]:
    while True:
        made = path.with_name(f"{_prefix(path)}{secrets.token_hex(4)}.part")
        # The modes are those of any new file: the system takes the umask off.
        if folder:
            made.mkdir()
            handle = os.open(made, os.O_RDONLY)
        else:
            handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        _hold(handle)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), made.stat()):
                return made, handle
        os.close(handle)  # taken for a leftover between the making and the holding


def clean(path: Path) -> None:
    """Remove the parts of ``path`` that killed processes left; undo a half-done exchange."""
    ending = re.compile(r"[0-9a-f]{8}\.(part|old)")
    prefix = _prefix(path)
    try:
        names = os.listdir(path.parent)
    except OSError:
        return
    for name in names:
        found = ending.fullmatch(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if found is None:
            continue
        leftover = path.with_name(name)
        if found[1] == "old" and not os.path.lexists(path):
            with suppress(OSError):
                leftover.rename(path)
        elif not is_held(leftover):
            remove(leftover)


def remove(path: Path) -> None:
    """Remove a part, file or folder, as far as that can be done."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are missing."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise FileError(f"cannot write into {folder}: it is not a folder") from None
    for each in reversed(missing):
        sync(each.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    if os.name != "posix":
        return
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC or not path.is_dir():
            raise


def _prefix(path: Path) -> str:
    # A name may have 255 bytes. Names that are alike in their first 200 share leftovers: no harm.
    return "." + os.fsdecode(os.fsencode(path.name)[:200]) + "."


def _hold(handle: int) -> None:
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(leftover: Path) -> bool:
    """Tell whether a living process may be writing it."""
    if fcntl is None:
        return True
    try:
        handle = os.open(leftover, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
