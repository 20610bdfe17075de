"""One entry point to every data set: by its name, or by the path of the user's own."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import Tensor

from noiseproof.data.checksums import check_read, check_samples, find_place
from noiseproof.data.dataset import Dataset, TrainTest, hold_out
from noiseproof.data.folder import read_folder
from noiseproof.data.npz import read_npz
from noiseproof.data.table import read_table
from noiseproof.data.webvision import LazyImages
from noiseproof.errors import DataError, ParameterError
from noiseproof.known import KNOWN, Known, known, with_human_labels
from noiseproof.progress import SILENT, Progress
from noiseproof.tables.read import table_suffix


def load(
    name: str | Path,
    directory: str | Path | None = None,
    *,
    label: str = "label",
    size: int | None = None,
    verify: bool = True,
    progress: Progress = SILENT,
) -> TrainTest[Dataset]:
    """Load a data set into memory.

    Args:
        name: a known name, such as ``"digits"``, ``"mnist"`` or ``"cifar10"``; or the path of an
            ``.npz``, a ``.csv``, ``.tsv`` or ``.parquet``, or a folder of images.
        directory: where the files of a known set are; None looks into ``$NOISEPROOF_DATA``, then
            into the cache folder.
        label: the column of labels, for a table.
        size: the side to resize to, for a folder of images.
        verify: refuse files of a known set that are not the published ones.
        progress: hears how far the decoding of images is.

    A file of the user's own is called by its name without the ending, or with it where the name
    without is that of a known set: ``mnist.npz`` is not ``mnist``.

    >>> load("digits").test
    Dataset('digits', 355 images of 1x8x8, 10 classes)
    """
    entry = KNOWN.get(name) if isinstance(name, str) else None
    if entry is None:
        return _own_name(_load_path(name, label, size, progress), Path(name))
    if entry.streamed:
        raise ParameterError(f"{name} does not fit into memory: open it with data.stream")
    found: TrainTest[Dataset] = _read(entry, directory, verify)
    return found


def load_any(
    name: str,
    directory: str | Path | None = None,
    *,
    label: str = "label",
    progress: Progress = SILENT,
) -> Any:
    """Load a data set into memory, or open it as a stream where it does not fit."""
    entry = KNOWN.get(name)
    if entry is not None and entry.streamed:
        return stream(name, directory)
    return load(name, directory, label=label, progress=progress)


def stream(
    name: str, directory: str | Path | None = None, size: int = 224, *, verify: bool = True
) -> TrainTest[LazyImages]:
    """Open a data set whose images are decoded as they are wanted, such as ``"webvision-mini"``.

    Args:
        name: the data set.
        directory: where its files are; None as for :func:`load`.
        size: the side of the decoded images.
        verify: refuse lists of images that are not the published ones.
    """
    entry = known(name)
    if not entry.streamed:
        raise ParameterError(f"{name} fits into memory: open it with data.load")
    found: TrainTest[LazyImages] = _read(entry, directory, verify, size)
    return found


def human_labels(
    train: Dataset, directory: str | Path | None = None, *, verify: bool = True
) -> dict[str, Tensor]:
    """Return the labels that people gave to a training set, by name, each int64 (N,).

    Args:
        train: such as the training set of ``load("cifar10")``.
        directory: where the files are; None as for :func:`load`.
        verify: refuse a file that is not the published one.

    Returns:
        ``aggregate``, ``random1`` to ``random3``, ``worst`` for CIFAR-10; ``fine`` for CIFAR-100.
    """
    labelled = with_human_labels()
    if train.name not in labelled:
        raise ParameterError(
            f"expected the training set of {' or '.join(labelled)}, got {train.name!r}: "
            "people labelled no other"
        )
    entry = labelled[train.name]
    place = find_place(entry, directory)
    if verify:
        check_read(entry, place)
    human: dict[str, Tensor] = import_module(entry.reader).read(entry, place, train)
    return human


def _read(entry: Known, directory: str | Path | None, verify: bool, *more: Any) -> Any:
    if entry.labels_of:
        raise ParameterError(
            f"{entry.name} is labels only: load {entry.labels_of!r} and use data.human_labels"
        )
    place = find_place(entry, directory) if entry.files else Path()
    if verify:
        check_read(entry, place)
    found = import_module(entry.reader).read(entry, place, *more)
    if verify:
        check_samples(entry, len(found.train), len(found.test))
    return found


def _own_name(found: TrainTest[Dataset], path: Path) -> TrainTest[Dataset]:
    """Keep the user's own mnist.npz from passing for MNIST, which its name stands for."""
    if found.train.name not in KNOWN:
        return found
    name = path.name if path.is_file() else f"{path.name}/"
    train, test = (replace(part, name=name) for part in (found.train, found.test))
    return replace(found, train=train, test=test)


def _load_path(
    name: str | Path, label: str, size: int | None, progress: Progress
) -> TrainTest[Dataset]:
    path = Path(name)
    suffix = path.suffix.lower()
    if path.is_dir():
        return read_folder(path, size, progress)
    if not path.exists():
        if isinstance(name, str) and not suffix and len(path.parts) == 1:
            known(name)
        raise DataError(f"{path}: no such file or folder")
    if not path.is_file():  # it is read more than once, which a pipe cannot be
        raise DataError(f"{path}: expected a plain file or a folder, not a pipe or a device")
    if suffix == ".npz":
        return read_npz(path)
    if table_suffix(path):
        return hold_out(read_table(path, label))
    raise DataError(f"{path}: expected an .npz, .csv, .tsv or .parquet file or a folder of images")
