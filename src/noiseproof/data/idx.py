"""MNIST and Fashion-MNIST: the idx format, compressed or not."""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from noiseproof.data.dataset import Dataset, Normalisation, TrainTest
from noiseproof.data.labels import check_range
from noiseproof.errors import DataError

DIGITS = tuple("0123456789")
CLOTHES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def read_mnist(directory: str | Path) -> TrainTest[Dataset]:
    """Read MNIST, images uint8 (N, 1, 28, 28), from ``MNIST/raw/`` or the directory itself."""
    normalisation = Normalisation((0.1307,), (0.3081,))
    return _read_pair(Path(directory), "MNIST", "mnist", DIGITS, normalisation)


def read_fashion_mnist(directory: str | Path) -> TrainTest[Dataset]:
    """Read Fashion-MNIST, as MNIST, from ``FashionMNIST/raw/`` or the directory itself."""
    normalisation = Normalisation((0.2860,), (0.3530,))
    return _read_pair(Path(directory), "FashionMNIST", "fashion-mnist", CLOTHES, normalisation)


def read_idx(path: Path, dimensions: int) -> npt.NDArray[np.uint8]:
    """Read one idx file of bytes, ``.gz`` or raw.

    Args:
        path: the file.
        dimensions: 3 for images (magic number 2051), 1 for labels (2049).
    """
    data = _contents(path)
    header = 4 + 4 * dimensions
    expected = 0x0800 + dimensions
    magic = int.from_bytes(data[:4], "big")
    if len(data) < 4 or magic != expected:
        kind = "images" if dimensions == 3 else "labels"
        raise DataError(
            f"{path}: not an idx file of {kind}: magic number {magic}, expected {expected}"
        )
    shape = tuple(int.from_bytes(data[at : at + 4], "big") for at in range(4, header, 4))
    if len(data) != header + math.prod(shape):
        state = "truncated" if len(data) < header + math.prod(shape) else "too long"
        raise DataError(
            f"{path}: {state}: {len(data)} bytes where {header + math.prod(shape)} are announced"
        )
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)


def _contents(path: Path) -> bytearray:
    # A bytearray, because torch refuses to share memory that must not be written to.
    try:
        data = path.read_bytes()
        return bytearray(gzip.decompress(data) if path.suffix == ".gz" else data)
    except EOFError:
        raise DataError(f"{path}: truncated: the compressed data end too early") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: not a sound gzip file ({error})") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _read_pair(
    directory: Path, folder: str, name: str, classes: tuple[str, ...], normalisation: Normalisation
) -> TrainTest[Dataset]:
    nested = directory / folder / "raw"
    root = nested if nested.is_dir() else directory
    train, test = (
        _read_part(root, part, name, classes, normalisation) for part in ("train", "t10k")
    )
    return TrainTest(train, test)


def _read_part(
    root: Path, part: str, name: str, classes: tuple[str, ...], normalisation: Normalisation
) -> Dataset:
    images_path, labels_path = (
        _find(root, f"{part}-images-idx3"),
        _find(root, f"{part}-labels-idx1"),
    )
    images, labels = read_idx(images_path, 3), read_idx(labels_path, 1)
    if len(images) != len(labels):
        raise DataError(
            f"{labels_path}: {len(labels)} labels for {len(images)} images in {images_path.name}"
        )
    check_range(labels, len(classes), labels_path)
    return Dataset(
        torch.from_numpy(images).unsqueeze(1),
        torch.from_numpy(labels.astype(np.int64)),
        classes,
        name,
        normalisation,
    )


def _find(root: Path, stem: str) -> Path:
    for name in (f"{stem}-ubyte", f"{stem}-ubyte.gz"):
        if (root / name).is_file():
            return root / name
    raise DataError(f"{root / stem}-ubyte.gz: no such file; put it there, or the unpacked one")
