"""How to read a user's file."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from noiseproof.prepare.pictures import Wanted


@dataclass(frozen=True)
class Reading:
    """What is known about a file before it is read.

    Args:
        embeddings: a ``.npy`` or ``.npz`` with a row of features for each row, to use instead.
        encoding: of a text file; None is UTF-8.
        size: the side of the images; None is 32, or less where they are smaller.
        encoder: what encodes the images; None leaves them pixels. Texts are encoded later.
        numbers: the columns that are numbers, perhaps with decimal commas; None finds them.
        texts: the columns that are not numbers, whatever they look like.
        commas: the columns that surely have decimal commas.
    """

    embeddings: str | Path | None = None
    encoding: str | None = None
    size: int | None = None
    encoder: Wanted = None
    numbers: Collection[str] | None = None
    texts: Collection[str] = ()
    commas: Collection[str] = ()
