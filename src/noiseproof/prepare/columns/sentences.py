"""A column of free text as the embeddings of an encoder."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.encoders.choose import reopen
from noiseproof.encoders.encoder import Identity
from noiseproof.encoders.run import embed, need_all
from noiseproof.encoders.texts import Texts
from noiseproof.prepare.columns.words import are_figures, texts_of
from noiseproof.prepare.notes import UNREADABLE, Before, Notes
from noiseproof.progress import SILENT, Progress


@dataclass(frozen=True)
class Sentences:
    """What an encoder makes of the texts of a column; a missing text is all zeros.

    Args:
        name: the column.
        encoder: which encoder.
        missing: the share of texts that were missing.
        figures: the share of them that were dates or numbers alone.
        rows: how many there were.
    """

    name: str
    encoder: Identity
    missing: float = 0.0
    figures: float = 0.0
    rows: int = 0

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        return [f"{self.name}: embedding {i}" for i in range(self.encoder.width)]

    @property
    def indicators(self) -> list[bool]:
        """Which of its features are 0 or 1: none."""
        return [False] * self.encoder.width

    def matrix(self, column: Any, notes: Notes, progress: Progress = SILENT) -> NDArray[np.float32]:
        """Return the embeddings of a column, (N, d)."""
        texts = texts_of(column)
        empty = np.array([not text.strip() for text in texts], np.bool_)
        out = np.zeros((len(texts), self.encoder.width), np.float32)
        filled = [text for text, is_empty in zip(texts, empty, strict=True) if not is_empty]
        if filled:
            found = embed(reopen(self.encoder), Texts(filled), progress)
            need_all(found.problems, f"encoder {self.encoder.name}: column {self.name!r}, text")
            out[~empty] = found.values
        missing = int(column.isna().sum())
        strange = int(are_figures(texts).sum()) if self.figures <= UNREADABLE else 0
        notes.tally(
            self.name, Before(self.rows, self.missing, self.figures, tolerated=0.5),
            rows=len(texts), missing=missing, unread=strange,
            problem="are dates or numbers, and were texts at the fit",
        )  # fmt: skip
        return out

    def describe(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {"kind": "sentences", **asdict(self)}
