"""From inputs as they came to the matrix that a head learns from, the same way every time."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.errors import DataError
from noiseproof.prepare.columns import KINDS, Column, Notes, Number
from noiseproof.prepare.kinds import decide
from noiseproof.prepare.patches import PATCH, TINY, Patches
from noiseproof.prepare.read import Samples
from noiseproof.prepare.words import Words

Arrays = Mapping[str, NDArray[Any]]


class Preprocessor(Protocol):
    """Makes features of inputs; learnt once, kept as plain JSON and arrays."""

    @property
    def width(self) -> int:
        """How many features there are; an error where what was learnt is not of one piece."""

    def transform(self, samples: Samples, notes: Notes) -> Any:
        """Return the features (N, D), float32, dense or sparse; note what did not fit."""

    def describe(self) -> dict[str, Any]:
        """Return what JSON can hold; with :meth:`arrays`, all there is."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what it cannot."""


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
        texts = [c for c in self.columns if isinstance(c, Words)]
        if any(c.rarity.shape != (len(c.vocabulary),) for c in texts):
            raise ValueError("a rarity for each word")
        plain = (len(c.features) for c in self.columns if not isinstance(c, Words))
        return sum(plain) + sum(len(c.vocabulary) for c in texts)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that are free text."""
        return tuple(c.name for c in self.columns if isinstance(c, Words))

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
            notes.add("columns not there, taken as empty", name)
        for name in frame.columns:
            if name not in names and name not in self.left_out:
                notes.add("columns the model does not use", name)
        return self._matrix(frame, notes)

    def _matrix(self, frame: Any, notes: Notes) -> Any:
        plain = [column for column in self.columns if not isinstance(column, Words)]
        dense = np.empty((len(frame), sum(len(c.features) for c in plain)), dtype=np.float32)
        at = 0
        for column in plain:
            width = len(column.features)
            note = column.fill(_column(frame, column.name), dense[:, at : at + width])
            if note:
                notes.add("filled in", note)
            at += width
        texts = [c.matrix(_column(frame, c.name)) for c in self.columns if isinstance(c, Words)]
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
                described.append({"kind": "text", "name": c.name, "words": list(c.vocabulary)})
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
    def load(cls, description: Mapping[str, Any], arrays: Arrays) -> "TableFeatures":
        """Undo :meth:`describe` and :meth:`arrays`."""
        columns: list[Column | Words] = []
        for i, entry in enumerate(description["columns"]):
            fields = {key: value for key, value in entry.items() if key != "kind"}
            if entry["kind"] == "text":
                columns.append(Words(entry["name"], tuple(entry["words"]), arrays[f"{i}"]))
            else:
                columns.append(KINDS[entry["kind"]](**fields))
        left_out, commas = (tuple(description[key]) for key in ("left_out", "commas"))
        return cls(tuple(columns), left_out, commas)


@dataclass(frozen=True, eq=False)
class MatrixFeatures:
    """A matrix of numbers as it is, gaps filled.

    Args:
        fill: (d,) the mean of each column.
    """

    fill: NDArray[np.float32]

    @property
    def width(self) -> int:
        """How many features there are."""
        (width,) = self.fill.shape
        return int(width)

    @classmethod
    def learn(cls, samples: Samples, notes: Notes) -> "MatrixFeatures":
        """Measure the columns; a matrix of gaps alone is an error."""
        X = samples.inputs
        if X.shape[1] == 0:
            raise DataError(f"{samples.name}: the rows have no columns")
        if sparse.issparse(X):
            return cls(np.zeros(X.shape[1], dtype=np.float32))
        total, count = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.int64)
        same = True
        for start in range(0, len(X), 4096):
            part = X[start : start + 4096]
            known = np.isfinite(part)
            total += np.where(known, part, 0).sum(axis=0, dtype=np.float64)
            count += known.sum(axis=0)
            same = same and bool(((part == X[0]) | (np.isnan(part) & np.isnan(X[0]))).all())
        if not count.any():
            raise DataError(f"{samples.name}: every value is missing")
        if same:
            raise DataError(
                f"{samples.name}: every row is the same; there is nothing to learn from"
            )
        if gaps := X.size - int(count.sum()):
            notes.add("missing values, taken as the column's mean", f"{gaps}")
        return cls((total / np.maximum(count, 1)).astype(np.float32))

    def transform(self, samples: Samples, notes: Notes) -> Any:
        """Return the matrix itself, or a copy without gaps."""
        X = samples.inputs
        if samples.kind == "table":
            X = _numbers(samples)
        elif samples.kind == "images":
            raise DataError(f"{samples.name}: the model reads rows of numbers, these are images")
        if X.shape[1] != len(self.fill):
            raise DataError(
                f"{samples.name}: rows of {X.shape[1]} numbers, the model reads {len(self.fill)}"
            )
        if sparse.issparse(X):
            return X.tocsr().astype(np.float32)
        rows, columns = np.nonzero(~np.isfinite(X))
        if len(rows):
            notes.add("missing values, taken as the column's mean", f"{len(rows)}")
            X = X.copy()
            X[rows, columns] = self.fill[columns]
        return X

    def describe(self) -> dict[str, Any]:
        """Return the kind alone."""
        return {"kind": "matrix"}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what gaps are filled with."""
        return {"fill": self.fill}

    @classmethod
    def load(cls, description: Mapping[str, Any], arrays: Arrays) -> "MatrixFeatures":
        """Undo :meth:`arrays`."""
        return cls(arrays["fill"])


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Small images: their pixels where they are tiny, else what their patches look like.

    Args:
        shape: (C, H, W) of the images.
        patches: None takes the pixels.
    """

    shape: tuple[int, int, int]
    patches: Patches | None

    @property
    def width(self) -> int:
        """How many features there are."""
        if self.patches is None:
            return int(np.prod(self.shape))
        (size,), (centres, _) = self.patches.mean.shape, self.patches.centres.shape
        shapes = (self.patches.whiten.shape, self.patches.centres.shape)
        if size != self.shape[0] * PATCH**2 or shapes != ((size, size), (centres, size)):
            raise ValueError("patches of the images")
        return 4 * int(centres)

    @classmethod
    def learn(cls, samples: Samples, seed: int, notes: Notes) -> "ImageFeatures":
        """Learn patches from the images, where they are large enough to have any."""
        channels, height, width = samples.inputs.shape[1:]
        shape = (int(channels), int(height), int(width))
        if max(height, width) <= TINY or min(height, width) < TINY:
            notes.add("images as their pixels", f"{channels}x{height}x{width}")
            return cls(shape, None)
        patches = Patches.learn(samples.inputs, seed)
        notes.add("images as likeness to learnt 6x6 patches", f"{len(patches.centres)} patches")
        return cls(shape, patches)

    def transform(self, samples: Samples, notes: Notes) -> Any:
        """Return the features of images of the same size, grey or coloured."""
        if samples.kind != "images":
            raise DataError(f"{samples.name}: the model reads images, these are none")
        images = samples.inputs
        if images.shape[2:] != self.shape[1:]:
            this, wanted = ("x".join(map(str, s)) for s in (images.shape[2:], self.shape[1:]))
            raise DataError(f"{samples.name}: images of {this} pixels, the model reads {wanted}")
        if images.shape[1] != self.shape[0]:
            grey = images.mean(axis=1, keepdims=True).astype(np.uint8)
            images = np.repeat(grey, self.shape[0], axis=1)
        if self.patches is not None:
            return self.patches.features(images)
        return images.reshape(len(images), -1).astype(np.float32) / 255

    def describe(self) -> dict[str, Any]:
        """Return the shape."""
        return {"kind": "images", "shape": list(self.shape)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the patches."""
        return {} if self.patches is None else self.patches.arrays()

    @classmethod
    def load(cls, description: Mapping[str, Any], arrays: Arrays) -> "ImageFeatures":
        """Undo :meth:`describe` and :meth:`arrays`."""
        channels, height, width = description["shape"]
        return cls((channels, height, width), Patches(**arrays) if arrays else None)


def learn_features(
    samples: Samples, text: Collection[str], seed: int, notes: Notes
) -> Preprocessor:
    """Return what turns these inputs, and others like them, into features."""
    if samples.kind == "table":
        columns = decide(samples.inputs, text, notes)
        used = {column.name for column in columns}
        unused = tuple(name for name in samples.inputs.columns if name not in used)
        return TableFeatures(tuple(columns), unused, samples.commas)
    if text:
        raise DataError(f"{samples.name}: has no columns, and so no text")
    if samples.kind == "images":
        return ImageFeatures.learn(samples, seed, notes)
    return MatrixFeatures.learn(samples, notes)


def reading(features: Preprocessor) -> dict[str, Any]:
    """Return how a file must be read for these features: options of ``prepare.read.read``."""
    if isinstance(features, ImageFeatures):
        return {"size": features.shape[1]}
    if isinstance(features, TableFeatures):
        return {"numbers": features.numbers, "commas": features.commas}
    return {}


def load_features(description: Mapping[str, Any], arrays: Arrays) -> Preprocessor:
    """Return the preprocessor that gave this description and these arrays."""
    kinds: dict[str, Any] = {
        "table": TableFeatures, "matrix": MatrixFeatures, "images": ImageFeatures,
    }  # fmt: skip
    loaded: Preprocessor = kinds[description["kind"]].load(description, arrays)
    return loaded


def _column(frame: Any, name: str) -> Any:
    import pandas as pd

    if name in frame.columns:
        return frame[name]
    return pd.Series(np.full(len(frame), np.nan), index=frame.index)


def _numbers(samples: Samples) -> NDArray[np.float32]:
    try:
        return np.asarray(samples.inputs.to_numpy(np.float32, na_value=np.nan))
    except (TypeError, ValueError):
        raise DataError(f"{samples.name}: the model reads rows of numbers alone") from None
