"""Reading what a user has: a table, arrays, a folder of images, embeddings beside any of them."""

from collections.abc import Collection, Iterator
from pathlib import Path

from noiseproof.data.table import table_suffix
from noiseproof.encoders.choose import AUTO
from noiseproof.errors import DataError, ParameterError
from noiseproof.prepare import array_files
from noiseproof.prepare.array_files import array_blocks, read_array_file
from noiseproof.prepare.forms import BLOCK
from noiseproof.prepare.image_files import image_blocks, read_image_folder
from noiseproof.prepare.pictures import Wanted, encode_array
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.table_files import parquet_files, read_table_file, table_blocks
from noiseproof.progress import SILENT, Progress, counted

KINDS = ".csv, .tsv, .parquet, .npz, a folder of images by class or of Parquet files"
#: Images that are decoded at a time.
IMAGES = 512


def read(
    path: str | Path,
    label: str | None = None,
    *,
    labelled: bool = True,
    embeddings: str | Path | None = None,
    encoding: str | None = None,
    size: int | None = None,
    encoder: Wanted = None,
    numbers: Collection[str] | None = None,
    texts: Collection[str] = (),
    commas: Collection[str] = (),
    progress: Progress = SILENT,
) -> Samples:
    """Read a file or folder.

    Args:
        path: ``.csv``, ``.tsv`` (both also ``.gz``), ``.parquet`` or a folder of such, ``.npz``
            with X and y, ``.npy``, or a folder with a sub-folder of images for each class.
        label: the column of labels, for a table.
        labelled: whether labels are wanted; False also takes what has none.
        embeddings: a ``.npy`` or ``.npz`` of a row of features for each row, to use instead.
        encoding: of a text file; None is UTF-8.
        size: the side of the images; None is 32, or less where they are smaller.
        encoder: what encodes the images; None leaves them pixels. Texts are encoded later.
        numbers: the columns that are numbers, perhaps with decimal commas; None finds them.
        texts: the columns that are not numbers, whatever they look like.
        commas: the columns that surely have decimal commas.
        progress: hears how much of a text file has been read.
    """
    path = Path(path)
    kind, encoder = _kind(path), _unless(embeddings, encoder)
    if kind == "images":
        samples = read_image_folder(path, size, labelled, encoder, progress)
    elif kind == "arrays":
        samples = encode_array(read_array_file(path, labelled), encoder, progress)
    else:
        samples = read_table_file(
            path, label, labelled=labelled, alone=embeddings is not None, encoding=encoding,
            numbers=numbers, texts=texts, commas=commas, progress=progress,
        )  # fmt: skip
    if len(samples) == 0:
        raise DataError(f"{path}: there are no rows")
    if embeddings is None:
        return samples
    inputs = _embeddings(Path(embeddings)).inputs
    if len(inputs) != len(samples):
        raise _another_length(Path(embeddings), len(inputs), samples.name, len(samples))
    return Samples(samples.name, inputs, samples.labels, samples.rows)


def read_blocks(
    path: str | Path,
    label: str | None = None,
    *,
    rows: int = BLOCK,
    embeddings: str | Path | None = None,
    encoding: str | None = None,
    size: int | None = None,
    encoder: Wanted = None,
    numbers: Collection[str] | None = None,
    texts: Collection[str] = (),
    commas: Collection[str] = (),
    progress: Progress = SILENT,
) -> Iterator[Samples]:
    """Read a file or folder without its labels, a block of rows at a time.

    Its length does not matter: no more than a block is in memory (an ``.npz`` is read whole). The
    arguments are those of :func:`read`.

    Args:
        rows: how many rows a block has, at most.
    """
    path = Path(path)
    kind, found = _kind(path), 0
    if kind == "images":
        blocks = image_blocks(path, size, min(rows, IMAGES), encoder, progress)
    elif kind == "arrays":
        blocks = (encode_array(block, encoder) for block in array_blocks(path, rows))
    else:
        blocks = table_blocks(
            path, label, rows=rows, encoding=encoding, numbers=numbers, texts=texts, commas=commas,
            progress=progress,
        )  # fmt: skip
    instead = None if embeddings is None else _embeddings(Path(embeddings))
    for block in blocks:
        if len(block) == 0:
            continue
        start, found = found, found + len(block)
        if instead is not None:
            block = Samples(block.name, instead.inputs[start:found], None, block.rows)
        yield block
    if found == 0:
        raise DataError(f"{path}: there are no rows")
    if instead is not None and len(instead) != found:
        raise _another_length(Path(str(embeddings)), len(instead), path.name, found)


def _unless(embeddings: str | Path | None, encoder: Wanted) -> Wanted:
    """Return the encoder to use: none where a file of embeddings stands in for the inputs."""
    if embeddings is None:
        return encoder
    if isinstance(encoder, str) and encoder != AUTO:
        raise ParameterError("--encoder: expected either an encoder or --embeddings, got both")
    return None


def _kind(path: Path) -> str:
    """Return ``"images"``, ``"arrays"`` or ``"table"``."""
    if path.is_dir():
        return "table" if parquet_files(path) else "images"
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if path.suffix.lower() in array_files.SUFFIXES:
        return "arrays"
    if table_suffix(path):
        return "table"
    raise DataError(f"{path}: expected {KINDS}")


def _embeddings(path: Path) -> Samples:
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.suffix.lower() not in array_files.SUFFIXES:
        raise DataError(f"{path}: expected embeddings as .npy, or as array X of an .npz")
    samples = read_array_file(path, labelled=False)
    if samples.kind != "matrix":
        raise DataError(f"{path}: expected embeddings of shape (N, d), got {samples.inputs.shape}")
    return samples


def _another_length(path: Path, length: int, name: str, rows: int) -> DataError:
    return DataError(f"{path}: {counted(length, 'row')} where {name} has {rows:,}")
