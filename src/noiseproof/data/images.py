"""Decoding one image file."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noiseproof.errors import DataError
from noiseproof.extras import need

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
)


#: How Pillow's names of greys with more than 8 bits begin.
DEEP = ("I", "F")


def is_image(path: Path) -> bool:
    """Tell by its name whether a file is an image; a pipe is none, whatever its name."""
    return path.suffix.lower() in SUFFIXES and path.name[0] != "." and not path.is_fifo()


def decode(path: Path, size: int | None = None, grey: bool = True) -> npt.NDArray[np.uint8]:
    """Decode an image to uint8 (C, H, W), C = 1 for a grey one and 3 otherwise.

    Args:
        path: the file.
        size: crop to a square about the centre and resize to this side; None leaves it as it is.
        grey: keep a grey image grey; False always gives three channels.
    """
    need("fit", "PIL")
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as file:
            deep = file.mode.startswith(DEEP)
            keep = grey and (deep or file.mode in ("1", "L"))
            if size is not None:
                # JPEG can decode at a fraction of its size, for a fraction of the work.
                file.draft(None, (size, size))
            picture = (eight_bits(file) if deep else file).convert("L" if keep else "RGB")
            if size is not None:
                ImageOps.exif_transpose(picture, in_place=True)  # as the camera was held
        if size is not None and picture.size != (size, size):
            picture = ImageOps.fit(picture, (size, size), Image.Resampling.BILINEAR)
    except _unreadable() as error:
        raise DataError(f"{path}: cannot be read as an image ({_reason(error)})") from None
    array = np.array(picture, np.uint8)
    return array[None] if array.ndim == 2 else np.ascontiguousarray(array.transpose(2, 0, 1))


def eight_bits(picture: "Image.Image") -> "Image.Image":
    """Return a picture of 16-bit or 32-bit greys as 8-bit ones; Pillow would make them white.

    Greys of 16 bits are divided by 257. Floats up to 1 are taken for shares of white.
    """
    from PIL import Image

    if not picture.mode.startswith(DEEP):
        return picture
    values = np.asarray(picture, np.float64)
    if not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= 65535):
        raise ValueError("its greys are not between 0 and 65535")
    most = values.max()
    if picture.mode.startswith("I;16") or most > 255:
        values = values / 257
    elif picture.mode == "F" and most <= 1:
        values = values * 255
    made = Image.fromarray(np.round(values).astype(np.uint8))
    made.info.update(picture.info)
    return made


def dimensions(path: Path) -> tuple[int, int]:
    """Return the width and height of an image file, read from its header alone."""
    need("fit", "PIL")
    from PIL import Image

    try:
        with Image.open(path) as file:
            return file.size
    except _unreadable() as error:
        raise DataError(f"{path}: cannot be read as an image ({_reason(error)})") from None


def _unreadable() -> tuple[type[Exception], ...]:
    """Return what Pillow raises for a damaged file, or for far too many pixels."""
    from PIL import Image

    bombs = Image.DecompressionBombError, Image.DecompressionBombWarning
    return OSError, SyntaxError, ValueError, *bombs


def _reason(error: Exception) -> str:
    """Return why an image cannot be read, without the name of its file."""
    from PIL import UnidentifiedImageError

    if isinstance(error, FileNotFoundError):
        return "no such file"
    return "of no known format" if isinstance(error, UnidentifiedImageError) else str(error)
