"""Folders of images."""

from collections.abc import Iterator
from pathlib import Path

from noiseproof.data import images
from noiseproof.data.folder import list_images, read_images
from noiseproof.errors import DataError
from noiseproof.prepare.file_names import shown
from noiseproof.prepare.memory import check_fits
from noiseproof.prepare.samples import Samples

#: The side of images where none is given.
SIDE = 32


def read_image_folder(path: Path, size: int | None, labelled: bool) -> Samples:
    """Read a folder with a sub-folder of images for each class, or any images without labels."""
    files, labels = list_images(path) if labelled else (_any_images(path), None)
    side = size or min(SIDE, *(min(images.dimensions(file)) for file in files))
    check_fits(path, len(files) * 3 * side * side)
    samples = _samples(path, files, side)
    if labels is not None:
        samples.labels = [shown(label) for label in labels]
    return samples


def image_blocks(path: Path, size: int | None, rows: int) -> Iterator[Samples]:
    """Return the images of a folder in blocks."""
    files = _any_images(path)
    side = size or min(SIDE, *(min(images.dimensions(file)) for file in files))
    for start in range(0, len(files), rows):
        yield _samples(path, files[start : start + rows], side)


def _samples(path: Path, files: list[Path], side: int) -> Samples:
    names = [shown(file.relative_to(path)) for file in files]
    return Samples(shown(path.resolve().name), read_images(files, side), None, names)


def _any_images(path: Path) -> list[Path]:
    files = sorted(f for f in path.rglob("*") if f.suffix.lower() in images.SUFFIXES)
    if not files:
        raise DataError(f"{path}: there are no images in this folder, and no Parquet files")
    return files
