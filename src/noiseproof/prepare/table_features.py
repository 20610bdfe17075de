"""The columns of a table as features."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.errors import DataError
from noiseproof.prepare.columns import KINDS, Column, Number
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.words import Words


@dataclass(frozen=True, eq=False)
class TableFeatures:
    """Columns of a table: numbers, categories and dates side by side, and the words of texts.

    Args:
        columns: what each column becomes.
        left_out: the columns that were there and are not used.
        commas: the columns whose numbers were written 3,14.
    """

    columns: tuple[Column | Words, ...]
    left_out: tuple[str, ...] = ()
    commas: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many features there are."""
        if any(c.rarity.shape != (len(c.vocabulary),) for c in self._words):
            raise ValueError("a rarity for each word")
        return len(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features: numbers, categories and dates first, then words."""
        return tuple(name for c in (*self._plain, *self._words) for name in c.features)

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """(D,) which features are 0 or 1: that of a category, or that a value is missing."""
        return np.array([i for c in (*self._plain, *self._words) for i in c.indicators], np.bool_)

    @property
    def _plain(self) -> tuple[Column, ...]:
        return tuple(c for c in self.columns if not isinstance(c, Words))

    @property
    def _words(self) -> tuple[Words, ...]:
        return tuple(c for c in self.columns if isinstance(c, Words))

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that are free text."""
        return tuple(c.name for c in self._words)

    @property
    def numbers(self) -> frozenset[str]:
        """The columns that are numbers."""
        return frozenset(c.name for c in self.columns if isinstance(c, Number))

    def transform(self, samples: Samples, notes: Notes) -> Any:
        """Return the features of a table; a column that is missing counts as empty."""
        if samples.kind != "table":
            raise DataError(f"{samples.name}: the model reads a table with columns, this is none")
        frame = samples.inputs
        names = [column.name for column in self.columns]
        absent = [name for name in names if name not in frame.columns]
        if len(absent) == len(names):
            raise DataError(f"{samples.name}: has none of the model's columns, {', '.join(names)}")
        for name in absent:
            notes.add("columns not there, taken as empty", name, warn=True)
        for name in (*frame.columns, *samples.others):
            if name not in names and name not in self.left_out:
                notes.add("columns the model does not use", name)
        return self._matrix(frame, notes)

    def _matrix(self, frame: Any, notes: Notes) -> Any:
        plain = self._plain
        dense = np.empty((len(frame), sum(len(c.features) for c in plain)), dtype=np.float32)
        at = 0
        for column in plain:
            width = len(column.features)
            # A column that is not there has been noted; that it is empty is no news.
            about = notes if column.name in frame.columns else Notes()
            column.fill(_column(frame, column.name), dense[:, at : at + width], about)
            at += width
        texts = [
            c.matrix(_column(frame, c.name), notes if c.name in frame.columns else Notes())
            for c in self._words
        ]
        if not texts:
            return dense
        # A text has length 1: all the other columns together get no more.
        dense /= np.sqrt(max(1, len(plain)), dtype=np.float32)
        return sparse.hstack([sparse.csr_matrix(dense), *texts], format="csr", dtype=np.float32)

    def describe(self) -> dict[str, Any]:
        """Return each column's kind and constants."""
        described = []
        for c in self.columns:
            if isinstance(c, Words):
                described.append({
                    "kind": "text", "name": c.name, "vocabulary": list(c.vocabulary),
                    "characters": c.characters, "missing": c.missing,
                })  # fmt: skip
            else:
                described.append({"kind": c.kind, **asdict(c)})
        return {
            "kind": "table",
            "columns": described,
            "left_out": list(self.left_out),
            "commas": list(self.commas),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the rarity of the words of each text."""
        return {f"{i}": c.rarity for i, c in enumerate(self.columns) if isinstance(c, Words)}

    @classmethod
    def load(
        cls, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "TableFeatures":
        """Undo :meth:`describe` and :meth:`arrays`."""
        columns: list[Column | Words] = []
        for i, entry in enumerate(description["columns"]):
            found = {key: value for key, value in entry.items() if key != "kind"}
            if entry["kind"] == "text":
                found["vocabulary"] = tuple(found["vocabulary"])
                columns.append(Words(**found, rarity=arrays[f"{i}"]))
            else:
                columns.append(_checked(KINDS[entry["kind"]](**found)))
        left_out, commas = (tuple(description[key]) for key in ("left_out", "commas"))
        return cls(tuple(columns), left_out, commas)


def _checked(column: Any) -> Any:
    """Return a column whose constants are what they should be: numbers finite, names text."""
    for field in fields(column):
        value = getattr(column, field.name)
        number = isinstance(value, (int, float)) and math.isfinite(value)
        if field.type is float and not number:
            raise ValueError(f"{field.name}: expected a number, got {value!r}")
        if field.type is str and not isinstance(value, str):
            raise ValueError(f"{field.name}: expected a text, got {value!r}")
    return column


def _column(frame: Any, name: str) -> Any:
    import pandas as pd

    if name in frame.columns:
        return frame[name]
    return pd.Series(np.full(len(frame), np.nan), index=frame.index)
