"""Tables in files: CSV, TSV, Parquet, a folder of Parquet files."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof.errors import DataError, ParameterError, did_you_mean
from noiseproof.files import below, unchanged
from noiseproof.memory import Budget
from noiseproof.prepare.columns.values import is_bytes, seconds, text_of
from noiseproof.prepare.formats.file_names import shown
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, Progress
from noiseproof.tables.decimal_commas import CommaLook, with_commas, without_commas
from noiseproof.tables.delimited import Delimited
from noiseproof.tables.frames import as_frame, as_objects, is_odd, usual, with_columns
from noiseproof.tables.header import is_headless
from noiseproof.tables.labels import repeated
from noiseproof.tables.read import (
    PARQUET,
    Table,
    checked_size,
    parquet_file,
    read_frame,
    readable,
    table_suffix,
)

HEADLESS = "the first line is read as names of columns and looks like a row; write names above it"

THOUSANDS = "numbers such as 1.124 are read as fractions; if 1124 is meant, write no point"


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder, in the order of their names."""
    found = (file for file in below(folder, hidden=False) if file.suffix.lower() in PARQUET)
    return sorted(file for file in found if file.is_file() and file.name[0] not in "._")


def _parts(path: Path) -> list[Path]:
    """Return the files of a table."""
    return parquet_files(path) if path.is_dir() else [path]


def read_table_file(
    path: Path,
    label: str | None,
    how: Reading,
    *,
    labelled: bool = True,
    alone: bool = False,
    progress: Progress = SILENT,
) -> Samples:
    """Read a whole table; the arguments are those of :func:`~noiseproof.prepare.read.read`.

    Args:
        alone: whether the labels may be the only column.
    """
    with unchanged(path, lambda: _parts(path)):
        files = _parts(path)
        size = checked_size(path, files)
        budget = Budget(path, size, progress.update)
        tables = [
            read_frame(
                file, label, encoding=how.encoding, numbers=how.numbers, texts=how.texts,
                commas=how.commas, hears=budget.hear,
            )
            for file in files
        ]  # fmt: skip
    unread = _in_names_of_folders(path, files)
    if labelled and label in unread:
        raise DataError(f"{path}: {label} is in the names of folders alone; write it as a column")
    table = _joined(tables)
    samples = _samples(path, table, label, labelled, alone)
    if unread:
        samples.doubts = (f"columns in the names of folders are not read: {shortlist(unread)}",)
    if table.thousands:
        samples.doubts += (f"{THOUSANDS}: {shortlist(table.thousands)}",)
    if table_suffix(path) not in PARQUET and not path.is_dir() and is_headless(samples.inputs):
        samples.doubts += (f"{samples.name}: {HEADLESS}",)
    return samples


def _in_names_of_folders(path: Path, files: list[Path]) -> list[str]:
    """Return the columns that folders stand for, as in ``year=2020/part-0.parquet``."""
    folders = (part for file in files for part in file.relative_to(path).parts[:-1])
    return sorted({shown(name.partition("=")[0]) for name in folders if "=" in name})


def table_blocks(
    path: Path, label: str | None, how: Reading, *, rows: int, progress: Progress = SILENT
) -> Iterator[Samples]:
    """Return the columns ``numbers`` and ``texts`` of a table in blocks of rows, without labels.

    The blocks are read as the whole would be: what a column is was found out at the fit. A model of
    a matrix knows no names: it is given all columns.
    """
    named = how.numbers is not None or how.embeddings is not None
    wanted = {*(how.numbers or ()), *how.texts} if named else None
    order: list[str] = []
    with unchanged(path, lambda: _parts(path)):  # or some rows would be of another version
        for file in _parts(path):
            with readable(file, how.encoding):
                if table_suffix(file) in PARQUET:
                    for block in _parquet_blocks(file, label, wanted, rows, progress):
                        order = order or list(block.inputs)
                        yield block if wanted is not None else _in_order(block, order, path)
                else:
                    yield from _text_blocks(file, label, how, wanted, rows, progress)


def _text_blocks(
    path: Path,
    label: str | None,
    how: Reading,
    wanted: set[str] | None,
    rows: int,
    progress: Progress,
) -> Iterator[Samples]:
    file = Delimited.look(path, table_suffix(path) or ".csv", how.encoding)
    size = path.stat().st_size
    only = _only(file.columns, wanted)
    # Among categories of the fit, numbers that had decimal commas are numbers, too.
    both = {*how.commas} & {*how.texts} & {*only}
    numbers = [name for name in only if wanted is None or name in wanted - {*how.texts} | both]
    # Whether 1.500 is one and a half or a thousand more is for the whole file to say.
    commas = _comma_columns(file, set(numbers), how.commas) if file.separator == ";" else ()
    first = True
    # All columns are parsed: of a row with too many fields, pandas would drop some without a word.
    for whole in file.frames(
        texts={*how.texts, *commas}, rows=rows,
        hears=lambda done: progress.update(min(done, size), size),
    ):  # fmt: skip
        frame = whole[only].copy(deep=False)
        for name in {*commas, *both}:
            frame[name] = without_commas(frame[name], name in commas)
        if wanted is None and first and is_headless(frame):
            raise DataError(f"{path}: {HEADLESS}")
        first = False
        yield Samples(
            shown(path.name), frame, notes=_about(commas), commas=commas,
            others=_others(file.columns, only, label),
        )  # fmt: skip


def _in_order(block: Samples, order: list[str], path: Path) -> Samples:
    """Return a block with the columns of the first file of its folder, in their order."""
    if set(block.inputs) != set(order):
        raise DataError(f"{path}: its files have different columns")
    return replace(block, inputs=block.inputs[order])


def _comma_columns(file: Delimited, numbers: set[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the columns of numbers that have decimal commas."""
    looks = {name: CommaLook() for name in file.columns if name in numbers}
    for frame in file.frames(texts=numbers, only=numbers) if numbers else ():
        for name, look in looks.items():
            look.at(frame[name])
    found = with_commas(looks, True, known)
    return tuple(name for name in looks if name in found)


def _parquet_blocks(
    path: Path, label: str | None, wanted: set[str] | None, rows: int, progress: Progress
) -> Iterator[Samples]:
    with path.open("rb") as stream:
        file = parquet_file(stream, pre_buffer=False)  # or the whole is in memory
        # As pandas calls them, which may not be what the file does: those of a MultiIndex.
        columns = tuple(tidy(as_frame(file.schema_arrow.empty_table(), str(path)), str(path)))
        only, total, done = _only(columns, wanted), file.metadata.num_rows, 0
        stored = only if set(only) <= set(file.schema_arrow.names) else None
        for batch in file.iter_batches(batch_size=rows, columns=stored):
            frame = tidy(as_frame(batch, str(path)), str(path))[only]
            done += len(frame)
            progress.update(done, total)
            yield Samples(shown(path.name), frame, others=_others(columns, only, label))


def _only(columns: tuple[str, ...], wanted: set[str] | None) -> list[str]:
    if wanted is None:
        return list(columns)
    # Without any there is still to say that there is none.
    return [name for name in columns if name in wanted] or list(columns[:1])


def _others(columns: tuple[str, ...], only: list[str], label: str | None) -> tuple[str, ...]:
    known = {*only, *([label, *repeated(columns, label)] if label else ())}
    return tuple(name for name in columns if name not in known)


def _joined(tables: list[Table]) -> Table:
    if len(tables) == 1:
        return tables[0]
    import pandas as pd

    frames = [table.frame for table in tables]
    for name in dict.fromkeys(name for frame in frames for name in frame):
        parts = [frame[name] for frame in frames if name in frame]
        alike = len(parts) == len(frames) and len({part.dtype.kind for part in parts}) == 1
        if not alike and any(_is_long(part) or part.dtype.kind == "b" for part in parts):
            # Beside floats, or the gaps of a file without them, long integers would be rounded,
            # and beside integers, true would be 1.
            frames = [f.astype({name: object}) if name in f else f for f in frames]
    return Table(pd.concat(frames, ignore_index=True))


def _is_long(column: Any) -> bool:
    """Return whether a column has integers that a float cannot hold exactly."""
    return column.dtype.kind in "iu" and bool((column > 2**53).any() or (column < -(2**53)).any())


def _samples(path: Path, table: Table, label: str | None, labelled: bool, alone: bool) -> Samples:
    frame, commas, name = tidy(table.frame, str(path)), table.decimal_commas, shown(path.name)
    if labelled and label is None:
        raise ParameterError(f"{path}: which column has the labels? Its columns: {_some(frame)}")
    if label is None or (label not in frame.columns and not labelled):
        return Samples(name, frame, notes=_about(commas), commas=commas)
    inputs, labels, more = split_label(frame, label, str(path), alone)
    return Samples(name, inputs, labels, notes=(*_about(commas), *more), commas=commas)


def _about(commas: tuple[str, ...]) -> tuple[str, ...]:
    return (
        (f"numbers read with decimal commas (and points between thousands): {shortlist(commas)}",)
        if commas
        else ()
    )


def tidy(frame: Any, where: str) -> Any:
    """Return a table with rows counted from 0 and columns of different names."""
    frame = frame.set_axis([column_name(column) for column in frame.columns], axis=1)
    frame = frame.reset_index(drop=True)
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise DataError(f"{where}: two columns are called {repeated[0]!r}")
    odd = {name: as_objects(frame[name]) for name in frame if is_odd(frame[name])}
    frame = with_columns(frame, odd) if odd else frame
    bytes_ = {name: _decoded(frame[name]) for name in frame if _has_bytes(frame[name])}
    frame = with_columns(frame, bytes_) if bytes_ else frame
    spans = {name: _spans(frame[name]) for name in frame if _is_span(frame[name])}
    frame = with_columns(frame, spans) if spans else frame
    types = {name: usual(frame[name].dtype) for name in frame}
    types = {name: own for name, own in types.items() if own != frame[name].dtype}
    return frame.astype(types) if types else frame


def _has_bytes(column: Any) -> bool:
    """Return whether a column holds bytes, as texts are in some Parquet files."""
    import pandas as pd

    values = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    if isinstance(values.dtype, pd.ArrowDtype):
        return "binary" in str(values.dtype)
    return bool(values.dtype == object and pd.api.types.infer_dtype(values) == "bytes")


def _decoded(column: Any) -> Any:
    """Return a column of bytes as the texts they encode; pictures and the like stay bytes."""
    column = column.astype(object)
    return column.where(is_bytes(column), column.map(text_of, na_action="ignore"))


def _is_span(column: Any) -> bool:
    """Return whether a column holds spans of time that pandas does not know as such."""
    import pandas as pd

    if isinstance(column.dtype, pd.ArrowDtype):
        return bool(column.dtype.kind == "m")
    kind = pd.api.types.infer_dtype(column) if column.dtype == object else ""
    return kind in ("timedelta", "timedelta64")


def _spans(column: Any) -> Any:
    """Return spans of time as pandas knows them, or as seconds where they are too long for it."""
    import pandas as pd

    try:
        return column.astype("timedelta64[ns]")
    except (ValueError, OverflowError):
        gaps = zip(column, column.isna(), strict=True)
        found = [np.nan if missing else seconds(span) for span, missing in gaps]
        return pd.Series(found, index=column.index, dtype=np.float64)


def column_name(column: Any) -> str:
    """Return what to call a column; that of a MultiIndex by all its levels."""
    parts = [str(part) for part in column] if isinstance(column, tuple) else [str(column)]
    return " ".join(part for part in parts if part) or str(column)


def split_label(
    frame: Any, label: str, where: str, alone: bool = False
) -> tuple[Any, Any, tuple[str, ...]]:
    """Return a table without its column of labels, that column, and what there is to note.

    Args:
        alone: whether the labels may be the only column.
    """
    if label not in frame.columns:
        hint = did_you_mean(label, frame.columns)
        if len(hint) > 300:  # nothing near it, and many that it could be
            hint = f"; its columns: {_some(frame)}"
        raise DataError(f"{where}: no column {label!r}{hint}")
    again = repeated(frame.columns, label)
    rest = frame.drop(columns=[label, *again])
    if rest.shape[1] == 0 and not alone:
        raise DataError(f"{where}: no column beside {label!r}")
    notes = (f"left out, labels once more: {shortlist(again)}",) if again else ()
    return rest, frame[label], notes


def _some(frame: Any, most: int = 12) -> str:
    names = [str(column) for column in frame.columns]
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
