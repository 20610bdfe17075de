"""Downloads with checksums, and the checking of what is there."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from noiseproof.data.published import File, Known, known, places
from noiseproof.errors import DataError
from noiseproof.extras import need


@dataclass(frozen=True)
class FileCheck:
    """What :func:`verify` found of one file.

    Args:
        path: the file, or where it should be.
        state: ``ok``; ``wrong``, its checksum is not the published one; ``missing``; or
            ``unchecked``, it is there and no checksum is published.
        problem: one line for the user, empty where there is none.
    """

    path: Path
    state: Literal["ok", "wrong", "missing", "unchecked"]
    problem: str = ""


def verify(name: str, directory: str | Path | None = None) -> list[FileCheck]:
    """Check the files of a known data set against their published checksums.

    Args:
        name: a known data set.
        directory: where it is; None looks into ``$NOISEPROOF_DATA``, then into the cache folder.

    >>> verify("digits")
    []
    """
    entry = known(name)
    folders = places(directory)
    place = next((folder for folder in folders if entry.is_here(folder)), folders[0])
    return _check_all(entry, place)


def _check_all(entry: Known, place: Path) -> list[FileCheck]:
    """Check an archive, or what it holds, or both: whichever is there."""
    archive = [_check(file, place) for file in entry.files]
    unpacked = [_check(file, place) for file in entry.unpacked]
    if not any(check.state != "missing" for check in unpacked):
        return archive
    return [check for check in archive if check.state != "missing"] + unpacked


def _check(file: File, place: Path) -> FileCheck:
    path = file.find(place)
    if path is None:
        return FileCheck(place / file.path, "missing", f"{place / file.path}: no such file")
    # What was inside a .gz has no published checksum of its own.
    if not file.md5 or path.name != Path(file.path).name:
        return FileCheck(path, "unchecked")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, _md5).hexdigest()
    if found != file.md5:
        problem = f"{path}: md5 {found}, expected {file.md5}; remove it and fetch it again"
        return FileCheck(path, "wrong", problem)
    return FileCheck(path, "ok")


def _md5() -> "hashlib._Hash":
    # The published checksums are md5; said to be no security, it works on FIPS systems too.
    return hashlib.md5(usedforsecurity=False)


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
    root = places(directory)[0]
    present = _check_all(entry, root)
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
        reason = type(error).__name__
        raise DataError(
            f"cannot fetch {file.url} ({reason}): download it elsewhere and put it at {target}"
        ) from None
