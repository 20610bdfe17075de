"""Downloads, each file checked before it is put in place."""

from pathlib import Path

from noiseproof.data.checksums import check_all
from noiseproof.data.places import places
from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.known import File, known


def fetch(
    name: str, directory: str | Path | None = None, *, progress: bool = True, retries: int = 2
) -> list[Path]:
    """Download what is missing of a known data set, each file checked before it is put in place.

    A file that is there and right is left alone, so an interrupted fetch goes on where it
    stopped, file by file.

    Args:
        name: a known data set.
        directory: where to put it; None is ``$NOISEPROOF_DATA``, or else the cache folder.
        progress: show a bar for each download.
        retries: how often to try a file again.

    Returns:
        the files of the data set.
    """
    entry = known(name)
    if not entry.files:
        return []
    root = places(directory)[0]
    present = check_all(entry, root)
    if all(check.state == "ok" for check in present):
        return [check.path for check in present]
    if entry.page:
        raise DataError(f"{name} must be downloaded by hand, from {entry.page}, into {root}")
    return [_fetch_file(file, root, progress, retries) for file in entry.files]


def _fetch_file(file: File, root: Path, progress: bool, retries: int) -> Path:
    need("bench", "pooch")
    import pooch

    target = root / file.path
    store = pooch.create(
        path=root,
        base_url="",
        registry={file.path: f"md5:{file.md5}"},
        urls={file.path: file.url},
        retry_if_failed=retries,
    )
    try:
        return Path(store.fetch(file.path, progressbar=progress))
    except ValueError:
        raise DataError(
            f"{file.url}: the checksum of what came is not md5 {file.md5}; "
            f"try again later, or put the right file at {target}"
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(
            f"cannot fetch {file.url} ({reason}): download it elsewhere and put it at {target}"
        ) from None
