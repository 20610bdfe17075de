"""CIFAR-10 and CIFAR-100: the python archives, unpacked or read inside their .tar.gz."""

import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from noiseproof.data.dataset import Dataset, Normalisation, TrainTest
from noiseproof.data.labels import check_range
from noiseproof.data.pickles import PickledArray, read_pickle
from noiseproof.errors import DataError


@dataclass(frozen=True)
class _Layout:
    name: str
    folder: str
    archive: str
    train: tuple[str, ...]
    test: str
    meta: str
    labels: str
    names: str
    normalisation: Normalisation

    @property
    def members(self) -> tuple[str, ...]:
        return (*self.train, self.test, self.meta)


_CIFAR10 = _Layout(
    name="cifar10",
    folder="cifar-10-batches-py",
    archive="cifar-10-python.tar.gz",
    train=tuple(f"data_batch_{i}" for i in range(1, 6)),
    test="test_batch",
    meta="batches.meta",
    labels="labels",
    names="label_names",
    normalisation=Normalisation((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
)
_CIFAR100 = _Layout(
    name="cifar100",
    folder="cifar-100-python",
    archive="cifar-100-python.tar.gz",
    train=("train",),
    test="test",
    meta="meta",
    labels="fine_labels",
    names="fine_label_names",
    normalisation=Normalisation((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)),
)


def read_cifar10(directory: str | Path) -> TrainTest[Dataset]:
    """Read CIFAR-10, images uint8 (N, 3, 32, 32).

    Args:
        directory: holds ``cifar-10-batches-py/`` or ``cifar-10-python.tar.gz``, or is either.
    """
    return _read(Path(directory), _CIFAR10)


def read_cifar100(directory: str | Path) -> TrainTest[Dataset]:
    """Read CIFAR-100 with its 100 fine classes, images uint8 (N, 3, 32, 32).

    Args:
        directory: holds ``cifar-100-python/`` or ``cifar-100-python.tar.gz``, or is either.
    """
    return _read(Path(directory), _CIFAR100)


def _read(directory: Path, layout: _Layout) -> TrainTest[Dataset]:
    contents, paths = {}, {}
    for member, where, data in _files(directory, layout):
        contents[member], paths[member] = read_pickle(data, where), where
    classes = _class_names(contents[layout.meta], layout, paths[layout.meta])

    def part(members: tuple[str, ...]) -> Dataset:
        pairs = [_batch(contents[m], layout, len(classes), paths[m]) for m in members]
        images = np.concatenate([images for images, _ in pairs])
        labels = np.concatenate([labels for _, labels in pairs])
        return Dataset(
            torch.from_numpy(images),
            torch.from_numpy(labels),
            classes,
            layout.name,
            layout.normalisation,
        )

    return TrainTest(part(layout.train), part((layout.test,)))


def _files(directory: Path, layout: _Layout) -> Iterator[tuple[str, str, bytes]]:
    """Yield every file of the layout: its name, where it was found, its bytes."""
    nested, archive = directory / layout.folder, directory / layout.archive
    root = nested if nested.is_dir() else directory
    if directory.is_file():
        yield from _archived(directory, layout)
    elif not (root / layout.test).is_file() and archive.is_file():
        yield from _archived(archive, layout)
    else:
        for member in layout.members:
            path = root / member
            try:
                yield member, str(path), path.read_bytes()
            except OSError as error:
                raise DataError(
                    f"{path}: cannot be read ({error.strerror}); "
                    f"put {layout.archive} or its {layout.folder} into {directory}"
                ) from None


def _archived(archive: Path, layout: _Layout) -> Iterator[tuple[str, str, bytes]]:
    missing = set(layout.members)
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for info in tar:
                member = info.name.rpartition("/")[2]
                file = tar.extractfile(info) if member in missing else None
                if file is not None:
                    missing.remove(member)
                    yield member, f"{archive}:{info.name}", file.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"{archive}: truncated or not a .tar.gz ({error})") from None
    if missing:
        raise DataError(f"{archive}: holds no {', '.join(sorted(missing))}")


def _batch(
    content: dict[str, Any], layout: _Layout, classes: int, where: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    data, answers = content.get("data"), content.get(layout.labels)
    if not isinstance(data, PickledArray) or not isinstance(answers, list):
        raise DataError(f"{where}: expected the entries data and {layout.labels}")
    try:
        images = data.uint8().reshape(-1, 3, 32, 32)
        labels = np.array(answers, np.int64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{where}: damaged ({error})") from None
    if len(images) != len(labels):
        raise DataError(f"{where}: {len(images)} images but {len(labels)} labels")
    check_range(labels, classes, where)
    return images, labels


def _class_names(content: dict[str, Any], layout: _Layout, where: str) -> tuple[str, ...]:
    names = content.get(layout.names)
    if not isinstance(names, list) or not names:
        raise DataError(f"{where}: expected the entry {layout.names}")
    return tuple(n.decode() if isinstance(n, bytes) else str(n) for n in names)
