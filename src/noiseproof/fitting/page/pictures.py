"""Small copies of pictures, to look at in a page."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.data.folder import find_images
from noiseproof.data.images import alone, flat, open_picture, upright, wary
from noiseproof.prepare.formats.file_names import shown
from noiseproof.threads import each

#: The longest side of a thumbnail, where there are at most so many of them: a page of 10,000
#: stays under 25 MB.
SIDES = ((600, 160), (2500, 112))
SMALLEST = 72
#: The longest side of a picture that is kept exactly.
TINY = 24


@dataclass(frozen=True, eq=False)
class Pictures:
    """The pictures of some rows: files in a folder, or arrays.

    Args:
        folder: the folder, where they are files.
        names: the name of each row: its path in the folder.
        arrays: uint8 (N, C, H, W), where there are no files.
    """

    folder: Path | None
    names: Sequence[int | str]
    arrays: NDArray[np.uint8] | None = field(default=None, repr=False)

    @cached_property
    def _files(self) -> dict[str, Path]:
        # By the names as they are shown, where bytes that are not UTF-8 are written out.
        root = self.folder
        return {} if root is None else {shown(f.relative_to(root)): f for f in find_images(root)}

    def thumbnails(self, rows: Sequence[int]) -> list[str]:
        """Return a ``data:`` address for each row; "" where its picture cannot be read."""
        side = next((side for most, side in SIDES if len(rows) <= most), SMALLEST)
        with wary():
            return each(lambda row: self._thumbnail(row, side), rows, threads=2)

    def _thumbnail(self, row: int, side: int) -> str:
        if self.arrays is not None:
            return _encoded(_of_array(self.arrays[row]), side)
        path = self._files.get(str(self.names[row]))
        if path is None:
            return ""
        try:
            with open_picture(path) as file:
                file.draft("RGB", (side, side))  # JPEG decodes at a fraction of its size
                with alone(file):
                    return _encoded(upright(flat(file, "RGB")), side)
        except Exception:  # a decoder meets with anything, and too little memory is no reason
            return ""  # to lose the fit


def _of_array(pixels: NDArray[np.uint8]) -> Any:
    from PIL import Image

    if len(pixels) == 3:
        return Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
    return Image.fromarray(np.ascontiguousarray(pixels[0]))


def _encoded(picture: Any, side: int) -> str:
    tiny = max(picture.size) <= TINY  # whose pixels are to be seen
    picture.thumbnail((side, side))
    stream = io.BytesIO()
    if tiny:
        picture.save(stream, "PNG")
    else:
        picture.save(stream, "JPEG", quality=75)
    text = base64.b64encode(stream.getvalue()).decode("ascii")
    return f"data:image/{'png' if tiny else 'jpeg'};base64,{text}"
