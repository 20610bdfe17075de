"""Pictures as inputs of an encoder: files, or arrays of pixels."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.data.images import check_plain, decode, dimensions, has_colour
from noiseproof.encoders.cache import KEY
from noiseproof.encoders.choose import Facts
from noiseproof.encoders.encoder import PICTURES
from noiseproof.errors import DataError
from noiseproof.parallel import cores
from noiseproof.shown import printable
from noiseproof.threads import each

Pixels = NDArray[np.uint8]
#: How many pictures are looked at to find out what they are like.
SAMPLE = 64
#: Changes whenever files are decoded to other pixels: then their embeddings are made again.
DECODING = b"3"


class _Pictures:
    def order(self, these: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return these pictures as they are."""
        return these

    def stack(self, loaded: list[Any]) -> Pixels:
        """Return pictures as one array."""
        return np.stack(loaded)


class PictureFiles(_Pictures):
    """Picture files, decoded when their turn comes."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files

    def keys(self) -> Sequence[bytes | None]:
        """Return the hash of each file; nothing is decoded."""
        return each(_hash, self.files, cores())

    def load(self, at: int, size: int) -> Pixels:
        """Decode a picture."""
        return decode(self.files[at], size, grey=False)

    def problem(self, at: int, error: Exception | None) -> str:
        """Return why a picture could not be read, without its name."""
        text = str(error) if error else "the file cannot be opened"
        if isinstance(error, MemoryError):
            text = "not enough memory"
        start = printable(f"{self.files[at]}: cannot be read as an image (")  # as errors are
        return text.removeprefix(start).removesuffix(")") if text.startswith(start) else text

    def facts(self) -> Facts:
        """Return how many there are, and what they are like."""
        step = -(-len(self.files) // SAMPLE)
        sides, colour = [], False
        for file in self.files[::step]:
            try:
                sides.append(min(dimensions(file)))
                colour = colour or has_colour(decode(file, 16)[None])
            except DataError:
                continue
        side = int(np.median(sides)) if sides else 0
        return Facts(PICTURES, len(self.files), side, colour)


class PictureArray(_Pictures):
    """Pictures as an array of pixels, uint8 (N, C, H, W)."""

    def __init__(self, images: Pixels) -> None:
        self.images = images

    def keys(self) -> Sequence[bytes | None]:
        """Return the hash of each picture's pixels and shape."""
        shape = str(self.images.shape[1:]).encode()
        each = (hashlib.sha256(shape + np.ascontiguousarray(i).tobytes()) for i in self.images)
        return [found.digest()[:KEY] for found in each]

    def load(self, at: int, size: int) -> Pixels:
        """Crop and resize a picture as :func:`~noiseproof.data.images.decode` does."""
        from PIL import Image, ImageOps

        image = np.broadcast_to(self.images[at], (3, *self.images.shape[2:]))
        picture = Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0)))
        if picture.size != (size, size):
            picture = ImageOps.fit(picture, (size, size), Image.Resampling.BILINEAR)
        return np.ascontiguousarray(np.array(picture, np.uint8).transpose(2, 0, 1))

    def problem(self, at: int, error: Exception | None) -> str:
        """Return why a picture could not be read."""
        return str(error)

    def facts(self) -> Facts:
        """Return how many there are, and what they are like."""
        count, _, *sides = self.images.shape
        return Facts(PICTURES, count, min(sides), has_colour(self.images))


def _hash(path: Path) -> bytes | None:
    try:
        check_plain(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.sha256(DECODING)).digest()[:KEY]
    except OSError:
        return None
