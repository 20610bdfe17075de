"""Can this be read? Asked before it is opened: a pipe is waited for, some devices never end."""

import os
import stat
from pathlib import Path

from noiseproof.errors import DataError


def check_plain(path: str | os.PathLike[str]) -> None:
    """Raise DataError, in one line, where a file that a user names is not a plain file."""
    where = os.fspath(path)
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"{where}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise DataError(f"{where}: cannot be read ({reason})") from None
    if not stat.S_ISREG(mode):
        found = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise DataError(f"{where}: expected a plain file, not {found}")
