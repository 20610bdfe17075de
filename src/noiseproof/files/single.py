"""One file, written whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from noiseproof.files.destination import ask_force
from noiseproof.files.part import aside, clean, explained, make_folder, part, sync

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
    with ExitStack() as stack, writing(Path(path), content, force):
        stack.enter_context(aside(outdated))  # until the new file has taken its place


@contextmanager
def writing(path: Path, content: Content, force: bool = True) -> Iterator[None]:
    """Write a file as :func:`write` does; it takes its place after the block, if that succeeds.

    For a file that describes another one, which the block replaces with this path as ``outdated``:
    whenever the machine stops, no old description stands beside new data.
    """
    with explained(path):
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
            yield
            if force:
                os.replace(made, path)
            else:
                _put(made, path)
        sync(path.parent)


def _put(made: Path, path: Path) -> None:
    """Give a file its name, unless something has that name."""
    with suppress(OSError):
        os.link(made, path)  # the only way to rename that never replaces anything
        return
    if os.path.lexists(path):
        ask_force(path, force=False)
    os.replace(made, path)  # a file system without hard links
