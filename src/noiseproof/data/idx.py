"""The idx format of MNIST and its like, compressed or not."""

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
from noiseproof.known import Known


def read(entry: Known, place: Path) -> TrainTest[Dataset]:
    """Read a data set of four idx files, images uint8 (N, 1, H, W).

    Args:
        entry: the data set, whose files are images and labels for training, then for testing.
        place: the folder they are under.
    """
    paths = []
    for file, path in entry.locate(place):
        if path is None:
            raise DataError(f"{place / file.path}: no such file; put it there, or the unpacked one")
        paths.append(path)
    return TrainTest(_read_part(entry, *paths[:2]), _read_part(entry, *paths[2:]))


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


def _read_part(entry: Known, images_path: Path, labels_path: Path) -> Dataset:
    images, labels = read_idx(images_path, 3), read_idx(labels_path, 1)
    if len(images) != len(labels):
        raise DataError(
            f"{labels_path}: {len(labels)} labels for {len(images)} images in {images_path.name}"
        )
    check_range(labels, len(entry.classes), labels_path)
    return Dataset(
        torch.from_numpy(images).unsqueeze(1),
        torch.from_numpy(labels.astype(np.int64)),
        entry.classes,
        entry.name,
        Normalisation.of(entry),
    )
