"""Reading what a user has: a table, arrays, a folder of images, embeddings beside any of them."""

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

from noiseproof.encoders.choose import AUTO
from noiseproof.errors import DataError, ParameterError
from noiseproof.files import check_plain, mode_of
from noiseproof.prepare.formats import array_files
from noiseproof.prepare.formats.array_files import array_blocks, read_array_file
from noiseproof.prepare.formats.image_files import image_blocks, read_image_folder
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.formats.table_files import parquet_files, read_table_file, table_blocks
from noiseproof.prepare.forms import BLOCK
from noiseproof.prepare.pictures import Wanted, encode_array
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, Progress, counted
from noiseproof.tables.read import PARQUET, table_suffix

KINDS = ".csv, .tsv, .parquet, .npz, a folder of images by class or of Parquet files"
#: Images that are decoded at a time.
IMAGES = 512
#: Nothing is known about the file.
AS_FOUND = Reading()


def read(
    path: str | Path,
    label: str | None = None,
    how: Reading = AS_FOUND,
    *,
    labelled: bool = True,
    progress: Progress = SILENT,
) -> Samples:
    """Read a file or folder.

    Args:
        path: ``.csv``, ``.tsv`` (both also ``.gz``), ``.parquet`` or a folder of such, ``.npz``
            with X and y, ``.npy``, or a folder with a sub-folder of images for each class.
        label: the column of labels, for a table.
        how: what is known about the file.
        labelled: whether labels are wanted; False also takes what has none.
        progress: hears how much of a text file has been read.
    """
    path = Path(path)
    kind, encoder = _kind(path), _unless(how.embeddings, how.encoder)
    check_label(path, kind, label)
    if kind == "images":
        samples = read_image_folder(path, how.size, labelled, encoder, progress)
    elif kind == "arrays":
        samples = encode_array(read_array_file(path, labelled), encoder, progress)
    else:
        alone = how.embeddings is not None
        samples = read_table_file(
            path, label, how, labelled=labelled, alone=alone, progress=progress
        )
    if len(samples) == 0:
        raise DataError(f"{path}: there are no rows")
    if how.embeddings is None:
        return samples
    instead = _embeddings(Path(how.embeddings))
    if len(instead) != len(samples):
        raise _another_length(Path(how.embeddings), len(instead), samples.name, len(samples))
    return replace(instead, name=samples.name, labels=samples.labels, rows=samples.rows)


def read_blocks(
    path: str | Path,
    label: str | None = None,
    how: Reading = AS_FOUND,
    *,
    rows: int = BLOCK,
    progress: Progress = SILENT,
) -> Iterator[Samples]:
    """Read a file or folder without its labels, a block of rows at a time.

    Its length does not matter: no more than a block is in memory (an ``.npz`` is read whole). The
    other arguments are those of :func:`read`.

    Args:
        rows: how many rows a block has, at most.
    """
    path = Path(path)
    kind, found = _kind(path), 0
    if kind == "images":
        blocks = image_blocks(path, how.size, min(rows, IMAGES), how.encoder, progress)
    elif kind == "arrays":
        blocks = (encode_array(block, how.encoder) for block in array_blocks(path, rows))
    else:
        blocks = table_blocks(path, label, how, rows=rows, progress=progress)
    instead = None if how.embeddings is None else _embeddings(Path(how.embeddings))
    for block in blocks:
        if len(block) == 0:
            continue
        start, found = found, found + len(block)
        if instead is not None:
            if len(instead) < found:
                continue  # the rest is counted, for the message
            block = Samples(block.name, instead.inputs[start:found], None, block.rows)
        yield block
    if found == 0:
        raise DataError(f"{path}: there are no rows")
    if instead is not None and len(instead) != found:
        raise _another_length(Path(str(how.embeddings)), len(instead), path.name, found)


def check_label(path: Path, kind: str, label: str | None) -> None:
    """Raise where a column of labels is named, and the labels are not in a column."""
    if label is None or kind == "table" or (kind == "arrays" and label == "y"):
        return
    where = "in the names of its folders" if kind == "images" else "in the array y"
    raise ParameterError(f"--label: {path} has no columns, its labels are {where}")


def check_encoding(encoding: str | None, *sources: Any) -> None:
    """Raise where an encoding is named, and none of the sources is a text file."""
    paths = [Path(source) for source in sources if isinstance(source, (str, PathLike))]
    there = paths and all(
        mode_of(path) is not None for path in paths
    )  # what is not is another mistake
    if encoding is not None and there and not any(map(_is_text, paths)):
        raise ParameterError(f"--encoding: {paths[0]} is not a text file, such as .csv")


def _is_text(path: Path) -> bool:
    return path.is_file() and table_suffix(path) not in (None, *PARQUET)


def _unless(embeddings: str | Path | None, encoder: Wanted) -> Wanted:
    """Return the encoder to use: none where a file of embeddings stands in for the inputs."""
    if embeddings is None:
        return encoder
    if isinstance(encoder, str) and encoder != AUTO:
        raise ParameterError("--encoder: expected either an encoder or --embeddings, got both")
    return None


def _kind(path: Path) -> str:
    """Return ``"images"``, ``"arrays"`` or ``"table"``."""
    mode = mode_of(path)
    if mode is None:
        raise DataError(f"{path}: no such file or folder")
    if S_ISDIR(mode):
        return "table" if parquet_files(path) else "images"
    if not S_ISREG(mode):  # it is read more than once, which a pipe cannot be
        raise DataError(f"{path}: expected a plain file or a folder, not a pipe or a device")
    if path.suffix.lower() in array_files.SUFFIXES:
        return "arrays"
    if table_suffix(path):
        return "table"
    raise DataError(f"{path}: expected {KINDS}")


def _embeddings(path: Path) -> Samples:
    check_plain(path)
    if path.suffix.lower() not in array_files.SUFFIXES:
        raise DataError(f"{path}: expected embeddings as .npy, or as array X of an .npz")
    samples = read_array_file(path, labelled=False)
    if samples.kind != "matrix":
        raise DataError(f"{path}: expected embeddings of shape (N, d), got {samples.inputs.shape}")
    return samples


def _another_length(path: Path, length: int, name: str, rows: int) -> DataError:
    return DataError(f"{path}: {counted(length, 'row')} where {name} has {rows:,}")
