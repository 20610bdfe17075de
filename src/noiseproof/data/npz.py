"""A user's own arrays: ``numpy.savez("mine.npz", X=..., y=..., X_test=..., y_test=...)``."""

import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from noiseproof.data.dataset import Dataset, TrainTest, hold_out
from noiseproof.data.labels import Array, check_range, encode
from noiseproof.data.npy import UNREADABLE, check_archive
from noiseproof.data.single import as_float32
from noiseproof.errors import DataError
from noiseproof.files import check_plain
from noiseproof.memory import check_fits

#: How an .npz starts, one without arrays, and an .npy: of anything else numpy says it is pickled.
STARTS = (b"PK\3\4", b"PK\5\6", b"\x93NUM")


def read_npz(path: str | Path) -> TrainTest[Dataset]:
    """Read arrays X and y, and X_test and y_test where they are there.

    X is uint8 images, (N, H, W), (N, C, H, W) or (N, H, W, C) with C = 1 or 3, or a matrix of
    numbers, (N, d). y is whatever names the classes; with an array ``classes`` of K names it is
    0..K-1. Without a test set, a fifth is held out (:func:`~noiseproof.data.hold_out`).

    Args:
        path: the ``.npz`` file; pickled objects in it are refused.
    """
    path = Path(path)
    check_plain(path)
    check_fits(path, unpacked_size(path))
    arrays = read_arrays(path)
    for name in ("X", "y"):
        if name not in arrays:
            raise DataError(f"{path}: has no array {name}, only {', '.join(arrays) or 'nothing'}")
    if ("X_test" in arrays) != ("y_test" in arrays):
        raise DataError(f"{path}: X_test and y_test come together or not at all")
    tested = "X_test" in arrays
    both = [arrays["y"], arrays["y_test"]] if tested else [arrays["y"]]
    for labels in both:
        if labels.ndim != 1:
            raise DataError(f"{path}: expected y of shape (N,), got {labels.shape}")
    codes, classes = _encode(np.concatenate(both), arrays.get("classes"), path)
    cut = len(arrays["y"])
    train = _dataset(arrays["X"], codes[:cut], classes, path, "X")
    if not tested:
        return hold_out(train)
    test = _dataset(arrays["X_test"], codes[cut:], classes, path, "X_test")
    if train.shape != test.shape or train.inputs.dtype != test.inputs.dtype:
        raise DataError(f"{path}: X is of samples {train.shape}, X_test of {test.shape}")
    return TrainTest(train, replace(test, normalisation=train.constants))


def unpacked_size(path: Path) -> int:
    """Return how many bytes an ``.npz`` unpacks to."""
    try:
        with zipfile.ZipFile(path) as file:
            return sum(part.file_size for part in file.infolist())
    except (zipfile.BadZipFile, OSError, RuntimeError):
        return path.stat().st_size  # whatever is wrong with it, reading will say


def read_arrays(path: Path) -> dict[str, Array]:
    """Return every array of an ``.npz`` by its name; pickled objects are refused."""
    try:
        with path.open("rb") as stream:
            if stream.read(4) not in STARTS:
                raise ValueError("not an .npz file")
            stream.seek(0)
            file = np.load(stream, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("one array")
            with zipfile.ZipFile(stream) as archive:
                check_archive(archive, path.stat().st_size)
            members = {name: file[name] for name in file.files}
    except UNREADABLE as error:
        reason = str(error).partition("\n")[0].partition(" when allow_pickle")[0]
        raise DataError(f"{path}: cannot be read as .npz ({reason})") from None
    # What is no array, such as a text that somebody added, comes as bytes.
    return {name: found for name, found in members.items() if isinstance(found, np.ndarray)}


def _encode(labels: Array, names: Array | None, path: Path) -> tuple[Array, tuple[str, ...]]:
    if names is None or labels.dtype.kind in "US":
        return encode(labels, path)
    return labels.astype(np.int64), class_names(names, labels, path)


def class_names(names: Array, labels: Array, path: Path) -> tuple[str, ...]:
    """Return the array ``classes`` of an ``.npz`` as texts, where labels are numbers of them."""
    if names.ndim != 1:
        raise DataError(f"{path}: expected `classes` of shape (K,), got {names.shape}")
    if labels.dtype.kind not in "iu":
        raise DataError(f"{path}: beside `classes`, y must be integers, got {labels.dtype}")
    check_range(labels, len(names), path)
    try:
        found = tuple(n.decode() if isinstance(n, bytes) else str(n) for n in names.tolist())
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: class {error.object!r} is not UTF-8 text") from None
    if len(set(found)) < len(found):
        twice, _ = Counter(found).most_common(1)[0]
        raise DataError(f"{path}: two of the `classes` are called {twice!r}")
    return found


def _dataset(
    inputs: Array, codes: Array, classes: tuple[str, ...], path: Path, key: str
) -> Dataset:
    samples = _inputs(inputs, path, key)
    if len(samples) != len(codes):
        raise DataError(f"{path}: {len(samples)} samples in {key} but {len(codes)} labels")
    return Dataset(samples, torch.from_numpy(codes), classes, path.stem)


def _inputs(inputs: Array, path: Path, key: str) -> Tensor:
    if inputs.ndim == 2 and inputs.dtype.kind in "biuf":
        return as_float32(list(inputs.T), range(inputs.shape[1]), len(inputs), path)
    if inputs.dtype == np.uint8 and inputs.ndim == 3:
        return torch.from_numpy(inputs[:, None])
    if inputs.dtype == np.uint8 and inputs.ndim == 4:
        if inputs.shape[1] in (1, 3):
            return torch.from_numpy(inputs)
        if inputs.shape[3] in (1, 3):
            return torch.from_numpy(np.ascontiguousarray(inputs.transpose(0, 3, 1, 2)))
    raise DataError(
        f"{path}: expected {key} as uint8 images (N, H, W), (N, C, H, W) or (N, H, W, C) with "
        f"C = 1 or 3, or a matrix of numbers (N, d), got {inputs.dtype} {inputs.shape}"
    )
