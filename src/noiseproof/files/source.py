"""Can this be read? Asked before it is opened: a pipe is waited for, some devices never end."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from noiseproof.errors import DataError

#: Of a path in a message.
LONGEST = 300


def check_plain(path: str | os.PathLike[str]) -> None:
    """Raise DataError, in one line, where a file that a user names is not a plain file."""
    where, mode = os.fspath(path), mode_of(path)
    if mode is None:
        raise DataError(f"{where}: no such file")
    if not stat.S_ISREG(mode):
        found = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise DataError(f"{where}: expected a plain file, not {found}")


def mode_of(path: str | os.PathLike[str]) -> int | None:
    """Return what is at a path, as ``os.stat`` has it; None where there is nothing."""
    try:
        return Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        where = os.fspath(path)
        where = where if len(where) <= LONGEST else f"{where[:LONGEST]}…"
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise DataError(f"{where}: cannot be read ({reason})") from None


def below(folder: Path, hidden: bool = True) -> Iterator[Path]:
    """Yield the files anywhere below a folder; links to folders are yielded, and not followed.

    Args:
        folder: where to look.
        hidden: whether to look into folders whose names begin with a dot, and into the file
            system's own lost+found.

    Raises:
        DataError: a folder may not be listed; ``Path.rglob`` would leave out what is in it.
    """
    for root, folders, names in os.walk(folder, onerror=_cannot_list):
        here = Path(root)
        links = [name for name in folders if (here / name).is_symlink()]
        if not hidden:
            folders[:] = [name for name in folders if name[0] != "." and name != "lost+found"]
        yield from (here / name for name in (*links, *names))


def _cannot_list(error: OSError) -> None:
    reason = (error.strerror or str(error)).lower()
    raise DataError(f"{error.filename}: cannot be listed ({reason})") from None
