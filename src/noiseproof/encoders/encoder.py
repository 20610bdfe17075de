"""What an encoder is."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

PICTURES, TEXTS = "pictures", "texts"
#: No encoder reads more pixels or tokens, or gives more features.
LARGEST = 1 << 20


@dataclass(frozen=True)
class Identity:
    """Which encoder it is; kept in the model, and checked before the model predicts.

    Args:
        name: what the user called it: a word, the name of a model on Hugging Face, or a path.
        sha256: of its weights and of everything else that decides its output.
        encodes: ``"pictures"`` or ``"texts"``.
        size: the side of the pictures in pixels, or the tokens after which a text is cut off.
        width: how many features it gives.
    """

    name: str
    sha256: str
    encodes: str
    size: int
    width: int

    def __post_init__(self) -> None:
        texts = (self.name, self.sha256, self.encodes)
        numbers = (self.size, self.width)
        if not all(isinstance(text, str) for text in texts) or self.encodes not in (
            PICTURES,
            TEXTS,
        ):
            raise ValueError("an encoder of pictures or texts")
        if not all(isinstance(n, int) and 0 < n <= LARGEST for n in numbers):
            raise ValueError("the size and the width of an encoder")

    def __str__(self) -> str:
        unit = "pixels" if self.encodes == PICTURES else "tokens"
        return f"{self.name} ({self.width} features, {self.size} {unit})"


class Encoder(Protocol):
    """Turns pictures or texts into features.

    Attributes:
        identity: which one it is.
        batch: how many inputs it takes at a time.
    """

    identity: Identity
    batch: int

    def encode(self, batch: Any) -> NDArray[np.float32]:
        """Return the features (n, d) of pictures, uint8 (n, 3, size, size), or of n texts.

        Several threads may call it at once.
        """


@contextmanager
def panics_are_errors() -> Iterator[None]:
    """Raise RuntimeError where Rust code panics, as tokenizers may: that is no Exception."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(str(error)) from None


def digest(files: Iterable[tuple[str, bytes | Path]]) -> str:
    """Return one SHA-256 for several files: that of the list of their names and hashes.

    >>> digest([("a.json", b"{}")])[:12]
    '44136fa355b3'
    """
    found = []
    for name, content in files:
        if isinstance(content, Path):
            with content.open("rb") as file:
                found.append((name, hashlib.file_digest(file, "sha256").hexdigest()))
        else:
            found.append((name, hashlib.sha256(content).hexdigest()))
    if len(found) == 1:
        return found[0][1]
    listed = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(found))
    return hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()
