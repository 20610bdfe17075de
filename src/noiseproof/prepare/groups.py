"""Rows that belong together, such as the photos of one patient: they are held out together."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.errors import DataError, ShapeError, did_you_mean
from noiseproof.losses.arrays import dense
from noiseproof.prepare.classes import Codes
from noiseproof.prepare.columns.dates import in_numbers
from noiseproof.prepare.columns.values import TRUTH, as_text, with_gaps
from noiseproof.prepare.notes import shortlist
from noiseproof.progress import counted
from noiseproof.tables.frames import as_column

if TYPE_CHECKING:
    from noiseproof.prepare.samples import Samples


#: Longer numbers are compared as they are written: decimals would round them.
EXACT = 28
#: A day, or a time with its zone or without one. Only UTC says by its name how late it is there.
TIME = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<clock>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,](?P<part>[0-9]{1,12}))?)?)"
    r"\s?(?:(?P<utc>Z|UTC|GMT)?(?P<offset>(?<!Z)[+-][0-9]{2}(?::?[0-9]{2})?)?))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each row.

    Args:
        name: the column that holds them; empty for an array.
        codes: (N,) which of the texts names the group of a row; -1 for a row of none.
        texts: the names of the groups.
    """

    name: str
    codes: Codes
    texts: tuple[str, ...]

    @classmethod
    def of(cls, column: Any, name: str = "") -> "Groups":
        """Return the groups in a column; a row with an empty field, or NA, is in none.

        A number is one group however it is written: whether a file has 7, 007 or 7.0 may depend on
        its other rows, and on the program that wrote it. So is a time, in whatever zone.

        >>> import pandas as pd
        >>> Groups.of(pd.Series(["ann", None, "bob", "ann", " "])).numbers.tolist()
        [0, 2, 1, 0, 3]
        >>> Groups.of(pd.Series(["7", "007", 7.0, "7a"])).texts
        ('7', '7a')
        >>> Groups.of(pd.Series(["2020-01-31T01:30+02:00", "2020-01-30 23:30:00Z"])).texts
        ('2020-01-30 23:30:00+00:00',)
        """
        codes, texts = as_text(with_gaps(column))
        place = {text: at for at, text in enumerate(dict.fromkeys(map(_one_name, texts)))}
        codes = np.array([place[_one_name(text)] for text in texts] + [-1], dtype=np.int64)[codes]
        return cls(name, codes, tuple(place))

    @classmethod
    def of_array(cls, values: Any, rows: int) -> "Groups":
        """Return the groups in an array, a Series or a list of ``rows`` values."""
        import pandas as pd

        if hasattr(values, "columns"):
            raise DataError("groups: expected one for each row, got a table; give its column")
        try:
            values = dense("group", as_column(values))
        except ShapeError as error:
            raise DataError(f"groups: {error}") from None
        several = isinstance(values, np.ndarray) and values.ndim != 1  # equal rows are one group
        if isinstance(values, Tensor) or several or isinstance(values, np.ma.MaskedArray):
            values = values.tolist()
        unordered = isinstance(values, Mapping | Set)
        if unordered or not isinstance(values, Iterable):
            raise DataError(f"groups: expected one for each row, got a {type(values).__name__}")
        column = pd.Series(list(values), dtype=object)
        if len(column) != rows:
            raise DataError(f"groups: {len(column):,} for {counted(rows, 'row')}")
        return cls.of(column)

    @property
    def numbers(self) -> Codes:
        """(N,) a number for each row, equal for rows of one group; rows of none have their own."""
        alone = np.arange(len(self.codes)) + len(self.texts)
        return np.unique(np.where(self.codes < 0, alone, self.codes), return_inverse=True)[1]

    def take(self, rows: Codes) -> "Groups":
        """Return the groups of some of the rows."""
        return replace(self, codes=self.codes[rows])

    def known_to(self, others: "Groups") -> NDArray[np.bool_]:
        """Return (N,) whether the group of a row also occurs among other rows."""
        present = {others.texts[at] for at in np.unique(others.codes[others.codes >= 0])}
        known = np.array([text in present for text in self.texts] + [False])
        return np.asarray(known[self.codes])

    def about(
        self, codes: Codes, classes: Sequence[str], where: str
    ) -> tuple[str, tuple[str, ...]]:
        """Return a note on the groups, and the doubts that they raise.

        Args:
            codes: (N,) the class of each row.
            classes: the names of the classes.
            where: what to call the rows in an error.
        """
        numbers = self.numbers
        count, name = int(numbers.max()) + 1, self.name or "group"
        where = f"{where}, column {self.name!r}" if self.name else f"{where}, groups"
        if count == 1:
            raise DataError(f"{where}: all rows are of one group, so none can be held out")
        pairs = np.unique(np.stack([codes, numbers]), axis=1)
        alone = np.flatnonzero(np.bincount(pairs[0], minlength=len(classes)) == 1)
        if len(alone) == len(classes):
            raise DataError(
                f"{where}: each class is in one group only, so none can be learnt while its group "
                "is held out"
            )
        doubts: tuple[str, ...] = ()
        if len(alone):
            doubts = (
                "classes in one group only, so no model knows them while it is held out: "
                + shortlist([classes[at] for at in alone.tolist()]),
            )
        note = f"rows of the same {name} are held out together: {count:,} groups"
        if count == len(numbers):
            note = f"every row has a {name} of its own: none are held out together"
        return note, doubts


def _one_name(text: str) -> str:
    """Return the name of a group, numbers, times and true always written the same way."""
    if time := TIME.fullmatch(in_numbers(text)):
        return _one_time(time) or text
    if text.lower() in TRUTH:
        return text.lower()
    plain = re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,2})?", text)
    if plain is None or len(text) > EXACT:
        return text
    number = Decimal(text)
    return str(int(number)) if number == int(number) else str(number.normalize())


def _one_time(written: re.Match[str]) -> str:
    """Return a day as it is, a time at midnight as a day, and one with a zone as that of UTC.

    Parts of a second stay digits: datetime would drop those of pandas' nanoseconds.
    """
    day, clock, part, utc, offset = written.groups()
    part = (part or "").rstrip("0")
    part = f".{part}" if part else ""
    try:
        time = datetime.fromisoformat(f"{day} {(clock or '00:00')[:8]}{offset or ''}")
        if not (utc or offset):
            return f"{time}{part}".removesuffix(" 00:00:00")
        time = time.astimezone(UTC) if offset else time
        return f"{time.replace(tzinfo=None)}{part}+00:00"
    except (ValueError, OverflowError):  # no such day, or none in UTC
        return ""


def grouped(samples: "Samples", group: Any, table: "Samples | None" = None) -> "Samples":
    """Return samples with their groups, and without the column that holds them.

    Args:
        samples: the rows.
        group: the name of a column, or (N,) a group for each row; None for no groups.
        table: the rows as a table, where the samples are embeddings of it.
    """
    if group is None:
        return samples
    if not isinstance(group, str):
        if samples.unread:  # the rows after it would have other numbers
            raise DataError(f"{samples.unread[0]}: with groups, every picture has to be readable")
        return replace(samples, groups=Groups.of_array(group, len(samples)))
    source = samples if table is None else table
    if source.kind != "table":
        raise DataError(f"{samples.name}: --group names a column, and these rows have none")
    frame = source.inputs
    if group not in frame.columns:
        raise DataError(f"{source.name}: no column {group!r}{did_you_mean(group, frame.columns)}")
    found = Groups.of(frame[group], group)
    if samples.kind != "table":
        return replace(samples, groups=found)
    inputs = samples.inputs.drop(columns=group)
    if inputs.shape[1] == 0:
        raise DataError(f"{samples.name}: no column beside {group!r} to learn from")
    return replace(samples, inputs=inputs, groups=found)
