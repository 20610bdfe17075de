"""Arrays in files: ``.npz`` with X and y, ``.npy``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from noiseproof.data.npy import UNREADABLE, check_array
from noiseproof.data.npz import class_names, read_arrays, unpacked_size
from noiseproof.errors import DataError
from noiseproof.files import unchanged
from noiseproof.memory import check_fits
from noiseproof.prepare.formats.file_names import shown
from noiseproof.prepare.forms import as_inputs, blurred
from noiseproof.prepare.samples import Samples
from noiseproof.progress import counted

SUFFIXES = frozenset({".npz", ".npy"})


def read_array_file(path: Path, labelled: bool) -> Samples:
    """Read X, and y where labels are wanted."""
    alone = path.suffix.lower() == ".npy"
    check_fits(path, path.stat().st_size if alone else unpacked_size(path))
    arrays = {"X": _npy(path)} if alone else read_arrays(path)
    wanted = ("X", "y") if labelled else ("X",)
    for name in wanted:
        if name not in arrays:
            raise DataError(f"{path}: has no array {name}, only {', '.join(arrays) or 'nothing'}")
    inputs, labels = as_inputs(arrays["X"], str(path)), arrays.get("y")
    if labels is not None and labels.ndim != 1:
        raise DataError(f"{path}: expected y of shape (N,), got {labels.shape}")
    if labels is not None and len(labels) != len(inputs):
        raise DataError(
            f"{path}: {counted(len(inputs), 'row')} in X but {counted(len(labels), 'label')} in y"
        )
    if labels is not None and "classes" in arrays and labels.dtype.kind not in "US":
        names = class_names(arrays["classes"], labels, path)
        labels = np.array(names, dtype=object)[labels]
    return Samples(shown(path.name), inputs, labels, doubts=blurred(arrays["X"]))


def array_blocks(path: Path, rows: int) -> Iterator[Samples]:
    """Return the rows of X in blocks; those of an ``.npy`` are never in memory all at once."""
    if path.suffix.lower() == ".npz":
        yield from read_array_file(path, labelled=False).blocks(rows)
        return
    with unchanged(path), path.open("rb") as stream:
        X = _npy(path, mmap_mode="r")
        if X.ndim < 2:
            as_inputs(X, str(path))  # says what is wrong
        for start in range(0, len(X), rows):
            block = _read_rows(X, stream, start, min(rows, len(X) - start), path)
            yield Samples(shown(path.name), as_inputs(block, str(path)))


def _read_rows(X: Any, stream: BinaryIO, start: int, count: int, path: Path) -> NDArray[Any]:
    """Return rows of a mapped array: the map of a file that somebody cuts short ends the process.

    Only of an array that is stored by columns are they taken from the map.
    """
    if not X.flags.c_contiguous:
        found: NDArray[Any] = X[start : start + count]
        return found
    stream.seek(X.offset + start * X.strides[0])
    values = np.fromfile(stream, X.dtype, X[0].size * count)
    if len(values) < X[0].size * count:
        raise DataError(f"{path}: cannot be read as .npy (it ends too early)")
    return values.reshape(count, *X.shape[1:])


def _npy(path: Path, mmap_mode: Any = None) -> NDArray[Any]:
    try:
        with path.open("rb") as stream:
            if stream.read(6) != np.lib.format.MAGIC_PREFIX:
                raise ValueError("not an .npy file")
            stream.seek(0)
            check_array(stream, path.stat().st_size)
        return np.asanyarray(np.load(path, mmap_mode=mmap_mode, allow_pickle=False))
    except UNREADABLE as error:
        reason = str(error).partition("\n")[0].partition(" when allow_pickle")[0]
        raise DataError(f"{path}: cannot be read as .npy ({reason})") from None
