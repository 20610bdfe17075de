"""Where the files of data sets are."""

import os
from pathlib import Path

from noiseproof.extras import need
from noiseproof.known import Known


def cache_folder() -> Path:
    """Return the folder of the user's caches that is ours."""
    need("bench", "pooch")
    import pooch

    return Path(pooch.os_cache("noiseproof"))


def places(directory: str | Path | None = None) -> list[Path]:
    """Return where to look: ``directory`` alone, or ``$NOISEPROOF_DATA`` and the cache folder."""
    if directory is not None:
        return [Path(directory)]
    named = os.environ.get("NOISEPROOF_DATA")
    return [Path(named), cache_folder()] if named else [cache_folder()]


def way_out(entry: Known, place: Path) -> str:
    """Say how to get a data set into ``place``."""
    names = ", ".join(file.path for file in entry.files)
    if entry.page:
        return f"download it from {entry.page} so that {names} are in {place}"
    return f"run `noiseproof data fetch {entry.name}`, or put {names} into {place}"
