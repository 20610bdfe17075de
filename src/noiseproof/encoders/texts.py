"""Texts as inputs of an encoder."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.encoders.cache import KEY


class Texts:
    """A list of texts; the longest come first, so that a batch needs little padding."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    def keys(self) -> Sequence[bytes | None]:
        """Return the hash of each text."""
        # A lone surrogate is no UTF-8, but a text like any other.
        encoded = (text.encode("utf-8", "surrogatepass") for text in self.texts)
        return [hashlib.sha256(each).digest()[:KEY] for each in encoded]

    def order(self, these: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return these texts, the longest first."""
        lengths = np.array([len(self.texts[at]) for at in these], np.int64)
        return these[np.argsort(-lengths, kind="stable")]

    def load(self, at: int, size: int) -> str:
        """Return a text, without what no tokenizer takes."""
        return self.texts[at].encode("utf-8", "replace").decode("utf-8")

    def stack(self, loaded: list[Any]) -> list[str]:
        """Return the texts as they are."""
        return loaded

    def problem(self, at: int, error: Exception | None) -> str:
        """Return why a text could not be read."""
        return str(error)
