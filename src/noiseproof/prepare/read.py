"""Reading what a user has: a table, arrays, a folder of images, embeddings beside any of them."""

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.data import images
from noiseproof.data.folder import list_images, read_images
from noiseproof.data.npz import read_arrays
from noiseproof.data.table import Table, read_frame, table_suffix
from noiseproof.errors import DataError, ParameterError, did_you_mean
from noiseproof.prepare.forms import as_inputs
from noiseproof.prepare.memory import check_fits
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples

#: A compressed file holds about so many times its size.
GZIP = 8
KINDS = ".csv, .tsv, .parquet, .npz or a folder of images by class"


def read(
    path: str | Path,
    label: str | None = None,
    *,
    labelled: bool = True,
    embeddings: str | Path | None = None,
    encoding: str | None = None,
    size: int | None = None,
    numbers: Collection[str] | None = None,
    commas: Collection[str] = (),
    progress: bool = False,
) -> Samples:
    """Read a file or folder.

    Args:
        path: ``.csv``, ``.tsv`` (both also ``.gz``), ``.parquet``, ``.npz`` with X and y, ``.npy``,
            or a folder with a sub-folder of images for each class.
        label: the column of labels, for a table.
        labelled: whether labels are wanted; False also takes what has none.
        embeddings: a ``.npy`` or ``.npz`` of a row of features for each row, to use instead.
        encoding: of a text file; None is UTF-8.
        size: the side of the images; None is 32, or less where they are smaller.
        numbers: the columns that are numbers, perhaps with decimal commas; None finds them out.
        commas: the columns that have decimal commas for sure.
        progress: show a bar where reading takes long.
    """
    path = Path(path)
    if path.is_dir():
        samples = _folder(path, size, labelled)
    elif not path.exists():
        raise DataError(f"{path}: no such file or folder")
    elif path.suffix.lower() in (".npz", ".npy"):
        samples = _arrays(path, labelled)
    elif table_suffix(path):
        check_fits(path, _table_size(path))
        table = read_frame(
            path, label, encoding=encoding, numbers=numbers, commas=commas, progress=progress
        )
        samples = _table(path, table, label, labelled, embeddings is not None)
    else:
        raise DataError(f"{path}: expected {KINDS}")
    if len(samples) == 0:
        raise DataError(f"{path}: there are no rows")
    return samples if embeddings is None else _with(samples, Path(embeddings))


def _table(path: Path, table: Table, label: str | None, labelled: bool, embedded: bool) -> Samples:
    frame, commas = tidy(table.frame, str(path)), table.decimal_commas
    if labelled and label is None:
        raise ParameterError(f"{path}: which column has the labels? Its columns: {_some(frame)}")
    notes = (f"numbers read with a decimal comma: {shortlist(commas)}",) if commas else ()
    if label is None or (label not in frame.columns and not labelled):
        return Samples(path.name, frame, notes=notes, commas=commas)
    inputs, labels = split_label(frame, label, str(path), alone=embedded)
    return Samples(path.name, inputs, labels, notes=notes, commas=commas)


def tidy(frame: Any, where: str) -> Any:
    """Return a table with rows counted from 0 and columns of different names."""
    frame = frame.set_axis([_name(column) for column in frame.columns], axis=1)
    frame = frame.reset_index(drop=True)
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise DataError(f"{where}: two columns are called {repeated[0]!r}")
    return frame


def _name(column: Any) -> str:
    """Return what to call a column; that of a MultiIndex by all its levels."""
    parts = [str(part) for part in column] if isinstance(column, tuple) else [str(column)]
    return " ".join(part for part in parts if part) or str(column)


def split_label(frame: Any, label: str, where: str, alone: bool = False) -> tuple[Any, Any]:
    """Return a table without its column of labels, which may be ``alone``, and that column."""
    if label not in frame.columns:
        hint = did_you_mean(label, frame.columns)
        if len(hint) > 300:  # nothing near it, and many that it could be
            hint = f"; its columns: {_some(frame)}"
        raise DataError(f"{where}: no column {label!r}{hint}")
    labels = frame[label]
    rest = frame.drop(columns=label)
    if rest.shape[1] == 0 and not alone:
        raise DataError(f"{where}: no column beside {label!r}")
    return rest, labels


def _some(frame: Any, most: int = 12) -> str:
    names = [str(column) for column in frame.columns]
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _table_size(path: Path) -> int:
    size = path.stat().st_size
    suffix = table_suffix(path) or ""
    if suffix.endswith(".gz"):
        return size * GZIP
    if suffix not in (".parquet", ".pq") or size == 0:
        return size
    from pyarrow import ArrowException, parquet  # type: ignore[import-untyped]

    try:
        content = parquet.read_metadata(path)
    except (ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read as {suffix[1:]} ({reason})") from None
    return sum(content.row_group(i).total_byte_size for i in range(content.num_row_groups))


def _arrays(path: Path, labelled: bool) -> Samples:
    check_fits(path, _array_size(path))
    arrays = {"X": _npy(path)} if path.suffix.lower() == ".npy" else read_arrays(path)
    wanted = ("X", "y") if labelled else ("X",)
    for name in wanted:
        if name not in arrays:
            raise DataError(f"{path}: has no array {name}, only {', '.join(arrays) or 'nothing'}")
    inputs, labels = as_inputs(arrays["X"], str(path)), arrays.get("y")
    if labels is not None and labels.ndim != 1:
        raise DataError(f"{path}: expected y of shape (N,), got {labels.shape}")
    if labels is not None and len(labels) != len(inputs):
        raise DataError(f"{path}: {len(inputs)} rows in X but {len(labels)} labels in y")
    if labels is not None and "classes" in arrays and labels.dtype.kind in "iu":
        labels = _named(labels, arrays["classes"], path)
    return Samples(path.name, inputs, labels)


def _named(labels: NDArray[Any], names: NDArray[Any], path: Path) -> NDArray[Any]:
    if names.ndim != 1:
        raise DataError(f"{path}: expected `classes` of shape (K,), got {names.shape}")
    if len(labels) and (labels.min() < 0 or labels.max() >= len(names)):
        raise DataError(f"{path}: a label in y is outside 0..{len(names) - 1}, the `classes`")
    return np.asarray(names.astype(str)[labels])


def _array_size(path: Path) -> int:
    if path.suffix.lower() == ".npy":
        return path.stat().st_size
    try:
        with zipfile.ZipFile(path) as file:
            return sum(part.file_size for part in file.infolist())
    except (zipfile.BadZipFile, OSError):
        return path.stat().st_size  # whatever is wrong with it, reading will say


def _npy(path: Path) -> NDArray[Any]:
    try:
        with path.open("rb") as stream:
            if stream.read(6) != np.lib.format.MAGIC_PREFIX:
                raise ValueError("not an .npy file")
            stream.seek(0)
            return np.asarray(np.load(stream, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        reason = str(error).partition("\n")[0].partition(" when allow_pickle")[0]
        raise DataError(f"{path}: cannot be read as .npy ({reason})") from None


def _folder(path: Path, size: int | None, labelled: bool) -> Samples:
    files, labels = list_images(path) if labelled else _any_images(path)
    side = size or min(32, *(min(images.dimensions(file)) for file in files))
    check_fits(path, len(files) * 3 * side * side)
    names = [str(file.relative_to(path)) for file in files]
    return Samples(path.resolve().name, read_images(files, side), labels, names)


def _any_images(path: Path) -> tuple[list[Path], None]:
    files = sorted(f for f in path.rglob("*") if f.suffix.lower() in images.SUFFIXES)
    if not files:
        raise DataError(f"{path}: there are no images in this folder")
    return files, None


def _with(samples: Samples, path: Path) -> Samples:
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.suffix.lower() not in (".npz", ".npy"):
        raise DataError(f"{path}: expected embeddings as .npy, or as array X of an .npz")
    inputs = _arrays(path, labelled=False).inputs
    if inputs.ndim != 2:
        raise DataError(f"{path}: expected embeddings of shape (N, d), got {inputs.shape}")
    if len(inputs) != len(samples):
        raise DataError(f"{path}: {len(inputs)} rows where {samples.name} has {len(samples)}")
    return Samples(samples.name, inputs, samples.labels, samples.rows)
