"""The files of a model's folder: which are read, which are hashed, and none beside these."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from noiseproof.encoders.encoder import digest
from noiseproof.encoders.hub import PATTERNS
from noiseproof.errors import DataError
from noiseproof.files import check_plain

#: No description is larger, in bytes.
LARGEST = 16 << 20
#: The keys by which tokenizer_config.json may name other files.
FILES = ("fast_tokenizer_files", "tokenizer_file", "vocab_file", "merges_file")


def hash_of(folder: Path) -> str:
    """Return one hash of the weights and of the files that say how to use them."""
    return digest((name, folder / name) for name in hashed(folder))


def hashed_files(folder: Path) -> list[Path]:
    """Return the files that :func:`hash_of` hashes."""
    return [folder / name for name in hashed(folder)]


def hashed(folder: Path) -> set[str]:
    """Return the names of the files that :func:`hash_of` hashes."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    weights = [name for name in names if name.endswith(".safetensors")]
    weights = weights or [name for name in names if name.endswith(".bin")]
    return {*weights, *(name for name in names if any(fnmatchcase(name, one) for one in PATTERNS))}


def check_weights(folder: Path, described: dict[str, Any], single: str) -> None:
    """Refuse weights that are in no hash: a description may name files of any folder.

    Args:
        folder: of the model.
        described: its config.json.
        single: the file of the weights, where they are in one.
    """
    first = described.get("transformers_weights")
    if first is None:
        first = single if (folder / single).is_file() else f"{single}.index.json"
    index = str(first).endswith("json")
    parts = described_in(folder / str(first)).get("weight_map") if index else None
    known = hashed(folder)
    for name in (first, *(parts.values() if isinstance(parts, dict) else ())):
        if str(name) not in known and (folder / str(name)).exists():
            raise DataError(
                f"{folder}: some of its weights are in {name!r}; all of them must be .safetensors, "
                "or all .bin, in the folder itself"
            )


def check_tokenizer(folder: Path, read: Mapping[str, str]) -> None:
    """Refuse files of a tokenizer that are in no hash: they may be of any folder and any kind.

    Args:
        folder: of the model.
        read: the names of the files that its tokenizer reads, unless tokenizer_config.json has
            others under the same keys.
    """
    described, known = described_in(folder / "tokenizer_config.json"), hashed(folder)
    named = [described.get(key) for key in {*FILES, *read}]
    for name in (*read.values(), *(n for one in named for n in _listed(one))):
        if isinstance(name, str) and name not in known and (folder / name).is_file():
            raise DataError(
                f"{folder}: its tokenizer reads {name!r}; expected only {', '.join(PATTERNS)} in "
                "the folder itself"
            )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def described_in(path: Path) -> dict[str, Any]:
    """Return a description in JSON; nothing if there is none that can be read."""
    try:
        check_plain(path)
        size = path.stat().st_size
        found = json.loads(path.read_text(encoding="utf-8")) if size <= LARGEST else {}
    except (DataError, OSError, ValueError, RecursionError):
        return {}
    if size > LARGEST:  # transformers would read it all the same
        raise DataError(f"{path}: larger than {LARGEST >> 20} MiB")
    return found if isinstance(found, dict) else {}


@contextmanager
def in_utf8(folder: Path) -> Iterator[Path]:
    """Give the folder a path that is UTF-8: the readers of weights and words know no other."""
    if str(folder).isprintable() or not any("\udc80" <= c <= "\udcff" for c in str(folder)):
        yield folder
        return
    with TemporaryDirectory(prefix="noiseproof-") as place:
        link = Path(place, "encoder")
        link.symlink_to(folder, target_is_directory=True)
        yield link
