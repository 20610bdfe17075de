"""The columns of a table as features."""

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.encoders.encoder import Identity
from noiseproof.errors import DataError
from noiseproof.prepare.columns.column import KINDS, Column, Number
from noiseproof.prepare.columns.measures import FURTHEST
from noiseproof.prepare.columns.sentences import Sentences
from noiseproof.prepare.columns.values import with_gaps
from noiseproof.prepare.columns.words import Words
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, Progress

AnyColumn = Column | Words | Sentences


@dataclass(frozen=True, eq=False)
class TableFeatures:
    """Columns of a table: numbers, categories and dates side by side, and texts beside them.

    A text may be there twice: as the embeddings of an encoder and as its words.

    Args:
        columns: what each column becomes.
        left_out: the columns that were there and are not used.
        commas: the columns whose numbers were written 3,14.
    """

    columns: tuple[AnyColumn, ...]
    left_out: tuple[str, ...] = ()
    commas: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many features there are."""
        if not all(c.is_possible for c in self._words):
            raise ValueError("a rarity for each word")
        return len(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features: numbers, categories and dates, then embeddings, then words."""
        return tuple(name for c in self._ordered for name in c.features)

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """(D,) which features are 0 or 1: that of a category, or that a value is missing."""
        return np.array([i for c in self._ordered for i in c.indicators], np.bool_)

    def of_kind(self, kind: type[AnyColumn]) -> NDArray[np.bool_]:
        """(D,) which features are of columns of a kind."""
        return np.array([isinstance(c, kind) for c in self._ordered for _ in c.features], np.bool_)

    @property
    def _ordered(self) -> tuple[AnyColumn, ...]:
        plain: tuple[AnyColumn, ...] = self._plain
        return plain + self.sentences + self._words

    @property
    def _plain(self) -> tuple[Column, ...]:
        return tuple(c for c in self.columns if not isinstance(c, (Words, Sentences)))

    @property
    def sentences(self) -> tuple[Sentences, ...]:
        """The columns that an encoder reads."""
        return tuple(c for c in self.columns if isinstance(c, Sentences))

    @property
    def _words(self) -> tuple[Words, ...]:
        return tuple(c for c in self.columns if isinstance(c, Words))

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that are free text."""
        found = [c.name for c in self.sentences] + [c.name for c in self._words]
        return tuple(dict.fromkeys(found))

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(column.name for column in self.columns))

    @property
    def numbers(self) -> frozenset[str]:
        """The columns that are plain numbers, without a unit or marks between thousands."""
        numbers = (c for c in self.columns if isinstance(c, Number))
        return frozenset(c.name for c in numbers if c.written is None)

    def transform(self, samples: Samples, notes: Notes, progress: Progress = SILENT) -> Any:
        """Return the features of a table; a column that is missing counts as empty."""
        if samples.kind != "table":
            raise DataError(f"{samples.name}: the model reads a table with columns, this is none")
        frame = samples.inputs
        names = self._names
        absent = [name for name in names if name not in frame.columns]
        there = [*frame.columns, *samples.others]
        known = {*names, *self.left_out}
        if len(absent) == len(names):
            listed = ", ".join(_with_lookalike(name, there) for name in names)
            raise DataError(f"{samples.name}: has none of the model's columns, {listed}")
        for name in absent:
            item = _with_lookalike(name, there)
            notes.add("columns not there, taken as empty", item, warn=True)
        for name in there:
            if name not in known:
                notes.add("columns the model does not use", name)
        return self._matrix(frame, notes, progress)

    def _matrix(self, frame: Any, notes: Notes, progress: Progress) -> Any:
        # A column that is not there has been noted; that it is empty is no news.
        about = {name: notes if name in frame.columns else Notes() for name in self._names}
        plain = self._plain
        widths = [len(c.features) for c in (*plain, *self.sentences)]
        dense = np.empty((len(frame), sum(widths)), dtype=np.float32)
        ends = np.cumsum([0, *widths])
        for column, start, end in zip(plain, ends, ends[1:], strict=False):
            column.fill(column_of(frame, column.name), dense[:, start:end], about[column.name])
        if self.texts:
            # A text has length 1: all the other columns together get no more. Nor does a number
            # far from all those of the fit outweigh the text: learners clip dense rows alone.
            beside = dense[:, : ends[len(plain)]]
            np.clip(beside, -FURTHEST, FURTHEST, out=beside)
            beside /= np.sqrt(max(1, len(plain)), dtype=np.float32)
        for c, start, end in zip(
            self.sentences, ends[len(plain) :], ends[len(plain) + 1 :], strict=False
        ):
            dense[:, start:end] = c.matrix(column_of(frame, c.name), about[c.name], progress)
        if not self._words:
            return dense
        # Of a text that is there twice, the embeddings have counted what is missing.
        counted = {c.name for c in self.sentences}
        words = [
            c.matrix(column_of(frame, c.name), Notes() if c.name in counted else about[c.name])
            for c in self._words
        ]
        return sparse.hstack([sparse.csr_matrix(dense), *words], format="csr", dtype=np.float32)

    def describe(self) -> dict[str, Any]:
        """Return each column's kind and constants."""
        described = []
        for c in self.columns:
            if isinstance(c, Words):
                described.append({
                    "kind": "text", "name": c.name, "vocabulary": list(c.vocabulary),
                    "characters": c.characters, "missing": c.missing, "figures": c.figures,
                    "rows": c.rows, "strange": c.strange,
                })  # fmt: skip
            elif isinstance(c, Sentences):
                described.append(c.describe())
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
        columns: list[AnyColumn] = []
        for i, entry in enumerate(description["columns"]):
            found = {key: value for key, value in entry.items() if key != "kind"}
            if entry["kind"] == "text":
                found["vocabulary"] = tuple(found["vocabulary"])
                columns.append(_checked(Words(**found, rarity=arrays[f"{i}"])))
            elif entry["kind"] == "sentences":
                columns.append(
                    _checked(Sentences(**found | {"encoder": Identity(**found["encoder"])}))
                )
            else:
                columns.append(_checked(KINDS[entry["kind"]](**found)))
        left_out, commas = (tuple(description[key]) for key in ("left_out", "commas"))
        if not all(isinstance(name, str) for name in (*left_out, *commas)):
            raise ValueError("expected names of columns")
        return cls(tuple(columns), left_out, commas)


#: The fields of columns that are shares of their values.
SHARES = ("missing", "infinite", "known", "impossible", "figures", "unread", "strange")


def _checked(column: Any) -> Any:
    """Return a column whose constants are of their types, and finite where they are numbers."""
    for field in fields(column):
        value = getattr(column, field.name)
        number = isinstance(value, (int, float)) and math.isfinite(value)
        if field.type is float and not number:
            raise ValueError(f"{field.name}: expected a number, got {value!r}")
        if field.type is int and (type(value) is not int or not 0 <= value < 2**53):
            raise ValueError(f"{field.name}: expected a count, got {value!r}")
        if field.type is str and not isinstance(value, str):
            raise ValueError(f"{field.name}: expected a text, got {value!r}")
        absent = value is None and field.type == (bool | None)
        if field.type in (bool, bool | None) and not (absent or isinstance(value, bool)):
            raise ValueError(f"{field.name}: expected a truth value, got {value!r}")
        if field.type == tuple[str, ...] and (
            not all(isinstance(text, str) for text in value) or len(set(value)) < len(value)
        ):
            raise ValueError(f"{field.name}: expected different texts")
        if field.name in SHARES and not 0 <= value <= 1:
            raise ValueError(f"{field.name}: expected a share, got {value!r}")
        if field.name == "std" and value <= 0:
            raise ValueError(f"std: expected more than 0, got {value!r}")
    return column


def _with_lookalike(name: str, there: Collection[str]) -> str:
    """Return the name of a column that is not there, and one there that is called almost so.

    >>> _with_lookalike("Age", ["height", " age"])
    "Age (there is ' age')"
    """
    folded = {" ".join(other.casefold().split()): other for other in there}
    other = folded.get(" ".join(name.casefold().split()))
    return name if other is None else f"{name} (there is {other!r})"


def column_of(frame: Any, name: str) -> Any:
    """Return a column of a table; one of gaps where there is none."""
    import pandas as pd

    if name in frame.columns:
        return with_gaps(frame[name])
    return pd.Series(np.full(len(frame), np.nan), index=frame.index)
