"""What a grid must know about its data before it runs."""

import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from noiseproof import data
from noiseproof.bench.encoded import encode, encoded
from noiseproof.errors import DataWarning
from noiseproof.known import KNOWN
from noiseproof.results.key import is_known
from noiseproof.train.experiment import fingerprint

#: The column of labels in a table, unless a grid names another.
LABEL = "label"


@dataclass(frozen=True)
class Source:
    """A data set, by what decides a cell.

    Args:
        name: what records call it.
        fingerprint: of the user's own data; empty for published data, whose name says it all.
        shape: of one input, and
        classes: the names of the classes, of the user's own data.
        encoded: the text that decides the features, where an encoder makes some.
    """

    name: str
    fingerprint: str = ""
    shape: tuple[int, ...] = ()
    classes: tuple[str, ...] | None = None
    encoded: str = ""


def find_source(dataset: str, label: str = LABEL, encoder: str = "") -> Source:
    """Describe a data set by its name or path; only the user's own is read for it."""
    known = is_known(dataset)
    found = Source(dataset) if known else _read(dataset, label, _stamp(Path(dataset)))
    if not encoder:
        return found
    pictures = (KNOWN[dataset].fingerprint or dataset) if known else found.fingerprint
    return replace(found, encoded=encoded(encoder, pictures))


def _stamp(path: Path) -> tuple[int, int]:
    """Return what changes when a file does."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=8)
def _read(dataset: str, label: str, stamp: tuple[int, int]) -> Source:
    whole = data.load(dataset, label=label)
    train = whole.train
    return Source(train.name, fingerprint(whole), train.shape, train.classes)


@lru_cache(maxsize=2)
def load_data(
    dataset: str,
    directory: Path | None = None,
    expected: str = "",
    label: str = LABEL,
    encoder: str = "",
) -> Any:
    """Load a data set, and keep it for the next cell of it: for data of the same fingerprint."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # told once, by who asked for the cells
        whole = data.load_any(dataset, directory, label=label)
    return encode(whole, encoder) if encoder else whole
