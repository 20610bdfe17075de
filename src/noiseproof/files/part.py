"""Hidden neighbours: what is being written, and what killed processes left of it.

A process holds its parts: what it is writing, and what it has replaced for as long as that may
have to come back. A part that nobody holds is a leftover; where nobody can tell, leftovers stay.
"""

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from noiseproof.errors import FileError
from noiseproof.files.hold import has_name, held, held_if_free, hold, release

#: Bytes of a name that are part of those of its parts; of a longer one, fewer.
LONGEST = 200
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
        try:
            release(handle)
        finally:
            remove(made)


@contextmanager
def aside(path: Path | None, made: Path, handle: int) -> Iterator[None]:
    """Take a file away while the part that outdates it takes its place.

    Where the part is still there at the end, whatever the reason, the file comes back; otherwise it
    is removed.

    Args:
        path: a file about what the part replaces, if there is any.
        made: the part.
        handle: its descriptor.
    """
    if path is None:
        yield
        return
    kept = _new_name(path)
    with held(path) as there:
        try:
            if there:
                os.replace(path, kept)
            yield
        finally:
            try:
                if there and has_name(handle, made):
                    with suppress(FileNotFoundError):  # it had not been taken away yet
                        os.replace(kept, path)
            finally:
                remove(kept)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process at a time write a file together with what it is about."""
    lock = path.with_name(f"{_prefix(path)}{'0' * 8}.part")  # a leftover is cleaned like any other
    while True:
        handle = None
        try:
            handle = os.open(lock, os.O_RDONLY | os.O_CREAT, 0o666)
            if hold(handle, lock, path):
                yield
                return
        finally:
            try:
                if handle is not None:
                    release(handle)
            finally:
                _in_any_case(lambda: _remove_if_free(lock))


def _remove_if_free(lock: Path) -> None:
    with held_if_free(lock, unsure=True) as free:
        if free:
            remove(lock)


def _make(path: Path, folder: bool) -> tuple[Path, int]:
    while True:
        made = _new_name(path)
        try:
            handle = _open_new(made, folder)
            if handle is not None and hold(handle, made):
                return made, handle
        except FileExistsError:  # it is somebody else's
            raise
        except BaseException:  # such as a signal, which may come once it is there
            remove(made)
            raise
        if handle is not None:
            release(handle)


def _open_new(made: Path, folder: bool) -> int | None:
    """Make a part and open it; return None if it was taken for a leftover before it was held."""
    # The modes are those of any new file: the system takes the umask off.
    if not folder:
        return os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    made.mkdir()
    try:
        return os.open(made, os.O_RDONLY)
    except FileNotFoundError:
        return None


def put_back(path: Path) -> None:
    """Undo an exchange of which a killed process did only half.

    Where nobody can tell whether it was killed, a living one may fail, the old folder in place.
    """
    for leftover in _leftovers(path, unsure=True):
        if leftover.suffix == ".old" and not os.path.lexists(path):
            with suppress(OSError):
                leftover.rename(path)


def clean(path: Path) -> None:
    """Remove the parts of ``path`` that killed processes left, after :func:`put_back`."""
    put_back(path)
    for leftover in _leftovers(path):
        if leftover.suffix == ".part" or os.path.lexists(path):
            remove(leftover)


def _leftovers(path: Path, unsure: bool = False) -> Iterator[Path]:
    """Yield the parts of ``path`` that no living process holds; each is held meanwhile.

    Args:
        path: what they are parts of.
        unsure: whether to yield those of which nobody can tell.
    """
    ending = re.compile(r"[0-9a-f]{8}\.(part|old)")
    prefix = _prefix(path)
    try:
        names = os.listdir(path.parent)
    except OSError:
        return
    for name in names:
        if name.startswith(prefix) and ending.fullmatch(name.removeprefix(prefix)):
            with held_if_free(path.with_name(name), unsure) as free:
                if free:
                    yield path.with_name(name)


def remove(path: Path) -> None:
    """Remove a part, file or folder, as far as that can be done; a signal meanwhile waits."""
    _in_any_case(lambda: _remove(path))


def _in_any_case(do: Callable[[], None]) -> None:
    """Do what may be done twice; a signal meanwhile waits."""
    try:
        do()
    except KeyboardInterrupt:
        do()
        raise


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
            if path.exists():  # a folder in it may not be written to
                _loosen(path)
                shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def not_removable(folder: Path) -> Path | None:
    """Return a folder, itself or below, that :func:`remove` could not empty; None without any."""
    for root, folders, names in os.walk(folder):
        if (folders or names) and not _may_empty(root):
            return Path(root)
    return None


def _may_empty(folder: str) -> bool:
    if not hasattr(os, "geteuid"):  # Windows
        return True
    facts, me = os.stat(folder), os.geteuid()
    if facts.st_uid == me:
        return True
    if facts.st_mode & stat.S_ISVTX and me != 0:  # each removes only what is their own
        return False
    effective = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=effective)


def _loosen(folder: Path) -> None:
    """Let the owner write to a folder and those below it."""
    folder.chmod(0o700)
    for root, folders, _ in os.walk(folder):
        for path in (Path(root, name) for name in folders):
            if not path.is_symlink():
                path.chmod(0o700)


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


def _new_name(path: Path) -> Path:
    return path.with_name(f"{_prefix(path)}{secrets.token_hex(4)}.part")


def _prefix(path: Path) -> str:
    # A name may have 255 bytes; a hash tells those apart that begin alike.
    name = os.fsencode(path.name)
    if len(name) <= LONGEST:
        return f".{path.name}."
    start = name[: LONGEST - 20].decode(sys.getfilesystemencoding(), errors="ignore")
    return f".{start}.{hashlib.sha256(name).hexdigest()[:16]}."
