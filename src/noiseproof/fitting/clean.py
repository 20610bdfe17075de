"""Write a user's table again with corrected labels, and everything else as it was."""

import csv
import gzip
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof import files
from noiseproof.data.table import PARQUET, bare_name, table_suffix
from noiseproof.errors import DataError, ParameterError
from noiseproof.files.spreadsheet import escape, unescape
from noiseproof.fitting.edit_text import edited
from noiseproof.fitting.model import RECIPE, UNREADABLE
from noiseproof.fitting.output import SUMMARY, SUSPECTS, default_folder
from noiseproof.fitting.reviewed import fingerprint, match
from noiseproof.prepare.classes import MISSING, Classes, Codes, encode
from noiseproof.prepare.table_files import read_table_file


@dataclass(frozen=True)
class Change:
    """A label that was changed.

    Args:
        row: the row, from 0.
        old: the label as given.
        new: the label written.
        why: the reason.
    """

    row: int
    old: str
    new: str
    why: str


@dataclass(frozen=True)
class Cleaned:
    """What :func:`clean` wrote.

    Args:
        out: the corrected file.
        changes_file: the list of changes.
        rows: how many rows the file has.
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
    """Write a table with corrected labels, and beside it a list of what changed and why.

    In a text table only the fields of changed labels differ; every other byte is the same. In a
    Parquet file all other values are the same.

    Args:
        path: the ``.csv``, ``.tsv`` (also ``.gz``) or ``.parquet`` that was fitted.
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
    changes_file = out.with_name(f"{bare_name(out) or 'clean'}-changes.csv")
    if reviewed is None and proposals is None:
        raise ParameterError("nothing to correct by: give --reviewed, --proposals or both")
    if proposals is not None and not 0 < proposals <= 1:
        raise ParameterError(f"--proposals: expected more than 0 and at most 1, got {proposals:g}")
    _check_kinds(path, out)
    for made in (out, changes_file):
        files.check_file(made, force)
        for read in (path, reviewed):
            if read is not None and made.exists() and Path(read).exists() and made.samefile(read):
                raise ParameterError(f"{made} is an input; it is left as it is")
    folder = default_folder(path) if fit is None else Path(fit)
    if folder.exists() and folder.resolve() in out.resolve().parents:
        raise ParameterError(f"{out} would be inside the folder of the fit; choose another place")
    label = label if label is not None else _label(folder, path)
    samples = read_table_file(path, label, labelled=True, alone=True, encoding=encoding)
    codes, classes = encode(samples.labels, f"{samples.name}, column {label!r}")
    own = fingerprint(samples if samples.inputs.shape[1] else None, len(samples), None)
    changes: dict[int, Change] = {}
    looked: set[int] = set()
    if reviewed is not None:
        looked = _reviewed(reviewed, codes, classes, samples.name, own, changes)
    if proposals is not None:
        _proposed(folder, proposals, codes, classes, samples.name, own, changes, looked)
    new = {row: change.new for row, change in sorted(changes.items())}
    files.write(out, _content(path, out, label, new, codes, classes, encoding))
    listed = tuple(changes[row] for row in new)
    files.write(changes_file, _listed(listed))
    return Cleaned(out, changes_file, len(samples), listed)


def _check_kinds(path: Path, out: Path) -> None:
    kind, wanted = (table_suffix(one) for one in (path, out))
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.is_dir() or kind is None:
        raise DataError(
            f"{path}: expected a .csv, .tsv or .parquet file; for others, `noiseproof fit "
            "--reviewed` learns from the decisions"
        )
    if wanted is None or (kind in PARQUET) != (wanted in PARQUET) or kind[:4] != wanted[:4]:
        raise ParameterError(f"--out: expected a name ending {kind}, as that of {path.name}")


def _label(folder: Path, path: Path) -> str:
    try:
        found = json.loads((folder / "model" / RECIPE).read_text("utf-8"))["label"]
    except UNREADABLE:
        found = ""
    if not isinstance(found, str) or not found:
        raise ParameterError(
            f"{path}: which column has the labels? Give --label, or the folder of its fit by --fit"
        )
    return found


def _reviewed(
    reviewed: str | Path, codes: Codes, classes: Classes, name: str, own: str,
    changes: dict[int, Change],
) -> set[int]:  # fmt: skip
    """Collect the labels that a person corrected; return all rows that they looked at."""
    places = np.flatnonzero(codes != MISSING)
    found = match(reviewed, places.tolist(), codes[places], classes, name, own)
    for one in found.decisions:
        row = int(one.row)
        old = classes.names[codes[row]]
        if one.label and one.label != old:
            why = {"proposal": "reviewed: proposal taken", "other": "reviewed: another class"}
            changes[row] = Change(row, old, one.label, why.get(one.decision, "reviewed: kept"))
    return {int(one.row) for one in found.decisions}


def _proposed(
    folder: Path, least: float, codes: Codes, classes: Classes, name: str, own: str,
    changes: dict[int, Change], looked: set[int],
) -> None:  # fmt: skip
    """Collect proposals of a fit for rows that nobody looked at."""
    listed = folder / SUSPECTS
    try:
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
        lines = list(csv.DictReader(io.StringIO(listed.read_bytes().decode("utf-8"), newline="")))
        theirs = summary["data"]["fingerprint"]
    except UNREADABLE:
        raise DataError(
            f"{folder}: no fit of noiseproof's here, for --proposals; give --fit"
        ) from None
    if SUSPECTS in files.not_ours(folder):
        raise DataError(f"{listed}: has changed since the fit; fit again")
    if theirs != own:
        raise DataError(f"{folder}: is the fit of other data than {name}")
    for line in lines:
        row, sure = int(line["row"]), float(line["confidence"])
        old, new = (unescape(line[column]) for column in ("given_label", "proposed_label"))
        if sure < least or row in looked or classes.names[codes[row]] != old:
            continue
        changes[row] = Change(row, old, new, f"proposed by the fit, {100 * sure:.1f} % sure")


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
        table = parquet.ParquetFile(file).read()
    at = table.column_names.index(label)
    field, column = table.schema.field(at), table.column(at)
    plain = column.cast(field.type.value_type) if pa.types.is_dictionary(field.type) else column
    values: list[Any] = plain.to_pylist()
    code = {name: k for k, name in enumerate(classes.names)}
    first = {
        name: values[int(np.flatnonzero(codes == code[name])[0])] for name in set(new.values())
    }
    for row, name in new.items():
        values[row] = first[name]
    made = pa.chunked_array([pa.array(values, type=plain.type)])
    if pa.types.is_dictionary(field.type):
        made = made.cast(field.type) if made.type != field.type else made
    stream = io.BytesIO()
    parquet.write_table(table.set_column(at, field, made), stream)
    return stream.getvalue()


def _listed(changes: tuple[Change, ...]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["row", "old_label", "new_label", "why"])
    for one in changes:
        writer.writerow([one.row, escape(one.old), escape(one.new), one.why])
    return text.getvalue()
