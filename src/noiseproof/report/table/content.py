"""The content of a table, in any format. All accuracies are in per cent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from noiseproof.errors import ShapeError
from noiseproof.paper import PaperNumber

#: As in the paper, so many of each column are bold.
BEST = 3


@dataclass(frozen=True)
class Entry:
    """One cell: what our runs gave, and what the paper has.

    Args:
        mean: over the seeds that are done; None where none is.
        std: over the same; None for one seed.
        count: how many seeds are done.
        planned: how many there are to be.
        failed: how many failed.
        paper: the paper's number, where it has one.

    >>> Entry(96.304, 0.21, count=3, planned=3, paper=PaperNumber(96.59, 0.12, True)).gap
    '-0.29'
    """

    mean: float | None = None
    std: float | None = None
    count: int = 0
    planned: int = 1
    failed: int = 0
    paper: PaperNumber | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.mean is None or self.paper is None:
            return None
        return self.mean - self.paper.mean

    @property
    def gap(self) -> str:
        """The difference of the two numbers as they are printed, with its sign; may be empty."""
        if self.mean is None or self.paper is None:
            return ""
        return f"{round(self.mean, 2) - round(self.paper.mean, 2):+.2f}".replace("-0.00", "+0.00")

    @property
    def state(self) -> str:
        """``"done"``, ``"partial"``, ``"failed"`` or ``"missing"``."""
        if self.mean is None:
            return "failed" if self.failed else "missing"
        return "done" if self.count >= self.planned else "partial"

    @property
    def remark(self) -> str:
        """What a reader must know about the mean besides its deviation; usually empty."""
        if self.mean is None:
            return ""
        seeds = [f"{self.count}"] if 1 < self.count < self.planned else []
        return ", ".join(seeds + ([f"{self.failed} failed"] if self.failed else []))


@dataclass(frozen=True)
class Row:
    """A method.

    Args:
        name: as the paper has it, or the user.
        loss: the expression that was minimised.
        entries: one per column.
    """

    name: str
    loss: str
    entries: tuple[Entry, ...]

    @property
    def has_paper(self) -> bool:
        """Whether the paper has a number in this row."""
        return any(entry.paper for entry in self.entries)


@dataclass(frozen=True)
class Table:
    """A table of accuracies.

    Args:
        title: what it is about.
        columns: the noises.
        rows: the methods.
        notes: lines of the caption that say how the numbers were made.
        about: names and values that the long formats repeat for each cell.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.entries) != len(self.columns):
                raise ShapeError(
                    f"row {row.name}: {len(row.entries)} cells, {len(self.columns)} columns"
                )

    @property
    def has_paper(self) -> bool:
        """Whether any cell has a number of the paper's."""
        return any(row.has_paper for row in self.rows)

    def is_bold(self, row: Row, column: int) -> bool:
        """Return whether a cell is one of the three best of its column, as printed.

        All that tie with the third are. Where a column has no more than three numbers, none is:
        it would say nothing.
        """
        means = [m for r in self.rows if (m := r.entries[column].mean) is not None]
        mean = row.entries[column].mean
        if mean is None or len(means) <= BEST:
            return False
        return sum(round(other, 2) > round(mean, 2) for other in means) < BEST

    @property
    def caption(self) -> tuple[str, ...]:
        """What a reader must know about the numbers, one or two sentences per line."""
        return (self._what(), *self._whose(), *self._how_many(), *self.notes)

    def _entries(self) -> list[Entry]:
        return [entry for row in self.rows for entry in row.entries]

    def _what(self) -> str:
        seeds = max((entry.planned for entry in self._entries()), default=1)
        over = f"mean ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
        if seeds > 1 and any(entry.count == 1 for entry in self._entries()):
            over += ", without a deviation where one seed is done"
        columns = range(len(self.columns))
        is_any_bold = any(self.is_bold(row, column) for row in self.rows for column in columns)
        bold = " The best three of a column are bold." if is_any_bold else ""
        return f"Test accuracy (%) after the last epoch, {over}.{bold}"

    def _whose(self) -> tuple[str, ...]:
        if not self.has_paper:
            return ()
        return ("Below each row: the paper's number, and ours minus the paper's in brackets.",)

    def _how_many(self) -> tuple[str, ...]:
        entries = self._entries()
        states = [entry.state for entry in entries]
        words = {
            "missing": "missing (left blank)",
            "failed": "failed",
            "partial": "with fewer seeds than planned",
        }
        said = [f"{states.count(state)} {words[state]}" for state in words if state in states]
        if not said:
            return ()
        marks = " [n] marks a mean over n seeds." if any(e.remark for e in entries) else ""
        return (f"Of {len(entries)} cells: {', '.join(said)}.{marks}",)
