"""Predict for a file of any length with a saved model, block by block."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from noiseproof import files
from noiseproof.errors import DataError, ParameterError
from noiseproof.files.spreadsheet import escape
from noiseproof.fitting.model import Model
from noiseproof.prepare.classes import Classes
from noiseproof.prepare.features import encoder_of, reading
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.forms import BLOCK
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import check_encoding, read_blocks
from noiseproof.progress import SILENT, Progress
from noiseproof.tables.read import PARQUET

#: About how many probabilities to hold in memory at a time.
PROBABILITIES = 2_000_000
#: Rows at a time where an encoder reads them, so that progress is seen.
ENCODED = 512


@dataclass(frozen=True)
class Predicted:
    """A summary of predictions.

    Args:
        rows: the number of rows.
        counts: the number of rows predicted for each class, the most frequent class first.
        notes: remarks on how the file was read, a line each.
        warnings: the notes that make the predictions doubtful.
    """

    rows: int
    counts: dict[str, int]
    notes: list[str]
    warnings: list[str]


def predict_file(
    model: Model,
    path: str | Path,
    out: str | Path,
    *,
    embeddings: str | Path | None = None,
    encoding: str | None = None,
    strict: bool = False,
    force: bool = True,
    progress: Progress = SILENT,
) -> Predicted:
    """Write predictions for a file, one row for each of its rows, all or nothing.

    The columns are ``row``, ``prediction`` and for each class ``p(class)``. In a CSV, texts that a
    spreadsheet would run as formulas get an apostrophe in front
    (:func:`~noiseproof.files.spreadsheet.unescape` removes it).

    Args:
        model: from :func:`~noiseproof.fitting.model.load`.
        path: a file or folder of the kind the model was fitted to, labels not needed.
        out: where to, a ``.csv`` or a ``.parquet`` file.
        embeddings: a file of features for the rows, if the model was fitted to embeddings.
        encoding: the encoding of a text file; None is UTF-8.
        strict: whether columns that have changed since the fit are an error.
        force: whether to replace a file that is there when the predictions are.
        progress: receives how much has been read.
    """
    if model.embeddings and embeddings is None:
        raise ParameterError(
            "the model was fitted to embeddings; give those of these rows: --embeddings"
        )
    if embeddings is not None and not model.embeddings:
        raise ParameterError("--embeddings: the model was not fitted to embeddings")
    check_encoding(encoding, path)
    suffix = _suffix(Path(out))
    how = Reading(embeddings=embeddings, encoding=encoding, **reading(model.features))
    found: list[Predicted] = []

    def write(file: BinaryIO) -> None:
        found.append(_write(model, Path(path), file, suffix, how, progress))
        if strict and found[0].warnings:
            raise DataError(f"{path}: {'; '.join(found[0].warnings)} (--strict)")

    files.write(out, write, force)
    return found[0]


def _write(
    model: Model, path: Path, file: BinaryIO, suffix: str, how: Reading, progress: Progress
) -> Predicted:
    notes = Notes()
    said: dict[str, None] = {}
    counts = np.zeros(len(model.coding), dtype=np.int64)
    table = _Parquet(file, model.coding) if suffix in PARQUET else _Csv(file, model.coding)
    most = BLOCK if encoder_of(model.features) is None else ENCODED
    rows = max(1, min(most, PROBABILITIES // len(model.coding)))
    blocks = read_blocks(path, model.label or None, how, rows=rows, progress=progress)
    done = 0
    try:
        for block in blocks:
            probabilities = model.probabilities(block, notes)
            codes = probabilities.argmax(axis=1)
            names = block.rows or range(done, done + len(block))
            table.write(names, codes, probabilities)
            counts += np.bincount(codes, minlength=len(counts))
            said |= dict.fromkeys(block.notes)
            done += len(block)
        table.close()
    except BaseException:
        table.abandon()
        raise
    order = [int(k) for k in np.argsort(-counts, kind="stable") if counts[k]]
    found = {model.coding.names[k]: int(counts[k]) for k in order}
    return Predicted(done, found, [*said, *notes.lines], notes.warnings)


class _Csv:
    """Writes predictions as CSV."""

    def __init__(self, file: BinaryIO, classes: Classes) -> None:
        self.file, self.classes = file, classes
        self.writer: Any = None

    def write(self, rows: Any, codes: NDArray[np.int64], probabilities: Any) -> None:
        import pyarrow as pa  # type: ignore[import-untyped]

        names = rows if isinstance(rows, range) else [self.text(row) for row in rows]
        if self.classes.kind == "integer" and self.classes.values.dtype.kind in "iu":
            labels = pa.array(self.classes.values)
        else:
            labels = pa.array([self.text(name) for name in self.classes.names], pa.string())
        shares = np.round(probabilities, 6)
        table = pa.table(
            {"row": np.asarray(names) if isinstance(rows, range) else pa.array(names),
             "prediction": labels.take(pa.array(codes))}
            | {f"p({name})": shares[:, k] for k, name in enumerate(self.classes.names)}
        )  # fmt: skip
        if self.writer is None:
            self.writer = self.open(table.schema)
        self.writer.write_table(table)

    def open(self, schema: Any) -> Any:
        from pyarrow.csv import CSVWriter  # type: ignore[import-untyped]

        return CSVWriter(self.file, schema)

    def text(self, text: str) -> str:
        return escape(text)

    def close(self) -> None:
        self.writer.close()

    def abandon(self) -> None:
        """Let go of a file that will not be finished."""


class _Parquet(_Csv):
    """Writes predictions as Parquet."""

    def open(self, schema: Any) -> Any:
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]

        return ParquetWriter(self.file, schema)

    def text(self, text: str) -> str:
        return text

    def abandon(self) -> None:
        # An open one closes itself when it is collected, on a file that is closed by then, and
        # complains of that on the terminal.
        if self.writer is not None:
            with suppress(Exception):
                self.writer.close()
            self.writer.is_open = False


def _suffix(out: Path) -> str:
    suffix = out.suffix.lower()
    if suffix != ".csv" and suffix not in PARQUET:
        raise ParameterError(f"{out}: expected a name that ends in .csv or .parquet")
    return suffix


def check_out(out: Path, force: bool, file: Path, model: Path) -> None:
    """Raise at once if predictions cannot be written to ``out``."""
    files.check_file(out, force, (file, model))
    if (model / "model").resolve() in out.resolve().parents:
        raise ParameterError(f"{out} would be among the files of the model; choose another place")
    _suffix(out)
