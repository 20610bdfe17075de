"""Whether a file fits into memory, asked before it is read and while it is unpacked."""

import os
from collections.abc import Callable
from pathlib import Path

from noiseproof.errors import DataError

#: Reading a file and learning from it need about this many times the size of its content.
NEED = 4
GIGA = 10**9
FEWER = "use a sample of the rows"


def check_fits(path: Path, size: int, advice: str = FEWER) -> None:
    """Refuse a file whose content, ``size`` bytes, is too large for this machine.

    Args:
        path: the file or folder.
        size: the bytes of its content.
        advice: the way out.
    """
    free = available()
    if free is not None and size * NEED > free:
        raise _too_large(path, f"{size / GIGA:.1f} GB", size, free, advice)


def _too_large(path: Path, content: str, size: int, free: int, advice: str = FEWER) -> DataError:
    return DataError(
        f"{path}: {content} need about {size * NEED / GIGA:.1f} GB of memory, "
        f"{free / GIGA:.1f} GB are free; {advice}"
    )


class Budget:
    """Hears how much of a file has been read, shows it, and stops what unpacks to too much.

    Args:
        path: the file, for the message.
        size: how much there is to read, where it is not packed.
        shows: hears how much of ``size`` has been read.
    """

    def __init__(self, path: Path, size: int, shows: Callable[[int, int], None]) -> None:
        self.path, self.size, self.shows = path, size, shows
        self.free = available()

    def hear(self, done: int) -> None:
        """Hear that so many bytes were read, unpacked."""
        if self.free is not None and done * NEED > self.free:
            raise _too_large(self.path, f"{done / GIGA:.1f} GB and more", done, self.free)
        self.shows(min(done, self.size), self.size)


def available() -> int | None:
    """Return how many bytes of memory this process may still take; None where nobody knows."""
    limits = [found for found in (_machine(), _container()) if found is not None]
    return min(limits) if limits else None


def _machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _container() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None
