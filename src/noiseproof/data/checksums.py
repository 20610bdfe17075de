"""Checksums: whether published data are what they claim to be."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from noiseproof import files
from noiseproof.data.places import cache_folder, places, way_out
from noiseproof.errors import DataError, FileError, MissingExtraError
from noiseproof.known import KNOWN, File, Known, known

#: The checksums of files that were read before, by path; the oldest make room for the newest.
_CACHE = "checksums.json"
_KEPT = 500


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


@dataclass(frozen=True)
class Available:
    """A known data set and where it is.

    Args:
        name: the data set.
        title: one line for people.
        where: the folder it was found in; None where it is not there.
        built_in: it needs no file.
    """

    name: str
    title: str
    where: Path | None
    built_in: bool


def available(directory: str | Path | None = None) -> list[Available]:
    """List every known data set and where it is."""
    folders = places(directory)
    return [
        Available(
            entry.name,
            entry.title,
            _place(entry, folders),
            not entry.files,
        )
        for entry in KNOWN.values()
    ]


def find_place(entry: Known, directory: str | Path | None) -> Path:
    """Return the first folder that has the data set, or say what to put where."""
    folders = places(directory)
    found = _place(entry, folders) or next((p for p in folders if entry.is_here(p)), None)
    if found is not None:
        return found
    raise DataError(
        f"no {entry.name} in {' or '.join(map(str, folders))}: {way_out(entry, folders[0])}"
    )


def _place(entry: Known, folders: Sequence[Path]) -> Path | None:
    """Return the first folder that has the data set; None if there is none."""
    return next((p for p in folders if entry.is_here(p) and not _is_of_another(entry, p)), None)


def _is_of_another(entry: Known, place: Path) -> bool:
    """Return whether the files under ``place`` belong to a data set with the same file names.

    MNIST and Fashion-MNIST are such, where their files are not in folders of their own.
    """
    found = {path: file for file, path in entry.locate(place) if path is not None}
    rivals = {p for e in KNOWN.values() if e is not entry for _, p in e.locate(place)}
    shared = [path for path in found if path in rivals]
    sums = {path: _remembered_md5(path) for path in shared}
    if not shared or any(md5 == found[path].checksum(path) for path, md5 in sums.items()):
        return False
    return any(_has(e, md5) for e in KNOWN.values() if e is not entry for md5 in sums.values())


def verify(name: str, directory: str | Path | None = None) -> list[FileCheck]:
    """Check the files of a known data set against their published checksums.

    Every file is read, whether or not it was checked before.

    Args:
        name: a known data set.
        directory: where it is; None looks into ``$NOISEPROOF_DATA``, then into the cache folder.

    >>> verify("digits")
    []
    """
    entry = known(name)
    if not entry.files:
        return []
    folders = places(directory)
    found = _place(entry, folders) or next((p for p in folders if entry.is_here(p)), folders[0])
    return check_all(entry, found)


def check_all(entry: Known, place: Path) -> list[FileCheck]:
    """Check an archive, or what it holds, or both: whichever is there."""
    archive = [_check(entry, file, file.find(place), place) for file in entry.files]
    unpacked = [_check(entry, file, file.find(place), place) for file in entry.unpacked]
    if all(check.state == "missing" for check in unpacked):
        return archive
    there = [check for check in archive if check.state != "missing"]
    if len(there) == len(archive):  # nothing is missing: the archive holds it
        unpacked = [check for check in unpacked if check.state != "missing"]
    return there + unpacked


def wrong_unpacked(entry: Known, place: Path) -> list[Path]:
    """Return what came out of an archive, would be read, and is not the published file."""
    return [
        path
        for file, path in entry.locate(place)
        if file in entry.unpacked
        and path is not None
        and _check(entry, file, path, place).state == "wrong"
    ]


def check_read(entry: Known, place: Path) -> None:
    """Raise DataError unless the files that a reader will read are the published ones.

    A file that was right before and has not changed since (by its size and its times) is not read
    again.
    """
    for file, path in entry.locate(place):
        if path is not None:  # what is missing is named by the reader
            check = _check(entry, file, path, place, trusted=True)
            if check.state == "wrong" or (check.state == "unchecked" and file.md5):
                raise DataError(check.problem)


def check_samples(entry: Known, train: int, test: int) -> None:
    """Raise DataError where a data set has not as many samples as were published."""
    if any(entry.samples) and (train, test) != entry.samples:
        raise DataError(
            f"{entry.name} has {entry.samples[0]} + {entry.samples[1]} samples, "
            f"but these files hold {train} + {test}; {_own(entry)}"
        )


def _check(
    entry: Known, file: File, path: Path | None, place: Path, trusted: bool = False
) -> FileCheck:
    if path is None:
        return FileCheck(place / file.path, "missing", f"{place / file.path}: no such file")
    expected = file.checksum(path)
    if not expected:
        problem = f"{path}: only the checksum of {Path(file.path).name} is published; keep it there"
        return FileCheck(path, "unchecked", problem if file.md5 else "")
    found = _remembered_md5(path) if trusted else _md5(path)
    if found == expected:
        return FileCheck(path, "ok")
    whose = next((e.name for e in KNOWN.values() if _has(e, found)), "")
    problem = (
        f"{path} is not the published file of {entry.name}: its md5 is {found}"
        f"{f', a file of {whose}' if whose else ''}, expected {expected}; {_own(entry)}"
    )
    return FileCheck(path, "wrong", problem)


def _own(entry: Known) -> str:
    fetch = "" if entry.page else f"`noiseproof data fetch {entry.name}` gets the right one; "
    return f"{fetch}data of your own is loaded by its path, such as mine.npz or a folder of images"


def _has(entry: Known, md5: str) -> bool:
    return any(md5 in (file.md5, file.inner_md5) for file in entry.files + entry.unpacked)


def _md5(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            # The published checksums are md5; said to be no security, it works on FIPS too.
            return hashlib.file_digest(
                stream, lambda: hashlib.md5(usedforsecurity=False)
            ).hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _remembered_md5(path: Path) -> str:
    """Return the MD5 of a file, read only if it changed since the last time."""
    cache = _cache()
    key, before = str(path.resolve()), files.stamp(path)
    remembered = _read_cache(cache).get(key)
    if isinstance(remembered, list) and remembered[:-1] == before:
        return str(remembered[-1])
    found = _md5(path)
    if cache is not None and before is not None and files.stamp(path) == before:
        entries = _read_cache(cache)
        entries.pop(key, None)
        entries[key] = [*before, found]
        kept = dict(list(entries.items())[-_KEPT:])
        with suppress(FileError):  # without a cache it takes longer, and that is all
            files.write(cache, json.dumps(kept, indent=0))
    return found


def _cache() -> Path | None:
    try:
        return cache_folder() / _CACHE
    except MissingExtraError:
        return None


def _read_cache(cache: Path | None) -> dict[str, Any]:
    if cache is None:
        return {}
    try:
        content = json.loads(cache.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
