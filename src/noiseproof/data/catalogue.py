"""One entry point to every data set: by its name, or by the path of the user's own."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from noiseproof.data import table
from noiseproof.data.cifar import read_cifar10, read_cifar100
from noiseproof.data.cifar_n import file_name, read_cifar_n
from noiseproof.data.dataset import Dataset, TrainTest, hold_out
from noiseproof.data.digits import read_digits
from noiseproof.data.folder import read_folder
from noiseproof.data.idx import read_fashion_mnist, read_mnist
from noiseproof.data.npz import read_npz
from noiseproof.data.published import KNOWN, Known, known, places
from noiseproof.data.webvision import LazyImages, read_webvision_mini
from noiseproof.errors import DataError, ParameterError

_READERS: dict[str, Callable[[Path], TrainTest[Dataset]]] = {
    "mnist": read_mnist,
    "fashion-mnist": read_fashion_mnist,
    "cifar10": read_cifar10,
    "cifar100": read_cifar100,
}


def load(
    name: str | Path,
    directory: str | Path | None = None,
    *,
    label: str = "label",
    size: int | None = None,
) -> TrainTest[Dataset]:
    """Load a data set into memory.

    Args:
        name: ``"digits"``, ``"mnist"``, ``"fashion-mnist"``, ``"cifar10"``, ``"cifar100"``; or the
            path of an ``.npz``, a ``.csv``, ``.tsv`` or ``.parquet``, or a folder of images.
        directory: where the files of a known set are; None looks into ``$NOISEPROOF_DATA``, then
            into the cache folder.
        label: the column of labels, for a table.
        size: the side to resize to, for a folder of images.

    A file of the user's own is called by its name without the ending, or with it where the name
    without is that of a known set: ``mnist.npz`` is not ``mnist``.

    >>> load("digits").test
    Dataset('digits', 355 images of 1x8x8, 10 classes)
    """
    if name == "digits":
        return read_digits()
    if isinstance(name, str) and name in _READERS:
        return _READERS[name](_place(known(name), directory))
    if name == "webvision-mini":
        raise ParameterError("webvision-mini does not fit into memory: open it with data.stream")
    if isinstance(name, str) and name in KNOWN:
        raise ParameterError(
            f"{name} is labels only: load {name.removesuffix('n')!r} and use data.human_labels"
        )
    return _own_name(_load_path(name, label, size), Path(name))


def _own_name(found: TrainTest[Dataset], path: Path) -> TrainTest[Dataset]:
    """Keep the user's own mnist.npz from passing for MNIST, which its name stands for."""
    if found.train.name not in KNOWN:
        return found
    name = path.name if path.is_file() else f"{path.name}/"
    train, test = (replace(part, name=name) for part in (found.train, found.test))
    return replace(found, train=train, test=test)


def _load_path(name: str | Path, label: str, size: int | None) -> TrainTest[Dataset]:
    path = Path(name)
    suffix = path.suffix.lower()
    if path.is_dir():
        return read_folder(path, size)
    if not path.exists():
        if isinstance(name, str) and not suffix and len(path.parts) == 1:
            known(name)
        raise DataError(f"{path}: no such file or folder")
    if suffix == ".npz":
        return read_npz(path)
    if table.table_suffix(path):
        return hold_out(table.read_table(path, label))
    raise DataError(f"{path}: expected an .npz, .csv, .tsv or .parquet file or a folder of images")


def stream(
    name: str, directory: str | Path | None = None, size: int = 224
) -> TrainTest[LazyImages]:
    """Open a data set whose images are decoded as they are wanted: ``"webvision-mini"``.

    Args:
        name: the data set.
        directory: where its files are; None as for :func:`load`.
        size: the side of the decoded images.
    """
    if name != "webvision-mini":
        known(name)
        raise ParameterError(f"{name} fits into memory: open it with data.load")
    return read_webvision_mini(_place(known(name), directory), size)


def human_labels(train: Dataset, directory: str | Path | None = None) -> dict[str, Tensor]:
    """Return CIFAR-N's labels of a CIFAR training set, by name, each int64 (N,).

    Args:
        train: the training set of ``load("cifar10")`` or ``load("cifar100")``.
        directory: where the files are; None as for :func:`load`.

    Returns:
        ``aggregate``, ``random1`` to ``random3``, ``worst`` for CIFAR-10; ``fine`` for CIFAR-100.
    """
    file_name(train)  # refuses any other data set before a file is looked for
    return read_cifar_n(_place(known(f"{train.name}n"), directory), train)


def _place(entry: Known, directory: str | Path | None) -> Path:
    """Return the first folder that has the data set, or say what to put where."""
    folders = places(directory)
    for place in folders:
        if entry.is_here(place):
            return place
    raise DataError(
        f"no {entry.name} in {' or '.join(map(str, folders))}: {way_out(entry, folders[0])}"
    )


def way_out(entry: Known, place: Path) -> str:
    """Say how to get a data set into ``place``."""
    names = ", ".join(file.path for file in entry.files)
    if entry.page:
        return f"download it from {entry.page} so that {names} are in {place}"
    return f"run `noiseproof data fetch {entry.name}`, or put {names} into {place}"
