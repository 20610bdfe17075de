"""Reading in several steps: all of one version, though files may change meanwhile."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from noiseproof.errors import ChangedError


def stamp(path: Path) -> list[int] | None:
    """Return what changes whenever a file does, or is another; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    # The time of the last change of any kind, too: a copy may have kept the time of its writing.
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


@contextmanager
def unchanged(what: Path, listed: Callable[[], Iterable[Path]] | None = None) -> Iterator[None]:
    """Raise ChangedError, whatever else the block raises, where files changed while it ran.

    Args:
        what: what is read, for the message.
        listed: returns the files that the block reads; by default ``what`` alone.
    """
    before = _stamps(what, listed)
    try:
        yield
    except Exception:
        _check(what, listed, before)
        raise
    _check(what, listed, before)


def _check(what: Path, listed: Callable[[], Iterable[Path]] | None, before: object) -> None:
    if _stamps(what, listed) != before:
        raise ChangedError(
            f"{what}: changed while it was read; try again when nobody is writing it"
        ) from None


def _stamps(what: Path, listed: Callable[[], Iterable[Path]] | None) -> object:
    try:
        return {path: stamp(path) for path in (listed() if listed else [what])}
    except OSError:  # a folder that is gone, or may not be listed: the block says so
        return None
