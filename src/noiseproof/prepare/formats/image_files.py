"""Folders of images."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.data import images
from noiseproof.data.folder import find_images, list_images, strays
from noiseproof.encoders.pictures import PictureFiles
from noiseproof.encoders.run import UNUSABLE
from noiseproof.errors import DataError
from noiseproof.memory import check_fits
from noiseproof.prepare.formats.file_names import shown
from noiseproof.prepare.pictures import Wanted, embedded
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, Progress
from noiseproof.threads import each

#: The side of images where none is given.
SIDE = 32


def read_image_folder(
    path: Path, size: int | None, labelled: bool, encoder: Wanted = None,
    progress: Progress = SILENT,
) -> Samples:  # fmt: skip
    """Read a folder with a sub-folder of images for each class, or any images without labels.

    Pictures that cannot be read are set aside and noted.
    """
    files, labels = list_images(path) if labelled else (_any_images(path), None)
    with images.wary():
        samples, kept = _samples(path, files, size, encoder, progress)
    if labels is not None:
        samples.labels = [shown(labels[at]) for at in kept]
        pictures = _left_out(
            "pictures that are not directly in the folder of a class", strays(path)
        )
        inside = sorted(file for file in path.glob("[!.]*/[!.]*") if file.is_file())
        others = [file.relative_to(path) for file in inside if not images.is_image(file)]
        samples.doubts = pictures
        samples.notes += _left_out("files whose names are none of pictures", others)
        gone = sorted({shown(label) for label in labels} - set(samples.labels))
        if gone and len(set(samples.labels)) < 2:
            raise DataError(
                f"{path}: none of the pictures of {gone[0]!r} can be read: "
                + next(line for line in samples.unread if line.startswith(f"{gone[0]}/"))
            )
    return samples


def _left_out(what: str, files: Sequence[Path]) -> tuple[str, ...]:
    """Return a line about files that a user may believe to be read, if there are any."""
    return (f"{what} are left out: {len(files):,}, such as {shown(files[0])}",) if files else ()


def image_blocks(
    path: Path, size: int | None, rows: int, encoder: Wanted = None,
    progress: Progress = SILENT,
) -> Iterator[Samples]:  # fmt: skip
    """Return the images of a folder in blocks."""
    files = _any_images(path)
    with images.wary():
        side = None if encoder else size or _side(files)
        for start in range(0, len(files), rows):
            part = files[start : start + rows]
            samples, kept = _samples(path, part, side, encoder, all_may_fail=True)
            progress.update(min(start + rows, len(files)), len(files), "pictures")
            if kept:
                yield samples


def _samples(
    path: Path, files: Sequence[Path], size: int | None, encoder: Wanted,
    progress: Progress = SILENT, all_may_fail: bool = False,
) -> tuple[Samples, list[int]]:  # fmt: skip
    """Return the pictures that can be read, and their numbers among ``files``."""
    pictures = PictureFiles(files)
    found, note = embedded(pictures, encoder, progress)
    inputs: NDArray[Any]
    if found is None:
        side = size or _side(files)
        check_fits(path, len(files) * 3 * side * side)
        inputs, problems = _decoded(pictures, side, progress)
        identity = None
    else:
        identity, inputs, problems = found.identity, found.values, found.problems
    kept = [at for at in range(len(files)) if at not in problems]
    names = [shown(file.relative_to(path)) for file in files]
    unread = tuple(f"{names[at]} ({why})" for at, why in problems.items())
    unusable = tuple(names[at] for at, why in problems.items() if why == UNUSABLE)
    if not kept and not all_may_fail:
        raise DataError(f"{path}: none of {len(files):,} pictures can be read: {unread[0]}")
    samples = Samples(
        shown(path.resolve().name), inputs[kept] if problems else inputs, None,
        [names[at] for at in kept], (note,) if note else (), encoder=identity, unread=unread,
        unusable=unusable,
    )  # fmt: skip
    return samples, kept


def _decoded(
    pictures: PictureFiles, side: int, progress: Progress
) -> tuple[NDArray[np.uint8], dict[int, str]]:
    """Decode pictures to uint8 (N, C, side, side): grey if all are, else coloured."""

    def decode(at: int) -> NDArray[np.uint8] | str:
        try:
            return images.decode(pictures.files[at], side)
        except Exception as error:  # a decoder meets with anything
            return pictures.problem(at, error)

    count = len(pictures.files)
    made = each(
        decode, range(count), images.DECODERS, lambda done: progress.update(done, count, "images")
    )
    problems = {at: why for at, why in enumerate(made) if isinstance(why, str)}
    nothing = np.zeros((1, side, side), np.uint8)
    found = [nothing if isinstance(image, str) else image for image in made]
    whole = np.empty((len(found), max(map(len, found)), side, side), np.uint8)
    for at, image in enumerate(found):
        whole[at] = image  # a grey image among colour ones is repeated over the channels
    return whole, problems


def _side(files: Sequence[Path]) -> int:
    """Return the side that nine pictures in ten have at least, or SIDE if that is smaller.

    A stray picture of one pixel does not make all of them as small.
    """
    sides = []
    for file in files:
        try:
            sides.append(min(images.dimensions(file)))
        except DataError:
            continue
    return min(SIDE, int(np.quantile(sides, 0.1, method="higher"))) if sides else SIDE


def _any_images(path: Path) -> list[Path]:
    files = find_images(path)
    if not files:
        raise DataError(f"{path}: there are no images in this folder, and no Parquet files")
    return files
