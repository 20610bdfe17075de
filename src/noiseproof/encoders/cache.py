"""Embeddings that were made before, on the disk: a second fit of the same folder starts at once.

The cache has a folder for each encoder and size, and in it files of some hundred embeddings, each
with the hash of the picture or text it was made from. A file is named by its own hash, so one whose
bytes were changed is noticed and made again. Files are written whole as the work goes on, so
interrupted work is not done again. Reading a file makes it the newest; where all together are
larger than the limit, the oldest are removed.
"""

import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof import files
from noiseproof.data.npy import UNREADABLE, check_array
from noiseproof.encoders.encoder import TEXTS, Identity
from noiseproof.errors import DataError, ParameterError
from noiseproof.extras import need

#: Bytes of a key: the start of a SHA-256.
KEY = 16
#: The most the cache holds, in gigabytes, unless NOISEPROOF_CACHE_LIMIT says otherwise.
LIMIT = 4.0
ABOUT = "about.json"
#: The names that the cache gives; whatever else is in its folder is somebody else's.
FOLDER, FILE = re.compile(r"[0-9a-f]{32}(-\d+)+"), re.compile(r"[0-9a-f]{16}\.npy")
#: Changes whenever encoders make other embeddings of the same inputs: then they are made again.
MAKING = 3

Vectors = dict[bytes, NDArray[np.float32]]
#: What could not be written, by folder: the process keeps it.
_unwritten: dict[Path, Vectors] = {}
#: The keys of the files that were read, one after the other.
_keys: dict[Path, bytes] = {}


def root() -> Path:
    """Return the folder of the cache: NOISEPROOF_CACHE, or the one of this user."""
    need("fit", "platformdirs")
    from platformdirs import user_cache_path

    chosen = os.environ.get("NOISEPROOF_CACHE")
    return (Path(chosen) if chosen else user_cache_path("noiseproof")) / "embeddings"


def limit() -> int:
    """Return the most bytes that the cache may hold."""
    text = os.environ.get("NOISEPROOF_CACHE_LIMIT", str(LIMIT))
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e6:
        raise ParameterError(f"NOISEPROOF_CACHE_LIMIT: expected gigabytes, got {text!r}")
    return int(found * 1e9)


class Cache:
    """The embeddings of one encoder at one size.

    A file holds two arrays: the keys (n, 16) and the embeddings (n, d). The keys of every file are
    read once in a process, embeddings only where one of them is wanted.
    """

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.folder = root() / f"{identity.sha256[:32]}-{identity.size}-{MAKING}"

    def find(self, keys: Iterable[bytes]) -> Vectors:
        """Return the embeddings that are there, by key."""
        wanted, found = set(keys), Vectors()
        for key in wanted & _unwritten.get(self.folder, {}).keys():
            found[key] = _unwritten[self.folder][key]
        for path in _chunks(self.folder):
            if len(found) == len(wanted):
                break
            if path not in _keys:
                _keys[path] = self._read(path, np.uint8, 0, KEY).tobytes()
            blob = _keys[path]
            at = {blob[i : i + KEY]: i // KEY for i in range(0, len(blob), KEY)}
            common = wanted & at.keys()
            if common:
                values = self._read(path, np.dtype("<f4"), 1, self.identity.width)
                if len(values) == len(at) and np.isfinite(values).all():
                    found |= {key: values[at[key]] for key in common}
                    with suppress(OSError):
                        os.utime(path)
        return found

    def add(self, keys: Sequence[bytes], values: NDArray[np.float32]) -> None:
        """Keep embeddings; where the disk takes none, for this process alone."""
        named = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, KEY)

        written = io.BytesIO()
        for array in (named, np.ascontiguousarray(values, "<f4")):
            np.save(written, array, allow_pickle=False)
        whole = written.getvalue()
        try:
            about = self.folder / ABOUT
            if not about.exists():
                files.write(about, json.dumps(asdict(self.identity), indent=1) + "\n")
            files.write(self.folder / f"{_name(hashlib.sha256(whole))}.npy", whole)
        except OSError:  # a FileError, or the folder may not even be looked into
            _unwritten.setdefault(self.folder, {}).update(zip(keys, values, strict=True))

    def _read(self, path: Path, dtype: Any, which: int, width: int) -> Any:
        """Return the first or second array of a file, (n, width); remove a damaged file."""
        try:
            with path.open("rb") as file:
                if which and _name(hashlib.file_digest(file, "sha256")) != path.stem:
                    raise ValueError("its bytes were changed")
                file.seek(0)
                for _ in range(which + 1):
                    start = file.tell()
                    check_array(file, path.stat().st_size)
                    file.seek(start)
                    array = np.load(file, allow_pickle=False)
            if array.dtype == dtype and array.ndim == 2 and array.shape[1] == width:
                return array
        except OSError:  # it is gone, or cannot be opened now
            pass
        except UNREADABLE:
            with suppress(OSError):
                path.unlink()
        _keys.pop(path, None)
        return np.zeros((0, width), dtype)


@dataclass(frozen=True)
class Held:
    """What the cache holds of one encoder.

    Args:
        encoder: its name.
        size: pixels or tokens.
        embeddings: about how many there are.
        bytes: how much room they take.
    """

    encoder: str
    size: int
    embeddings: int
    bytes: int


def held() -> list[Held]:
    """Return what the cache holds, the largest first."""
    found = []
    for folder in _folders():
        size = sum(facts.st_size for facts, _ in _known(folder))
        try:
            files.check_plain(folder / ABOUT)
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            identity = Identity(**about)
        except (DataError, OSError, ValueError, TypeError, RecursionError):
            identity = Identity(folder.name, "", TEXTS, 1, 1)
        found.append(Held(identity.name, identity.size, size // (KEY + 4 * identity.width), size))
    return sorted(found, key=lambda one: -one.bytes)


def clear(keep: int = 0) -> int:
    """Remove the oldest files until ``keep`` bytes are left; return how many bytes went."""
    known = [pair for folder in _folders() for pair in _known(folder)]
    total = sum(facts.st_size for facts, _ in known)
    gone = 0
    for facts, path in sorted(known, key=lambda pair: pair[0].st_mtime):
        if total - gone <= keep:
            break
        path.unlink(missing_ok=True)
        gone += facts.st_size
    for folder in _folders():
        if not _chunks(folder):
            (folder / ABOUT).unlink(missing_ok=True)
            with suppress(OSError):  # somebody else's files are in it
                folder.rmdir()
    return gone


def trim() -> None:
    """Keep the cache within its limit; below it by a tenth, so as not to trim at every fit."""
    most = limit()
    with suppress(OSError):
        if sum(one.bytes for one in held()) > most:
            clear(keep=int(0.9 * most))


def _name(digest: Any) -> str:
    """Return what a file of embeddings is called: the start of its own hash."""
    return str(digest.hexdigest()[:16])


def _folders() -> list[Path]:
    try:
        return sorted(
            path
            for path in root().iterdir()
            if FOLDER.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
        )
    except OSError:
        return []


def _known(folder: Path) -> Iterator[tuple[os.stat_result, Path]]:
    """Yield the files of embeddings with their facts; another process may have removed some."""
    for path in _chunks(folder):
        with suppress(OSError):
            yield path.stat(), path


def _chunks(folder: Path) -> list[Path]:
    """Return the files of embeddings in a folder; none where it may not be looked into."""
    try:
        found = (path for path in folder.glob("*.npy") if FILE.fullmatch(path.name))
        return sorted(path for path in found if path.is_file())  # a pipe would be waited for
    except OSError:
        return []
