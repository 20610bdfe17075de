"""One file, written whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from noiseproof.files.destination import ask_force
from noiseproof.files.part import alone, aside, clean, explained, make_folder, part, remove, sync

Content = str | bytes | memoryview | Callable[[BinaryIO], object]


def write(
    path: str | Path, content: Content, force: bool = True, outdated: Path | None = None
) -> None:
    """Write a file that is the old one or the new one whenever the machine stops.

    Args:
        path: where it shall be; missing folders are made.
        content: text (written as UTF-8), bytes, or a function that writes into an open file.
        force: replace what is there by then; otherwise that is an error, and it is left alone.
        outdated: a file about the old one, which goes just before the new one takes its place.
    """
    path = Path(path)
    with explained(path):
        with _written(path, content) as (made, handle), aside(outdated, made, handle):
            _take_place(made, path, force)
        sync(path.parent)


@contextmanager
def writing(path: Path, content: Content, force: bool = True) -> Iterator[None]:
    """Write a file as :func:`write` does; it takes its place after the block, if that succeeds.

    For a file that describes another one, which the block replaces with this path as ``outdated``:
    whenever the machine stops, no old description stands beside new data, nor does that of another
    process, which waits until both are written.
    """
    with explained(path):
        make_folder(path.parent)
        with alone(path), _written(path, content) as (made, _):
            yield
            _take_place(made, path, force)
            sync(path.parent)


@contextmanager
def _written(path: Path, content: Content) -> Iterator[tuple[Path, int]]:
    """Write a part of ``path``, with its mode, to the disk; yield where it is, and a descriptor."""
    make_folder(path.parent)
    clean(path)
    with part(path) as (made, handle):
        with os.fdopen(handle, "wb", closefd=False) as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
        with suppress(OSError):  # who may read the old file may read the new one
            os.chmod(made, path.stat().st_mode & 0o777)
        os.fsync(handle)
        yield made, handle


def _take_place(made: Path, path: Path, force: bool) -> None:
    if force:
        os.replace(made, path)
    else:
        _put(made, path)


def _put(made: Path, path: Path) -> None:
    """Give a file its name, unless something has that name."""
    try:
        os.link(made, path)  # the only way to rename that never replaces anything
    except OSError:
        if os.path.lexists(path):
            ask_force(path, force=False)
        os.replace(made, path)  # a file system without hard links
    else:
        remove(made)


def set_aside(path: Path) -> Path:
    """Rename a damaged file to ``*.damaged``, so that nobody reads it again.

    One that was set aside before is kept. Another process may have set this one aside already.
    """
    names = chain([path.name], (f"{path.name}.{number}" for number in count(2)))
    free = (path.with_name(f"{name}.damaged") for name in names)
    place = next(place for place in free if not os.path.lexists(place))
    with suppress(FileNotFoundError):
        path.replace(place)
    return place
