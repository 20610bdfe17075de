"""Rows as a user has them, before anything is done to them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.encoders.encoder import Identity
from noiseproof.prepare.forms import BLOCK
from noiseproof.prepare.groups import Groups
from noiseproof.prepare.notes import Notes


@dataclass(eq=False)
class Samples:
    """Rows as they came.

    Args:
        name: what to call them in messages.
        inputs: a table (DataFrame), a matrix of numbers (N, d), dense or sparse, or uint8 images
            (N, C, H, W).
        labels: (N,) of any type, missing ones among them; None where there are none.
        rows: what to call each row; None means by its number, from 0.
        notes: what there is to say about how they were read.
        commas: the columns of a table whose numbers are written 3,14.
        others: the columns that the file has and that were not read.
        encoder: the encoder whose embeddings the inputs are; None if they are none.
        unread: the pictures that could not be read and are set aside, each with the reason.
        unusable: the names of those among them that can be read, but not encoded.
        doubts: what makes a fit to them doubtful.
        groups: which rows belong together; None where that is not known.
        hashed: what :func:`~noiseproof.prepare.checks.hashes` made of the inputs, once it has.
    """

    name: str
    inputs: Any
    labels: Any = None
    rows: list[str] | None = None
    notes: tuple[str, ...] = ()
    commas: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    encoder: Identity | None = None
    unread: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    groups: Groups | None = None
    hashed: NDArray[np.uint64] | None = field(default=None, init=False, repr=False)

    def __len__(self) -> int:
        return int(self.inputs.shape[0])

    @property
    def kind(self) -> str:
        """``"table"``, ``"matrix"`` or ``"images"``."""
        if hasattr(self.inputs, "columns"):
            return "table"
        return "images" if self.inputs.ndim == 4 else "matrix"

    def note_unread(self, notes: Notes) -> None:
        """Warn of the pictures that were set aside."""
        for name in self.unread:
            notes.add("pictures that cannot be read are set aside", name, warn=True)

    def take(self, keep: NDArray[np.int64]) -> "Samples":
        """Return some of the rows, without their labels."""
        if self.kind == "table":
            inputs = self.inputs.iloc[keep].reset_index(drop=True)
        else:
            inputs = self.inputs[keep]
        names = None if self.rows is None else [self.rows[at] for at in keep]
        groups = None if self.groups is None else self.groups.take(keep)
        return replace(self, inputs=inputs, labels=None, rows=names, groups=groups)

    def blocks(self, rows: int = BLOCK) -> Iterator["Samples"]:
        """Return the rows in blocks, so that what is made of them needs little memory."""
        for start in range(0, len(self), rows):
            part = slice(start, start + rows)
            inputs = self.inputs.iloc[part] if self.kind == "table" else self.inputs[part]
            names = None if self.rows is None else self.rows[part]
            yield replace(self, inputs=inputs, labels=None, rows=names, groups=None)
