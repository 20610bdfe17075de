"""Downloads, each file checked before it is put in place."""

import errno
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from noiseproof.data.checksums import check_all
from noiseproof.data.places import places
from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.known import File, known

#: No published file has half as many bytes; a server that sends more may never stop.
LARGEST = 400 << 20


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
    logger = pooch.get_logger()
    before, logger.disabled = logger.disabled, logger.disabled or not progress
    store = pooch.create(
        path=root,
        base_url="",
        registry={file.path: f"md5:{file.md5}"},
        urls={file.path: file.url},
        retry_if_failed=retries,
    )
    try:
        return Path(store.fetch(file.path, downloader=partial(_download, progress)))
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
    finally:
        logger.disabled = before


def _download(progress: bool, url: str, output: str, store: Any) -> None:
    """Download as pooch does, and stop at more bytes than a data set has."""
    from pooch.downloaders import choose_downloader

    with Path(output).open("wb") as stream:
        choose_downloader(url, progressbar=progress)(url, _Bounded(stream), store)


class _Bounded:
    """A file that takes no more than :data:`LARGEST` bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.room = stream, LARGEST

    def write(self, chunk: bytes) -> int:
        self.room -= len(chunk)
        if self.room < 0:
            raise OSError(errno.EFBIG, f"more than {LARGEST >> 20} MiB came")
        return self.stream.write(chunk)

    def flush(self) -> None:
        self.stream.flush()
