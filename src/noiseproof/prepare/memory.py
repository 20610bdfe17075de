"""Whether a file fits into memory, asked before it is read."""

import os
from pathlib import Path

from noiseproof.errors import DataError

#: Reading a file and learning from it need about this many times the size of what is in it.
NEED = 4
GIGA = 10**9


def check_fits(path: Path, size: int) -> None:
    """Refuse a file whose content, ``size`` bytes, is too large to learn from on this machine."""
    free = available()
    if free is not None and size * NEED > free:
        raise DataError(
            f"{path}: {size / GIGA:.1f} GB need about {size * NEED / GIGA:.1f} GB of memory, "
            f"{free / GIGA:.1f} GB are free; fit on a sample of the rows"
        )


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
