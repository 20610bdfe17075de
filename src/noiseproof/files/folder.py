"""A whole folder, replaced in one step."""

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noiseproof.files.destination import check_folder, check_kind, check_ours
from noiseproof.files.hold import held
from noiseproof.files.manifest import write_manifest
from noiseproof.files.part import aside, clean, explained, part, put_back, sync

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def replacing(
    folder: str | Path, force: bool = False, outdated: Path | None = None
) -> Iterator[Path]:
    """Write a folder that is the old one or the new one, whole, whenever the machine stops.

    Yields a new folder to write into, which takes its place at the end of the block; where the
    block raises, the old folder is left as it was.

    Args:
        folder: where it shall be; the folder above must exist.
        force: replace the folder that is there, if noiseproof wrote everything in it.
        outdated: a file about the old folder, which goes just before the new one takes its place.
    """
    folder = Path(folder)
    check_folder(folder, force)
    clean(folder)
    with explained(folder), part(folder, folder=True) as (made, handle):
        yield made
        write_manifest(made)
        for root, _, names in os.walk(made):
            for name in names:
                sync(Path(root, name))
            sync(Path(root))
        with aside(outdated, made, handle):
            _take_place(made, folder, force)
        sync(folder.absolute().parent)


def _take_place(made: Path, folder: Path, force: bool) -> None:
    """Give ``folder`` what is in ``made``, and ``made`` what was in ``folder``, if anything.

    Both are held: no other process takes the old folder for a leftover while it is called
    ``made``, nor replaces the new one before it is certain that it stays.
    """
    put_back(folder)
    while True:
        with held(folder) as there:
            if there:
                _replace(made, folder, force)
                return
        try:
            made.rename(folder)
            return
        except OSError:
            if not os.path.lexists(folder):
                raise  # else another process was quicker


def _replace(made: Path, folder: Path, force: bool) -> None:
    check_kind(folder, force)
    check_ours(folder, folder)  # something may have come since the first check
    made.chmod(folder.stat().st_mode & 0o777)
    exchange(made, folder)
    try:
        check_ours(made, folder)  # or since the second
    except BaseException:
        exchange(made, folder)
        raise


def exchange(one: Path, other: Path) -> None:
    """Let two folders change places: at once where the system can, else by renaming in turn.

    A process killed between the renames leaves ``other`` as ``*.old``, which
    :func:`~noiseproof.files.part.put_back` puts back.
    """
    if _exchange_at_once(one, other):
        return
    old = one.with_suffix(".old")
    try:
        other.rename(old)
        one.rename(other)
    except BaseException:
        if not os.path.lexists(other):
            old.rename(other)
        raise
    old.rename(one)


def _exchange_at_once(one: Path, other: Path) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False  # an old kernel, or a file system that cannot
    raise OSError(number, os.strerror(number), str(other))
