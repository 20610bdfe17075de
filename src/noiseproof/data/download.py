"""Downloads, each file checked before it is put in place."""

import hashlib
import os
import time
import warnings
from pathlib import Path
from typing import BinaryIO

from noiseproof import files
from noiseproof.data.checksums import check_all, check_read, wrong_unpacked
from noiseproof.data.places import places
from noiseproof.errors import DataError, DataWarning, NoiseproofError
from noiseproof.extras import need
from noiseproof.known import File, known

#: No published file has half as many bytes; a server that sends more may never stop.
LARGEST = 400 << 20


def fetch(
    name: str, directory: str | Path | None = None, *, progress: bool = True, retries: int = 2
) -> list[Path]:
    """Download what is missing of a known data set, each file checked before it is put in place.

    A file that is there and right is left alone, so an interrupted fetch goes on where it
    stopped, file by file. One that is wrong is kept beside the right one, as ``*.damaged``, and so
    is one that came out of an archive and would be read in its place.

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
    right = {check.path for check in present if check.state == "ok"}
    for file in entry.files:
        if root / file.path not in right:
            _fetch_file(file, root / file.path, progress, retries)
    for path in wrong_unpacked(entry, root):  # they would be read instead of the archive
        with files.explained(path):
            _set_aside(path)
    check_read(entry, root)
    return [root / file.path for file in entry.files]


def _fetch_file(file: File, target: Path, progress: bool, retries: int) -> None:
    if os.path.lexists(target):
        files.check_plain(target)
    for number in range(retries + 1):
        time.sleep(number)
        try:
            files.write(target, lambda stream: _download(file, target, progress, stream))
            return
        except _FailedError:
            if number == retries:
                raise


class _FailedError(DataError):
    """A download that may succeed when it is tried again."""


def _download(file: File, target: Path, progress: bool, stream: BinaryIO) -> None:
    """Write what comes into a stream; set aside what has the name that it is for."""
    need("bench", "requests")
    from requests import RequestException

    came = _Checked(file.url, target, stream)
    try:
        _asked(file.url, came, progress)
    except NoiseproofError:
        raise
    except (OSError, ValueError) as error:  # of answers, proxies, and their settings
        asked = isinstance(error, RequestException)
        if isinstance(error, OSError) and error.errno and not asked:
            raise  # of the stream
        said = type(error).__name__ if asked else " ".join(str(error).split())[:200]
        reason = getattr(error, "strerror", None) or said
        raise _FailedError(_other_way(file.url, target, reason)) from None
    if came.digest.hexdigest() != file.md5:
        raise _FailedError(
            f"{file.url}: the checksum of what came is not md5 {file.md5}; try again later, or put "
            f"the right file at {target}"
        )
    if os.path.lexists(target):
        _set_aside(target)


def _asked(url: str, came: "_Checked", progress: bool) -> None:
    """Ask for a file; the bar shows nothing before something comes, and stays if all came."""
    need("bench", "pooch", "tqdm")
    from pooch.downloaders import choose_downloader
    from tqdm import tqdm

    bar = tqdm(total=1, unit="B", unit_scale=True, ncols=79, delay=1e-9, disable=not progress)
    try:
        choose_downloader(url, progressbar=progress and bar)(url, came, None)
    except BaseException:
        bar.leave = False
        raise
    finally:
        bar.close()


def _set_aside(path: Path) -> None:
    kept = files.set_aside(path)
    warnings.warn(f"{path} was not the published file, and is {kept.name} now", DataWarning, 2)


class _Checked:
    """A file that takes no more than :data:`LARGEST` bytes, and knows their MD5."""

    def __init__(self, url: str, target: Path, stream: BinaryIO) -> None:
        self.url, self.target, self.stream, self.room = url, target, stream, LARGEST
        self.digest = hashlib.md5(usedforsecurity=False)

    def write(self, chunk: bytes) -> int:
        self.room -= len(chunk)
        if self.room < 0:
            raise DataError(
                _other_way(self.url, self.target, f"more than {LARGEST >> 20} MiB came")
            )
        self.digest.update(chunk)
        return self.stream.write(chunk)

    def flush(self) -> None:
        self.stream.flush()


def _other_way(url: str, target: Path, reason: str) -> str:
    return f"cannot fetch {url} ({reason}): download it elsewhere and put it at {target}"
