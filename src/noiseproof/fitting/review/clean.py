"""Write a user's table again with corrected labels, and everything else as it was."""

import gzip
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof import files
from noiseproof.errors import DataError, ParameterError
from noiseproof.fitting.model import RECIPE
from noiseproof.fitting.output import default_folder
from noiseproof.fitting.review.clean_folder import clean_folder
from noiseproof.fitting.review.corrections import Change, Given, check_sources, corrections, listed
from noiseproof.fitting.review.edit_text import edited
from noiseproof.fitting.review.reviewed import fingerprint
from noiseproof.prepare.classes import Classes, Codes, encode
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.formats.table_files import parquet_files, read_table_file
from noiseproof.prepare.read import check_encoding, check_label
from noiseproof.tables.read import PARQUET, bare_name, parquet_file, table_suffix


@dataclass(frozen=True)
class Cleaned:
    """What :func:`clean` wrote.

    Args:
        out: the corrected file or folder.
        changes_file: the list of changes.
        rows: how many rows there are.
        changes: the labels that were changed.
    """

    out: Path
    changes_file: Path
    rows: int
    changes: tuple[Change, ...]


def clean(
    path: str | Path,
    out: str | Path,
    *,
    label: str | None = None,
    reviewed: str | Path | None = None,
    fit: str | Path | None = None,
    proposals: float | None = None,
    encoding: str | None = None,
    force: bool = False,
) -> Cleaned:
    """Write data with corrected labels, and beside it a list of what changed and why.

    In a text table only the fields of changed labels differ; every other byte is the same. In a
    Parquet file all other values are the same. A folder of pictures is copied, with corrected
    pictures in the folders of their new classes.

    Args:
        path: the ``.csv``, ``.tsv`` (also ``.gz``) or ``.parquet`` that was fitted, or the folder
            of pictures by class.
        out: where to; the list of changes is ``OUT-changes.csv`` without the suffix.
        label: the column of labels; None asks the folder of the fit.
        reviewed: the decisions that the review page exported.
        fit: the folder of the fit; None is the one that ``noiseproof fit`` makes by default.
        proposals: take the fit's own proposals from this confidence on, for rows that nobody
            looked at.
        encoding: of a text file; None is UTF-8.
        force: whether to replace files that exist.
    """
    path, out = Path(path), Path(out)
    check_sources(reviewed, proposals)
    files.check_name(out)
    name = out.name if path.is_dir() else bare_name(out)
    changes_file = out.with_name(f"{name or 'clean'}-changes.csv")
    _check_kinds(path, out)
    check_encoding(encoding, path)
    for file in (changes_file,) if path.is_dir() else (out, changes_file):
        files.check_file(file, force, (path, reviewed))
    folder = default_folder(path) if fit is None else Path(fit)
    if fit is not None and proposals is None and (label is not None or path.is_dir()):
        raise ParameterError("--fit: nothing is asked of it; give --proposals, or leave it out")
    if folder.exists() and folder.resolve() in out.resolve().parents:
        raise ParameterError(f"{out} would be inside the folder of the fit; choose another place")
    made = out, changes_file
    if path.is_dir():
        check_label(path, "images", label)
        rows, changes = clean_folder(path, made, reviewed, folder, proposals, force)
    else:
        rows, changes = _table(path, made, label, reviewed, folder, proposals, encoding, force)
    return Cleaned(out, changes_file, rows, tuple(changes))


def _table(
    path: Path, made: tuple[Path, Path], label: str | None, reviewed: str | Path | None,
    folder: Path, proposals: float | None, encoding: str | None, force: bool,
) -> tuple[int, list[Change]]:  # fmt: skip
    """Write a table again, and its changes; return how many rows it has, and what was changed."""
    out, changes_file = made
    label = label if label is not None else _label(folder, path)
    with files.unchanged(path):  # it is read once for the labels, and again to edit it
        samples = read_table_file(path, label, Reading(encoding=encoding), alone=True)
        codes, classes = encode(samples.labels, f"{samples.name}, column {label!r}")
        own = fingerprint(samples if samples.inputs.shape[1] else None, len(samples), None)
        given = Given(range(len(samples)), codes, classes, samples.name, own)
        changes = corrections(given, reviewed, folder, proposals)
        new = {row: change.new for row, change in changes.items()}
        content = _content(path, out, label, new, codes, classes, encoding)
    told = listed(list(changes.values()))
    with files.writing(changes_file, told, force):
        files.write(out, content, force, outdated=changes_file if force else None)
    return len(samples), list(changes.values())


def _check_kinds(path: Path, out: Path) -> None:
    kind, wanted = (table_suffix(one) for one in (path, out))
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.is_dir():
        if parquet_files(path):
            raise DataError(
                f"{path}: a folder of Parquet files cannot be written again; save it as one file "
                "and fit that, or learn from the decisions with `noiseproof fit --reviewed`"
            )
        if wanted is not None:
            raise ParameterError(f"--out: expected the name of a folder, as {path} is one")
        return
    if kind is None or not path.is_file():
        raise DataError(
            f"{path}: expected a .csv, .tsv or .parquet file or a folder of pictures; for others, "
            "`noiseproof fit --reviewed` learns from the decisions"
        )
    if wanted is None or (kind in PARQUET) != (wanted in PARQUET) or kind[:4] != wanted[:4]:
        raise ParameterError(f"--out: expected a name ending {kind}, as that of {path.name}")


def _label(folder: Path, path: Path) -> str:
    recipe, found = folder / "model" / RECIPE, ""
    if recipe.is_file():  # a pipe would be waited for
        with suppress(ValueError, LookupError, TypeError, RecursionError):
            found = json.loads(recipe.read_text("utf-8"))["label"]
    if not isinstance(found, str) or not found:
        raise ParameterError(
            f"{path}: which column has the labels? Give --label, or the folder of its fit by --fit"
        )
    return found


def _content(
    path: Path, out: Path, label: str, new: Mapping[int, str], codes: Codes, classes: Classes,
    encoding: str | None,
) -> bytes:  # fmt: skip
    if table_suffix(path) in PARQUET:
        return _parquet(path, label, new, codes, classes)
    made = edited(path, label, new, encoding)
    return gzip.compress(made, mtime=0) if out.name.lower().endswith(".gz") else made


def _parquet(
    path: Path, label: str, new: Mapping[int, str], codes: Codes, classes: Classes
) -> bytes:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import parquet

    with path.open("rb") as file:
        table = parquet_file(file).read()
        finer = parquet.ParquetFile(file)
        long, others = _times(finer.schema)
        for name in long:
            with suppress(pa.ArrowInvalid, KeyError):  # beyond what nanoseconds hold; inside others
                table[name].cast(pa.timestamp("ns"))
                exact = finer.read([name])
                place = table.column_names.index(name)
                table = table.set_column(place, exact.schema.field(name), exact[name])
    if label not in table.column_names:  # pandas makes names of several levels
        raise DataError(
            f"{path}: no column of the file itself is called {label!r}; save it again with column "
            "names of one level"
        )
    at = table.column_names.index(label)
    code = {name: k for k, name in enumerate(classes.names)}
    first = {name: int(np.flatnonzero(codes == code[name])[0]) for name in set(new.values())}
    taken = np.arange(table.num_rows)
    for row, name in new.items():  # a corrected label is that of the first row of its class
        taken[row] = first[name]
    # Categories stay as they are: their order may mean something, and all may be asked for.
    column = table.column(at).unify_dictionaries()
    try:
        made = column.take(taken)
    except pa.ArrowNotImplementedError:  # of views of texts
        values = column.to_pylist()
        made = pa.chunked_array([pa.array([values[row] for row in taken], type=column.type)])
    stream = io.BytesIO()
    as_before = bool(long) and not others
    parquet.write_table(
        table.set_column(at, table.schema.field(at), made),
        stream,
        use_deprecated_int96_timestamps=as_before,
    )
    return stream.getvalue()


def _times(schema: Any) -> tuple[list[str], list[str]]:
    """Return the columns that are times in 96 bits, as Spark writes them, and the other times."""
    columns = [schema.column(i) for i in range(len(schema))]
    long = [column.path for column in columns if column.physical_type == "INT96"]
    return long, [column.path for column in columns if column.logical_type.type == "TIMESTAMP"]
