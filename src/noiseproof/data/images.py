"""Decoding one image file."""

import os
import stat
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
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


#: The formats that are read, whatever the suffix says. Pillow knows more: it gives a file that is
#: PostScript to Ghostscript, which runs it.
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "MPO", "PNG", "PPM", "TIFF", "WEBP")
#: How Pillow's names of greys with more than 8 bits begin.
DEEP = ("I", "F")
#: The tags of a TIFF with the bits of a grey, and with what 0 means: 0 is white, 1 is black.
BITS, PHOTOMETRIC = 258, 262
#: Pictures of more pixels are decoded one at a time, however many threads there are.
LARGE = 1 << 24
#: Pictures that are read at a time: some of the threads wait for the disk.
DECODERS = min(32, (os.cpu_count() or 1) + 4)
_large = threading.Lock()


def is_image(path: Path) -> bool:
    """Tell by its name whether a file is an image; a pipe is none, whatever its name."""
    return path.suffix.lower() in SUFFIXES and path.name[0] != "." and not path.is_fifo()


def decode(path: Path, size: int | None = None, grey: bool = True) -> npt.NDArray[np.uint8]:
    """Decode an image, as the camera was held, to uint8 (C, H, W): C = 1 if it is grey, else 3.

    Args:
        path: the file.
        size: crop to a square about the centre and resize to this side; None leaves it as it is.
        grey: keep a grey image grey; False always gives three channels.
    """
    need("fit", "PIL")
    from PIL import Image, ImageOps

    try:
        with open_picture(path) as file:
            keep = grey and _is_grey(file)
            if size is not None:
                # JPEG can decode at a fraction of its size, for a fraction of the work.
                file.draft(None, (size, size))
            with alone(file):
                picture = upright(flat(file, "L" if keep else "RGB"))
                if size is not None and picture.size != (size, size):
                    picture = ImageOps.fit(picture, (size, size), Image.Resampling.BILINEAR)
    except _unreadable() as error:
        raise DataError(f"{path}: cannot be read as an image ({_reason(error)})") from None
    return _array(picture)


def alone(picture: "Image.Image") -> AbstractContextManager[object]:
    """Return what lets one thread at a time decode large pictures."""
    return nullcontext() if picture.width * picture.height <= LARGE else _large


def pixels(picture: "Image.Image") -> npt.NDArray[np.uint8]:
    """Return a picture in memory as :func:`decode` returns one in a file."""
    return _array(upright(flat(picture, "L" if _is_grey(picture) else "RGB")))


def _is_grey(picture: "Image.Image") -> bool:
    return picture.mode.startswith(DEEP) or picture.mode in ("1", "L")


def _array(picture: "Image.Image") -> npt.NDArray[np.uint8]:
    """Return the values of a picture in grey or RGB as uint8 (C, H, W)."""
    array = np.array(picture, np.uint8)
    return array[None] if array.ndim == 2 else np.ascontiguousarray(array.transpose(2, 0, 1))


@contextmanager
def wary() -> Iterator[None]:
    """Refuse pictures with more pixels than Pillow thinks safe; be silent about damaged EXIF data.

    By default it warns of both. The filters of warnings belong to all threads, so this is called
    before they start.
    """
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")
        yield


@contextmanager
def open_picture(path: Path) -> "Iterator[Image.Image]":
    """Open a picture of a format that runs nothing; what is not a plain file is not opened."""
    from PIL import Image

    check_plain(path)
    Image.init()
    formats = [name for name in FORMATS if name in Image.OPEN]
    # Given a name, Pillow maps the file into memory; TIFF greys that are to be turned by a quarter
    # come out scrambled then.
    with path.open("rb") as stream, Image.open(stream, formats=formats) as file:
        yield file


def check_plain(path: Path) -> None:
    """Raise OSError for a pipe, a device or a folder, whose content may have no end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("not a plain file")


def flat(picture: "Image.Image", mode: str) -> "Image.Image":
    """Return a picture in 8 bits as it looks on white, where parts of it are transparent."""
    from PIL import Image

    picture = _eight_bits(picture)
    # Under what is transparent there is any colour, most often black.
    if "A" in picture.getbands() or "a" in picture.getbands() or "transparency" in picture.info:
        white = Image.new("RGBA", picture.size, "white")
        white.alpha_composite(picture.convert("RGBA"))
        white.info.update({k: v for k, v in picture.info.items() if k != "transparency"})
        picture = white
    return picture.convert(mode)


def upright(picture: "Image.Image") -> "Image.Image":
    """Return a picture as the camera was held; as it is, where its EXIF data are damaged."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(picture)
    except Exception:  # their parser meets with anything, and the pixels are whole
        return picture


def _eight_bits(picture: "Image.Image") -> "Image.Image":
    """Return a picture of 16-bit or 32-bit greys as 8-bit ones; Pillow would make them white."""
    from PIL import Image

    if not picture.mode.startswith(DEEP):
        return picture
    values, white = np.asarray(picture), _white(picture)
    if not 0 <= values.min() <= values.max() <= white:  # NaN where any is
        raise ValueError(f"its greys are not between 0 and {white}")
    greys = np.empty(values.shape, np.uint8)
    for row, found in zip(values, greys, strict=True):  # a picture of float64 is eight times it
        found[:] = np.round(row.astype(np.float64) * (255 / white))
    if getattr(picture, "tag_v2", {}).get(PHOTOMETRIC) == 0:  # Pillow turns 8 bits round, not these
        greys = 255 - greys
    if isinstance(clear := picture.info.get("transparency"), int):  # the grey that stands for none
        greys[values == clear] = 255
    made = Image.fromarray(greys)
    made.info.update({k: v for k, v in picture.info.items() if k != "transparency"})
    return made


def _white(picture: "Image.Image") -> int:
    """Return which grey is white, by the type and not the content: dark pictures stay dark.

    For floats it is 1, as in most software that writes them; one of 0..255 is refused rather than
    guessed at. 32-bit integers do not say it, and most often hold what 16 bits can. Pillow itself
    stretches what has fewer than 16 bits, but for a TIFF.
    """
    if picture.mode == "F":
        return 1
    bits = getattr(picture, "tag_v2", {}).get(BITS, (16,))[0]
    return int(2 ** min(bits, 16) - 1)


def dimensions(path: Path) -> tuple[int, int]:
    """Return the width and height of an image file, read from its header alone."""
    need("fit", "PIL")
    try:
        with open_picture(path) as file:
            return file.size
    except _unreadable() as error:
        raise DataError(f"{path}: cannot be read as an image ({_reason(error)})") from None


def _unreadable() -> tuple[type[Exception], ...]:
    """Return what Pillow raises for a damaged file, or for far too many pixels."""
    from PIL import Image

    # AVIF's decoder raises RuntimeError.
    bombs = Image.DecompressionBombError, Image.DecompressionBombWarning
    return OSError, SyntaxError, ValueError, RuntimeError, *bombs


def _reason(error: Exception) -> str:
    """Return why an image cannot be read, without the name of its file."""
    from PIL import UnidentifiedImageError

    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, UnidentifiedImageError):
        return "of no known format"
    # The text of an error of the system has the name of the file.
    return str(getattr(error, "strerror", None) or error)


def has_colour(images: npt.NDArray[np.uint8]) -> bool:
    """Return whether pictures (N, C, H, W) have colour: greys may be written as red, green, blue.

    >>> has_colour(np.zeros((2, 3, 8, 8), np.uint8))
    False
    """
    return any(not np.array_equal(images[:, 0], images[:, c]) for c in range(1, images.shape[1]))
