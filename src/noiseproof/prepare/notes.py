"""What there is to say about how rows were read: notes, and warnings that nobody may miss."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

#: A column of which a larger share cannot be read would not have been taken for what it is.
UNREADABLE = 0.05
#: What has no more than this chance in rows like those of the fit is a sign that a column changed.
CHANCE = 0.01
#: More new values than this make what is true of them no surer.
MANY = 100_000
#: With fewer values than this in a column of a matrix, distant ones are no such sign.
ENOUGH = 10
#: By Hoeffding's inequality, exp(-LIMIT) is one in a hundred.
LIMIT = 4.6
#: So many of the values that could not be read are shown.
EXAMPLES = 3


@dataclass(frozen=True)
class Before:
    """How the values of a column were read at the fit.

    Args:
        rows: how many values there were.
        missing: the share of them that was missing.
        unread: the share of the others that could not be read.
        tolerated: the share of the others that may be unreadable without a warning.
        whole: whether all were whole numbers.
    """

    rows: int = 0
    missing: float = 0.0
    unread: float = 0.0
    tolerated: float = UNREADABLE
    whole: bool = False

    @property
    def present(self) -> float:
        """How many values were not missing."""
        return self.rows * (1 - self.missing)


@dataclass
class Tally:
    """How the values of a column were read, summed over blocks of rows.

    Args:
        before: how they were at the fit.
        problem: what is wrong with those that could not be read, such as "not a number".
        rows: how many values there were.
        missing: how many of them were empty.
        unread: how many could not be read.
        familiar: how many of these are of a kind that the fit had among its missing values.
        examples: some that could not be.
        far: how many lie far out of the range of the fit.
        outliers: some of these.
        parts: how many are not whole where they were.
        fractions: some of these.
    """

    before: Before
    problem: str = ""
    rows: int = 0
    missing: int = 0
    unread: int = 0
    familiar: int = 0
    examples: dict[str, None] = field(default_factory=dict)
    far: int = 0
    outliers: dict[str, None] = field(default_factory=dict)
    parts: int = 0
    fractions: dict[str, None] = field(default_factory=dict)

    @property
    def present(self) -> int:
        """How many values are not missing."""
        return self.rows - self.missing

    @property
    def gone(self) -> int:
        """How many are missing, as the fit counted."""
        return self.missing + self.familiar

    @property
    def empty(self) -> bool:
        """Whether there is no value at all."""
        return 0 < self.rows == self.missing and self._are_fewer

    @property
    def emptied(self) -> bool:
        """Whether most of the values that there should be are missing."""
        often = self.before.missing
        return not self.empty and self.gone > (1 + often) / 2 * self.rows and self._are_fewer

    @property
    def _are_fewer(self) -> bool:
        before = self.before
        return not before.missing or are_more(
            self.gone, self.rows, before.missing * before.rows, before.rows
        )

    @property
    def unreadable(self) -> bool:
        """Whether too many values could not be read."""
        before, strange = self.before, self.unread - self.familiar
        if strange <= before.tolerated * self.present:
            return False
        return not before.unread or are_more(
            strange, self.present, before.unread * before.present, before.present
        )

    @property
    def elsewhere(self) -> bool:
        """Whether too many values lie far out of the range of the fit, as in another unit."""
        return not self.unreadable and self._are_new(self.far)

    @property
    def broken(self) -> bool:
        """Whether too many values of a column of whole numbers are fractions, as 1.124 for 1124."""
        return not self.unreadable and self.before.whole and self._are_new(self.parts)

    def _are_new(self, strange: int) -> bool:
        """Return whether there are too many values of which the fit had none, by chance or not."""
        too_many = strange > UNREADABLE * self.present
        return too_many and are_more(strange, self.present, 0, self.before.present)


def are_more(some: int, among: int, before: float, out_of: float) -> bool:
    """Return whether there are more of some kind among new values than chance would give.

    If the values of the fit and the new ones were drawn from one urn, so many would fall among the
    new ones once in a hundred times at most: Fisher's exact test.

    Args:
        some: how many of the new values are of the kind.
        among: how many new values there are.
        before: how many were of the kind at the fit.
        out_of: of how many.

    >>> are_more(1, 1, 0, 1000), are_more(1, 1, 20, 1000), are_more(13, 13, 0, 13)
    (True, False, True)
    """
    from scipy.stats import hypergeom

    if among > MANY:  # versions of scipy before 1.15 add up a term for each
        some, among = some * MANY // among, MANY
    known, total = round(before), round(out_of)
    return bool(hypergeom.sf(some - 1, total + among, known + some, among) <= CHANCE)


@dataclass
class Gaps:
    """How many values the columns of a matrix have, summed over blocks of rows.

    Args:
        often: (d,) the share of each column that was missing at the fit.
        missing: (d,) how many values were missing.
        far: (d,) how many lie far out of the range of the fit.
        rows: of how many.
    """

    often: NDArray[np.float32]
    missing: NDArray[np.int64]
    far: NDArray[np.int64]
    rows: int

    @property
    def empty(self) -> list[str]:
        """The columns without any value, where that is not what chance would give."""
        unlikely = self.often**self.rows < 0.01
        return [f"column {i}" for i in np.flatnonzero((self.missing == self.rows) & unlikely)]

    @property
    def emptied(self) -> list[str]:
        """The columns of which most values are missing that there should be, and not by chance."""
        gone = self.missing / max(self.rows, 1) - self.often
        limit = LIMIT + np.log(len(gone))  # one of so many columns may look unlikely
        lost = (2 * self.rows * gone**2 > limit) & (gone > (1 - self.often) / 2)
        return [f"column {i}" for i in np.flatnonzero(lost & (self.missing < self.rows))]

    @property
    def elsewhere(self) -> list[str]:
        """The columns of which most values are far out: a few may be, of the many columns."""
        most = (self.far >= ENOUGH) & (self.far > (self.rows - self.missing) / 2)
        return [f"column {i}" for i in np.flatnonzero(most)]


@dataclass
class Notes:
    """Lines about what was done to the columns, alike ones gathered into one.

    It may hear of the same file in many blocks, and then says what it would say of the whole.
    """

    reasons: dict[str, dict[str, None]] = field(default_factory=dict)
    urgent: set[str] = field(default_factory=set)
    columns: dict[str, Tally] = field(default_factory=dict)
    gaps: int = 0
    matrix: Gaps | None = None

    def add(self, reason: str, item: str, warn: bool = False) -> None:
        """Note that something was treated so for this ``reason``."""
        self.reasons.setdefault(reason, {})[item] = None
        if warn:
            self.urgent.add(reason)

    def tally(
        self,
        column: str,
        before: Before,
        *,
        rows: int,
        missing: int,
        unread: int = 0,
        familiar: int = 0,
        problem: str = "",
        examples: Iterable[str] = (),
        far: int = 0,
        outliers: Iterable[str] = (),
        parts: int = 0,
        fractions: Iterable[str] = (),
    ) -> None:
        """Count how the values of a column were read; the arguments are those of a Tally."""
        found = self.columns.setdefault(column, Tally(before))
        found.rows += rows
        found.missing += missing
        found.unread += unread
        found.familiar += familiar
        found.problem = problem or found.problem
        found.far += far
        found.parts += parts
        shown = (found.examples, examples), (found.outliers, outliers), (found.fractions, fractions)
        for kept, more in shown:
            for example in more:
                if len(kept) <= EXAMPLES:
                    kept[example] = None

    def count(self, gaps: Gaps) -> None:
        """Count the gaps in a block of a matrix."""
        self.gaps += int(gaps.missing.sum())
        before = self.matrix
        if before is not None:
            gaps = Gaps(
                gaps.often, before.missing + gaps.missing, before.far + gaps.far,
                before.rows + gaps.rows,
            )  # fmt: skip
        self.matrix = gaps

    @property
    def empty(self) -> list[str]:
        """The columns that are empty, and were not at the fit."""
        found = [name for name, found in self.columns.items() if found.empty]
        return found + (self.matrix.empty if self.matrix is not None else [])

    @property
    def lines(self) -> list[str]:
        """Everything there is to say, warnings included, a line for each reason."""
        gathered = [f"{reason}: {shortlist(items)}" for reason, items in self.reasons.items()]
        if self.empty:
            gathered.append(_empty(self.empty))
        gathered += self._emptied
        if self.gaps:
            gathered.append(f"missing values, taken as the column's mean: {self.gaps}")
        gathered += [_unread(name, found) for name, found in self.columns.items() if found.unread]
        return gathered + self._elsewhere

    @property
    def warnings(self) -> list[str]:
        """The lines that make predictions doubtful: columns that have changed since the fit."""
        gathered = [
            f"{reason}: {shortlist(items)}"
            for reason, items in self.reasons.items()
            if reason in self.urgent
        ]
        unread = [_unread(name, found) for name, found in self.columns.items() if found.unreadable]
        empty = [_empty(self.empty)] if self.empty else []
        return gathered + empty + self._emptied + unread + self._elsewhere

    @property
    def _emptied(self) -> list[str]:
        columns = self.matrix.emptied if self.matrix is not None else []
        told = "columns of which most values are missing, at the fit they were not: "
        return ([f"{told}{shortlist(columns)}"] if columns else []) + [
            f"{name}: {found.gone:,} of {found.rows:,} values are missing, at the fit "
            f"{found.before.missing:.0%} were"
            for name, found in self.columns.items()
            if found.emptied
        ]

    @property
    def _elsewhere(self) -> list[str]:
        columns = self.matrix.elsewhere if self.matrix is not None else []
        told = f"columns far out of the range of the fit: {shortlist(columns)}; another unit?"
        far = [_far(name, found) for name, found in self.columns.items() if found.elsewhere]
        broken = [_broken(name, found) for name, found in self.columns.items() if found.broken]
        return ([told] if columns else []) + far + broken


def _empty(names: list[str]) -> str:
    return f"columns that were filled at the fit are empty: {shortlist(names)}"


def _unread(name: str, found: Tally) -> str:
    listed = f" ({_shown(found.examples)})" if found.examples else ""
    return f"{name}: {found.unread:,} of {found.rows:,} values {found.problem}{listed}"


def _far(name: str, found: Tally) -> str:
    return (
        f"{name}: {found.far:,} of {found.rows:,} values are far out of the range of the fit "
        f"({_shown(found.outliers)}); another unit?"
    )


def _broken(name: str, found: Tally) -> str:
    return (
        f"{name}: {found.parts:,} of {found.rows:,} values are fractions, but at the fit all were "
        f"whole numbers ({_shown(found.fractions)}); another unit, or points between thousands?"
    )


def _shown(examples: Iterable[str]) -> str:
    shown = [text if len(text) <= 40 else f"{text[:39]}…" for text in examples]
    return ", ".join(shown[:EXAMPLES]) + (", ..." if len(shown) > EXAMPLES else "")


def shortlist(values: Iterable[object], most: int = 4) -> str:
    """List the first of some values, and count the rest.

    >>> shortlist(range(6))
    '0, 1, 2, 3 and 2 more'
    """
    names = [str(value) for value in values]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
