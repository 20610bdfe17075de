"""WebVision-mini: images of the web, decoded when they are wanted."""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils import data

from noiseproof.data.dataset import Normalisation, TrainTest
from noiseproof.data.images import decode
from noiseproof.errors import DataError
from noiseproof.files import check_plain
from noiseproof.known import Known


@dataclass(frozen=True, eq=False, repr=False)
class LazyImages(data.Dataset[tuple[Tensor, int]]):
    """Labelled image files, for ``torch.utils.data.DataLoader`` and its worker processes.

    An item is an image, uint8 (3, size, size), cropped about the centre, and its label.

    Args:
        root: the folder the paths are relative to.
        paths: one a sample.
        labels: int64 (N,).
        classes: the names.
        name: what to call it.
        size: the side of the decoded images.
        normalisation: mean and std of each channel, of pixels in 0..1.
    """

    root: Path
    paths: tuple[str, ...]
    labels: Tensor
    classes: tuple[str, ...]
    name: str
    size: int
    normalisation: Normalisation

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        image = decode(self.root / self.paths[index], self.size, grey=False)
        return torch.from_numpy(image), int(self.labels[index])

    def __repr__(self) -> str:
        return (
            f"LazyImages({self.name!r}, {len(self)} images of 3x{self.size}x{self.size}, "
            f"{len(self.classes)} classes)"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input, (3, size, size)."""
        return (3, self.size, self.size)

    @property
    def mean(self) -> tuple[float, ...]:
        """The mean of each channel, of pixels in 0..1."""
        return self.normalisation.mean

    @property
    def std(self) -> tuple[float, ...]:
        """The standard deviation of each channel."""
        return self.normalisation.std

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of size, paths, labels and the lengths of the files.

        The 16 GB of images themselves are not read, but one that is missing is found before hours
        of training.
        """
        digest = hashlib.sha256(f"{self.size}\n".encode())
        missing = []
        for path, label in zip(self.paths, self.labels.tolist(), strict=True):
            try:
                length = (self.root / path).stat().st_size
            except (OSError, ValueError):  # a name may hold a NUL
                missing.append(path)
            else:
                digest.update(f"{path} {label} {length}\n".encode())
        if missing:
            raise DataError(
                f"{self.root / missing[0]}: no such picture, though it is listed; "
                f"{len(missing):,} of {len(self):,} are missing"
            )
        return digest.hexdigest()


def read(entry: Known, place: Path, size: int = 224) -> TrainTest[LazyImages]:
    """Open the first concepts of WebVision 1.0's Google part and of its validation set.

    Args:
        entry: the data set, which has as many classes as concepts are wanted.
        place: the publisher's folder, with ``google/``, ``val_images_256/`` and ``info/``.
        size: the side of the decoded images.
    """
    classes = _class_names(place / "info" / "synsets.txt", entry.classes)
    parts = {}
    for part, listing, folder, prefix in (
        ("train", "train_filelist_google.txt", "google", ""),
        ("test", "val_filelist.txt", "val_images_256", "val_images_256/"),
    ):
        paths, labels = _read_list(place / "info" / listing, len(classes))
        if not (place / folder).is_dir():
            raise DataError(f"{place / folder}: no such folder; unpack the images of {part} there")
        parts[part] = LazyImages(
            place,
            tuple(prefix + path for path in paths),
            torch.from_numpy(labels),
            classes,
            entry.name,
            size,
            Normalisation(entry.mean, entry.std),
        )
    return TrainTest(parts["train"], parts["test"])


def _read_list(path: Path, concepts: int) -> tuple[list[str], npt.NDArray[np.int64]]:
    paths, labels = [], []
    for number, line in enumerate(_lines(path), start=1):
        found = re.fullmatch(r"(.+) ([0-9]{1,9})", line)
        if found is None:
            raise DataError(f"{path}: line {number} is not an image and a number: {line[:60]!r}")
        if int(found[2]) < concepts:
            paths.append(found[1].strip())
            labels.append(int(found[2]))
    if not paths:
        raise DataError(f"{path}: lists no image of the first {concepts} concepts")
    return paths, np.array(labels, np.int64)


def _class_names(path: Path, numbers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first name of each synset; numbers where the list is not there."""
    if not path.is_file():
        return numbers
    count = len(numbers)
    names = [line.partition(" ")[2].partition(",")[0] for line in _lines(path)[:count]]
    if len(names) < count:
        raise DataError(f"{path}: truncated: {len(names)} synsets, expected {count} or more")
    return tuple(names)


def _lines(path: Path) -> list[str]:
    check_plain(path)
    try:
        return path.read_text("utf-8-sig").removesuffix("\n").split("\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not a text file") from None
