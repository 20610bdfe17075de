"""What a column of a table becomes: numbers, one column for each category, parts of a date."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noiseproof.prepare.columns.amounts import NUMBERS, SPANS, Amounts
from noiseproof.prepare.columns.dates import as_days, is_impossible
from noiseproof.prepare.columns.measures import measured, squashed, squashing
from noiseproof.prepare.columns.values import as_numbers, as_text, is_gap
from noiseproof.prepare.forms import LARGEST
from noiseproof.prepare.notes import UNREADABLE, Before, Notes

#: Days by which dates move on without being far out.
DECADE = 3653
#: With fewer numbers than this, that there are two alone says nothing.
ENOUGH = 10
#: Rounding in a mean of numbers of 0 and 1, as a part of it.
TINY = 1e-9

Block = NDArray[np.float32]


@dataclass(frozen=True)
class Number:
    """A column of numbers or booleans: centred and scaled, gaps filled and marked.

    Args:
        name: the column.
        median: what a missing value becomes.
        mean: what is subtracted.
        std: what is divided by.
        spread: where not 0, x is first replaced by asinh((x - median) / spread), for columns with
            a few huge values.
        missing: the share of values that were missing; where not 0, a second feature marks them.
        infinite: the share of values that were infinite, which count as missing.
        truth: the share of values that were true or false.
        unit: the sign that every number has beside it, such as € or %; a form such as h:mm for
            times and spans, which are in seconds; empty for plain numbers.
        mark: the decimal mark of such numbers.
        thousands: whether numbers without a unit have marks between thousands.
        low: numbers below it are far out of the range of the fit.
        high: numbers above it are.
        whole: whether all were whole numbers.
        words: what stood where there was no number, such as "not done"; they count as missing, and
            each has a feature of its own.
        rows: how many values there were.
        unread: the share of them that could not be read; they count as missing, too.
    """

    kind: ClassVar[str] = "number"
    name: str
    median: float
    mean: float
    std: float
    spread: float = 0.0
    missing: float = 0.0
    infinite: float = 0.0
    truth: float = 0.0
    unit: str = ""
    mark: str = "."
    thousands: bool = False
    low: float = -LARGEST
    high: float = LARGEST
    whole: bool = False
    words: tuple[str, ...] = ()
    rows: int = 0
    unread: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if self.mark not in NUMBERS:
            raise ValueError(f"mark: expected one of {' '.join(NUMBERS)}, got {self.mark!r}")

    @classmethod
    def learn(
        cls,
        name: str,
        values: NDArray[np.float64],
        truth: float = 0.0,
        written: Amounts | None = None,
        words: tuple[str, ...] = (),
        unread: float = 0.0,
    ) -> "Number":
        """Measure a column that has at least two different values."""
        present = values[np.isfinite(values)]
        median, spread = squashing(present)
        missing = (len(values) - len(present)) / len(values)
        infinite = float(np.isinf(values).mean())
        mean, std, low, high = measured(present, median, spread)
        unit, mark = written or ("", ".")
        thousands = written is not None and not unit
        if len(present) >= ENOUGH and len(np.unique(present)) == 2:  # codes, such as 1 and 2
            ends = np.array([present.min(), present.max()])
            stored = ends.astype(np.float32)  # in which 0.2 is a little more
            low, high = float(min(ends[0], stored[0])), float(max(ends[1], stored[1]))
        whole = bool((present == np.floor(present)).all())
        return cls(
            name, median, mean, std, spread, missing, infinite, truth, unit, mark, thousands, low,
            high, whole, words, len(values), unread,
        )  # fmt: skip

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        missing = [f"{self.name} missing"] if self.missing else []
        return [self.name, *missing, *_named(self.name, self.words)]

    @property
    def indicators(self) -> list[bool]:
        """Which of its features are 0 or 1."""
        return [False] + [True] * (len(self.features) - 1)

    @property
    def written(self) -> Amounts | None:
        """How the numbers are written; None for plain ones."""
        return Amounts(self.unit, self.mark) if self.unit or self.thousands else None

    @property
    def _what(self) -> str:
        """What the values are, in words."""
        if self.unit in SPANS:
            return f"times or spans like {self.unit}"
        return f"numbers like 1234{self.mark}5 {self.unit}".strip() if self.written else "numbers"

    @property
    def _two_valued(self) -> bool:
        """Whether all values were 0 or 1: then, and only then, are their squares as large."""
        if self.spread or not 0 < self.mean < 1 or self.std > 1:
            return False
        return abs(self.std**2 + self.mean**2 - self.mean) < TINY * self.mean

    def read(self, column: Any) -> NDArray[np.float64]:
        """Return a column as numbers, NaN for what cannot be read as those of the fit were."""
        if self.written is not None:
            return self.written.read(column)
        # Where there were numbers alone, and not of 0 and 1, true and false are a change.
        return as_numbers(column, truth=self.truth > 0 or self._two_valued)

    def fill(self, column: Any, out: Block, notes: Notes) -> None:
        """Write the features of a column into ``out`` (N, width); count what could not be read."""
        values = self.read(column)
        absent, empty = ~np.isfinite(values), is_gap(column, self.words)
        familiar = int(np.isinf(values).sum()) if self.infinite else 0
        values[absent] = self.median
        out[:, 0] = (squashed(values, self.median, self.spread) - self.mean) / self.std
        if self.missing:
            out[:, 1] = absent
        if self.words:
            _mark(column, self.words, out[:, -len(self.words) :])
        unread, far = absent & ~empty, (values < self.low) | (values > self.high)
        far |= self._two_valued & (values != 0) & (values != 1) & ~absent
        parts = (values != np.floor(values)) & ~absent & ~far if self.whole else far & ~far
        gone = self.missing - self.unread
        before = Before(self.rows, gone, self.unread / max(1 - gone, TINY), whole=self.whole)
        notes.tally(
            self.name, before, rows=len(values), missing=int(empty.sum()),
            unread=int(unread.sum()), familiar=familiar, problem=f"cannot be read as {self._what}",
            examples=_first(column, unread), far=int(far.sum()), outliers=_first(column, far),
            fractions=_first(column, parts), parts=int(parts.sum()),
        )  # fmt: skip


@dataclass(frozen=True)
class Category:
    """A column of few different values: a feature for each, 1 where the row has it.

    Args:
        name: the column.
        values: those that have a feature; any other value has none.
        missing: the share of values that were missing.
        known: the share of the others that may be expected among ``values`` in new rows.
        rows: how many values there were.
    """

    kind: ClassVar[str] = "category"
    name: str
    values: tuple[str, ...]
    missing: float = 0.0
    known: float = 1.0
    rows: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        return [*_named(self.name, self.values), f"{self.name} missing"]

    @property
    def indicators(self) -> list[bool]:
        """Which of its features are 0 or 1: all."""
        return [True] * (len(self.values) + 1)

    def fill(self, column: Any, out: Block, notes: Notes) -> None:
        """Write the features of a column into ``out`` (N, width); count what was never seen."""
        at, new = _mark(column, self.values, out)
        missing, rare = int((at == len(self.values)).sum()), 1 - self.known
        tolerated = min(max(UNREADABLE, 2 * rare), 1 - self.known / 2)
        notes.tally(
            self.name, Before(self.rows, self.missing, rare, tolerated), rows=len(at),
            missing=missing, unread=int((at < 0).sum()), problem="were unseen or rare at the fit",
            examples=new,
        )  # fmt: skip


@dataclass(frozen=True)
class Date:
    """A column of dates: how late, and where in the year, the week and the day.

    Args:
        name: the column.
        mean: the mean of the days since 1970.
        std: their standard deviation.
        day_first: whether 3/4/2020 is in April; None where no date was written that way.
        missing: the share of values that were missing.
        median: of the days.
        spread: where not 0, days are first squashed as those of a :class:`Number` are, for
            columns in which 9999-12-31 or 0001-01-01 stands for no date.
        low: days before it are far out of the range of the fit.
        high: days after it are.
        impossible: the share of values that were no days, such as 0000-00-00.
        words: what stood where there was no date, such as "pending"; they count as missing, and
            each has a feature of its own.
        rows: how many values there were.
        unread: the share of them that could not be read, and may be days written otherwise.
    """

    kind: ClassVar[str] = "date"
    CYCLES: ClassVar[dict[str, float]] = {"year": 365.2425, "week": 7.0, "day": 1.0}
    name: str
    mean: float
    std: float
    day_first: bool | None = None
    missing: float = 0.0
    median: float = 0.0
    spread: float = 0.0
    low: float = -LARGEST
    high: float = LARGEST
    impossible: float = 0.0
    words: tuple[str, ...] = ()
    rows: int = 0
    unread: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))

    @classmethod
    def learn(
        cls, name: str, column: Any, day_first: bool | None, words: tuple[str, ...] = ()
    ) -> "Date | None":
        """Measure a column of dates; None where none can be read."""
        days = as_days(column, day_first)
        present = days[np.isfinite(days)]
        if len(present) == 0:
            return None
        median, spread = squashing(present)
        mean, std, low, high = measured(present, median, spread)
        low, high = min(low, present.min() - DECADE), max(high, present.max() + DECADE)
        missing = float(is_gap(column, words).mean())
        impossible = float(is_impossible(column).mean())
        unread = max(1 - len(present) / len(days) - missing - impossible, 0.0)
        return cls(
            name, mean, std, day_first, missing, median, spread, float(low), float(high),
            impossible, words, len(days), unread,
        )  # fmt: skip

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        turns = [f"{self.name} {part} of the {c}" for c in self.CYCLES for part in ("sin", "cos")]
        missing = f"{self.name} missing"
        return [f"{self.name} days", *turns, missing, *_named(self.name, self.words)]

    @property
    def indicators(self) -> list[bool]:
        """Which of its features are 0 or 1: the last ones."""
        marks = 1 + len(self.words)
        return [False] * (len(self.features) - marks) + [True] * marks

    @property
    def written(self) -> str:
        """How dates were written at the fit."""
        orders = {None: "2020-12-31", True: "31/12/2020", False: "12/31/2020"}
        return orders[self.day_first]

    def fill(self, column: Any, out: Block, notes: Notes) -> None:
        """Write the features of a column into ``out`` (N, width); count what could not be read."""
        days = as_days(column, self.day_first)
        absent, empty = ~np.isfinite(days), is_gap(column, self.words)
        days[absent] = self.median if self.spread else self.mean
        out[:, 0] = (squashed(days, self.median, self.spread) - self.mean) / self.std
        for i, period in enumerate(self.CYCLES.values()):
            angle = 2 * np.pi * (days % period) / period
            out[:, 1 + 2 * i], out[:, 2 + 2 * i] = np.sin(angle), np.cos(angle)
        if self.words:
            _mark(column, self.words, out[:, -len(self.words) :])
        out[:, 1 + 2 * len(self.CYCLES)] = absent
        unread, far = absent & ~empty, ~absent & ((days < self.low) | (days > self.high))
        familiar = int(is_impossible(column[unread]).sum()) if self.impossible else 0
        gone = self.missing + self.impossible
        notes.tally(
            self.name, Before(self.rows, gone, self.unread / max(1 - gone, TINY)), rows=len(days),
            missing=int(empty.sum()), familiar=familiar,
            unread=int(unread.sum()), problem=f"are not dates like {self.written}",
            examples=_first(column, unread), far=int(far.sum()), outliers=_first(column, far),
        )  # fmt: skip


def _named(name: str, values: Sequence[str]) -> list[str]:
    return [f"{name} = {value}" for value in values]


def _mark(column: Any, values: Sequence[str], out: Block) -> tuple[NDArray[np.int64], list[str]]:
    """Write a feature for each of some values, and one for missing ones if there is room for it.

    Return which of the values each row has (-1: another; their number: none), and all other values.
    """
    place = {value: i for i, value in enumerate(values)}
    codes, texts = as_text(column)
    at = np.array([place.get(text, -1) for text in texts] + [len(values)])[codes]
    out[:] = 0
    known = (at >= 0) & (at < out.shape[1])
    out[np.flatnonzero(known), at[known]] = 1
    return at, [text for text in texts if text not in place]


Column = Number | Category | Date
KINDS: dict[str, type[Column]] = {c.kind: c for c in (Number, Category, Date)}


def _first(column: Any, where: NDArray[np.bool_]) -> list[str]:
    """Return the first values of a column that could not be read."""
    return [str(value) for value in column[where].iloc[:5]]
