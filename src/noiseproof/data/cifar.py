"""The python archives of CIFAR, unpacked or read inside their .tar.gz."""

import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from noiseproof.data.dataset import Dataset, Normalisation, TrainTest
from noiseproof.data.labels import check_range
from noiseproof.data.pickles import PickledArray, read_pickle
from noiseproof.errors import DataError
from noiseproof.known import Known


def read(entry: Known, place: Path) -> TrainTest[Dataset]:
    """Read a data set of CIFAR's format, images uint8 (N, 3, 32, 32).

    Args:
        entry: the data set. Its layout names the file to test with (``test``), the one with the
            names (``meta``), and in them the entries for ``labels`` and ``names``; the other
            unpacked files are to train with.
        place: holds the archive, or the folder that comes out of it.
    """
    layout = entry.layout
    contents, paths = {}, {}
    for member, where, data in _files(entry, place):
        contents[member], paths[member] = read_pickle(data, where), where
    classes = _class_names(contents[layout["meta"]], layout["names"], paths[layout["meta"]])

    def part(members: list[str]) -> Dataset:
        pairs = [_batch(contents[m], layout["labels"], len(classes), paths[m]) for m in members]
        images = np.concatenate([images for images, _ in pairs])
        labels = np.concatenate([labels for _, labels in pairs])
        return Dataset(
            torch.from_numpy(images),
            torch.from_numpy(labels),
            classes,
            entry.name,
            Normalisation.of(entry),
        )

    train = [name for name in _members(entry) if name not in (layout["test"], layout["meta"])]
    return TrainTest(part(train), part([layout["test"]]))


def _members(entry: Known) -> list[str]:
    return [Path(file.path).name for file in entry.unpacked]


def _files(entry: Known, place: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield every file of the data set: its name, where it was found, its bytes."""
    for file, path in entry.locate(place):
        if path is None:
            folder, archive = Path(file.path).parent, entry.files[0].path
            raise DataError(
                f"{place / file.path}: no such file; put {archive} or its {folder} into {place}"
            )
        if file in entry.files:
            yield from _archived(path, entry)
        else:
            try:
                yield path.name, str(path), path.read_bytes()
            except OSError as error:
                raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _archived(archive: Path, entry: Known) -> Iterator[tuple[str, str, bytes]]:
    missing = set(_members(entry))
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
    content: dict[str, Any], key: str, classes: int, where: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    data, answers = content.get("data"), content.get(key)
    if not isinstance(data, PickledArray) or not isinstance(answers, list):
        raise DataError(f"{where}: expected the entries data and {key}")
    try:
        images = data.uint8().reshape(-1, 3, 32, 32)
        labels = np.array(answers, np.int64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{where}: damaged ({error})") from None
    if len(images) != len(labels):
        raise DataError(f"{where}: {len(images)} images but {len(labels)} labels")
    check_range(labels, classes, where)
    return images, labels


def _class_names(content: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    names = content.get(key)
    if not isinstance(names, list) or not names:
        raise DataError(f"{where}: expected the entry {key}")
    return tuple(n.decode() if isinstance(n, bytes) else str(n) for n in names)
