"""Where the files of data sets are."""

import os
from pathlib import Path

from noiseproof.errors import DataError
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


def find_place(entry: Known, directory: str | Path | None) -> Path:
    """Return the first folder that has the data set, or say what to put where."""
    folders = places(directory)
    for place in folders:
        if entry.is_here(place):
            return place
    raise DataError(
        f"no {entry.name} in {' or '.join(map(str, folders))}: {way_out(entry, folders[0])}"
    )


def way_out(entry: Known, place: Path) -> str:
    """Say how to get a data set into ``place``."""
    names = ", ".join(file.path for file in entry.files)
    if entry.page:
        return f"download it from {entry.page} so that {names} are in {place}"
    return f"run `noiseproof data fetch {entry.name}`, or put {names} into {place}"
