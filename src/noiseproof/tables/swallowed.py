"""Rows of a text table that a stray quote has made part of one field."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from noiseproof.extras import need
from noiseproof.tables.gaps import NO_VALUE
from noiseproof.tables.labels import MARK

if TYPE_CHECKING:
    import pandas as pd


class LikeRows:
    """What the rows of a table look like: the columns of numbers, and of values that repeat.

    Args:
        frame: some of the rows.
        columns: the names of all columns.
        row_names: whether rows begin with a name that has no column.
        marked: the columns whose texts stand behind a mark.
    """

    def __init__(
        self,
        frame: "pd.DataFrame",
        columns: Sequence[str],
        row_names: bool,
        marked: Collection[str | None],
    ) -> None:
        need("fit", "pandas")
        from pandas.api.types import is_numeric_dtype

        self.width = len(columns) + row_names
        self.known: dict[int, set[str] | None] = {}
        for at, name in enumerate(columns, start=int(row_names)):
            if name not in frame:
                continue
            if is_numeric_dtype(frame[name]):
                self.known[at] = None
                continue
            values = frame[name].dropna().astype(str)
            values = values.str.removeprefix(MARK) if name in marked else values
            if values.nunique() <= len(values) / 2:
                self.known[at] = set(values)

    def are_in(self, row: list[str], separator: str) -> bool:
        """Return whether a field of a row is made of the rest of one row, rows, and a beginning."""
        return any(
            "\n" in field and self._are_in(re.split("\r?\n", field), at, separator)
            for at, field in enumerate(row)
        )

    def _are_in(self, lines: list[str], at: int, separator: str) -> bool:
        pieces = [line.split(separator) for line in lines]
        lengths = [self.width - at, *[self.width] * (len(pieces) - 2), at + 1]
        if [len(piece) for piece in pieces] != lengths:
            return False
        starts = [at, *[0] * (len(pieces) - 1)]
        found = [
            (place, value)
            for start, piece in zip(starts, pieces, strict=True)
            for place, value in enumerate(piece, start)
            if place != at and place in self.known
        ]
        told = sum(bool(value.strip()) for _, value in found)
        # "No, it did not", 3,14: one such value may be in a line of a text by chance.
        in_text = re.compile(rf"{separator}\s|\d{separator}\d")
        by_chance = told == 1 and any(map(in_text.search, lines))
        is_told = told > 0 and not by_chance
        return is_told and all(self._fits(place, value) for place, value in found)

    def _fits(self, place: int, value: str) -> bool:
        known = self.known[place]
        if known is not None:
            return value in known
        try:
            float(value)
        except ValueError:
            return value.strip() in NO_VALUE
        return True
