"""A user's own images: a folder with one sub-folder a class."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from noiseproof.data.dataset import Dataset, TrainTest, hold_out
from noiseproof.data.images import DECODERS, decode, is_image
from noiseproof.errors import DataError, DataWarning
from noiseproof.files import below
from noiseproof.progress import SILENT, Progress
from noiseproof.threads import each

_WAY_OUT = "scale them to one size, as data.load(folder, size=32) does in Python"

#: What a folder of test pictures is called, the first that is there.
TESTS = ("test", "val", "valid", "validation")


def read_folder(
    directory: str | Path, size: int | None = None, progress: Progress = SILENT
) -> TrainTest[Dataset]:
    """Read images by class from ``cat/``, ``dog/``, ..., or from ``train/cat/``, ``test/cat/``, ...

    Without ``train`` and ``test`` (or ``val``, ``valid``, ``validation``), a fifth is held out.
    Of several such folders the first in this order is read, with a warning about the others.

    Args:
        directory: the folder.
        size: crop and resize every image to a square of this side; None asks that they are all
            of one size.
        progress: hears how many are decoded.
    """
    root = Path(directory)
    folders = _folders(root)
    test = next((name for name in TESTS if name in folders), None)
    if "train" not in folders or test is None:
        _check_all_are_read(root, folders)
        return hold_out(_read(root, folders, size, progress))
    classes = _folders(root / "train")
    _check_all_are_read(root / "train", classes)
    _check_all_are_read(root / test, ())
    unknown = sorted(set(_folders(root / test)) - set(classes))
    if unknown:
        raise DataError(f"{root / test / unknown[0]}: no class of that name in {root / 'train'}")
    if stray := next((path for path in sorted(root.iterdir()) if is_image(path)), None):
        raise DataError(f"{stray}: not in the folder of a class; move it there")
    unread = [name for name in folders if name not in ("train", test)]
    if unread:
        what = f"{root}: train and {test} are read, and not {', '.join(unread)}"
        warnings.warn(what, DataWarning, stacklevel=2)
    train = _read(root / "train", classes, size, progress)
    tested = _read(root / test, classes, size, progress)
    channels = max(train.shape[0], tested.shape[0])
    train, tested = (_in_colour(part, channels) for part in (train, tested))
    if train.shape != tested.shape:
        raise DataError(
            f"{root}: training images are {train.shape}, test images {tested.shape}; {_WAY_OUT}"
        )
    return TrainTest(
        replace(train, name=root.name),
        replace(tested, name=root.name, normalisation=train.constants),
    )


def _folders(root: Path) -> list[str]:
    try:
        return sorted(p.name for p in root.iterdir() if p.is_dir() and p.name[0] != ".")
    except OSError as error:
        raise DataError(f"{root}: cannot be read ({error.strerror})") from None


def _check_all_are_read(root: Path, classes: Sequence[str]) -> None:
    """Raise an error where a user may believe in a class, or a picture, that is not read."""
    for name in strays(root):
        raise DataError(f"{root / name}: not in the folder of a class; move it there")
    for folder in classes:
        if not any(map(is_image, (root / folder).iterdir())):
            raise DataError(f"{root / folder}: no pictures for this class; remove the folder")


def strays(root: Path) -> list[Path]:
    """Return the images below ``root`` that are not directly in the folder of a class.

    By their names from there.
    """
    below = (path.relative_to(root) for path in find_images(root))
    return [name for name in below if len(name.parts) != 2]


def list_images(root: Path) -> tuple[list[Path], list[str]]:
    """Return the image files in the sub-folders of ``root``, and for each its sub-folder's name."""
    files = [
        path
        for name in _folders(root)
        for path in sorted((root / name).iterdir())
        if is_image(path)
    ]
    labels = [path.parent.name for path in files]
    if not files:
        also = f"; is {root / 'train'} meant?" if (root / "train").is_dir() else ""
        raise DataError(
            f"{root}: expected a sub-folder of images for each of two or more classes{also}"
        )
    return files, labels


def find_images(root: Path) -> list[Path]:
    """Return the image files anywhere below ``root``, in sub-folders that are links too.

    What is hidden, or in a hidden folder, is not looked at: thumbnails, checkpoints.
    """
    linked = [p for p in root.iterdir() if p.is_symlink() and p.is_dir()]
    inside = [path for folder in linked for path in folder.iterdir()]
    found = (path for path in [*below(root, hidden=False), *inside] if is_image(path))
    return sorted(p for p in found if not any(part[0] == "." for part in p.relative_to(root).parts))


def read_images(
    files: Sequence[Path], size: int | None = None, progress: Progress = SILENT
) -> npt.NDArray[np.uint8]:
    """Decode image files to uint8 (N, C, H, W), grey ones among coloured ones as coloured."""
    images = each(
        lambda file: decode(file, size), files, DECODERS,
        lambda done: progress.update(done, len(files), "images"),
    )  # fmt: skip
    colour = max(len(image) for image in images)
    for image, path in zip(images, files, strict=True):
        if image.shape[1:] != images[0].shape[1:]:
            first, this = ("x".join(map(str, i.shape[1:])) for i in (images[0], image))
            raise DataError(f"{path}: {this} pixels where {files[0]} has {first}; {_WAY_OUT}")
    whole = np.empty((len(images), colour, *images[0].shape[1:]), np.uint8)
    for at, image in enumerate(images):
        whole[at] = image  # a grey image among colour ones is repeated over the channels
    return whole


def _in_colour(part: Dataset, channels: int) -> Dataset:
    """Return pictures with so many channels: greys are repeated over them."""
    return replace(part, inputs=part.inputs.expand(-1, channels, -1, -1).contiguous())


def _read(root: Path, classes: list[str], size: int | None, progress: Progress) -> Dataset:
    files, names = list_images(root)
    if len(classes) < 2:
        raise DataError(f"{root}: expected a sub-folder of images for each of two or more classes")
    labels = torch.tensor([classes.index(name) for name in names])
    images = torch.from_numpy(read_images(files, size, progress))
    return Dataset(images, labels, tuple(classes), root.name)
