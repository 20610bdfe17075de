"""Which cell runs when: the one loop behind every engine.

An engine brings a crew: some slots to work, how to start a cell in one of them, and what is heard
from there. Everything else is here: the order, waiting for other processes, trying again what died,
telling the user.
"""

import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from noiseproof.bench.cell import Cell
from noiseproof.bench.words import count, duration, result
from noiseproof.progress import Progress
from noiseproof.results import Record

#: How often a cell is tried again whose process died.
RETRIES = 2
#: Seconds between two looks at a cell that another process is at work on.
PATIENCE = 0.5


class News(NamedTuple):
    """How many epochs of a cell are done, and the test accuracy after them."""

    epochs: int
    accuracy: float | None


class Result(NamedTuple):
    """The record of the cell, and whether it was trained now."""

    record: Record
    ran: bool


class Busy(NamedTuple):
    """Another process is at work on the cell."""


class Mistake(NamedTuple):
    """An error for the user to mend, such as a full disk: no further cell would fare better."""

    error: Exception


class Broken(NamedTuple):
    """An error of this cell alone."""

    reason: str


class Died(NamedTuple):
    """What was at work on the cell is gone: ``what`` happened, and ``how``."""

    what: str
    how: str


Message = News | Result | Busy | Mistake | Broken | Died


class Crew(Protocol):
    """Slots to work, numbered from 0, each for one cell at a time."""

    @property
    def slots(self) -> int:
        """How many cells can be at work at once."""

    def start(self, slot: int, cell: Cell) -> Message | None:
        """Start a cell in a free slot; return None, or why it was not started."""

    def listen(self, seconds: float) -> Iterable[tuple[int, Message]]:
        """Wait at most ``seconds`` for news; return each message with the slot it came from.

        Any message but :class:`News` means that the slot is free again.
        """


@dataclass
class Tally:
    """What an engine did.

    Args:
        records: of the cells, by key; a run that failed by its own numbers has one too.
        ran: how many of them were trained now, rather than found.
        lost: the cells without a record, each with the reason.
    """

    records: dict[str, Record] = field(default_factory=dict)
    ran: int = 0
    lost: dict[Cell, str] = field(default_factory=dict)


def schedule(cells: Collection[Cell], crew: Crew, progress: Progress) -> Tally:
    """Run all cells, in order except where another process is at work on one, or one dies.

    Raises:
        Exception: the error of a :class:`Mistake`; the records until then are kept.
    """
    return _Schedule(cells, crew, progress).finish()


class _Schedule:
    """The cells that are left, and those at work."""

    def __init__(self, cells: Collection[Cell], crew: Crew, progress: Progress) -> None:
        self.fresh, self.total = iter(cells), len(cells)
        self.again, self.elsewhere = deque[Cell](), deque[Cell]()
        self.crew, self.progress = crew, progress
        self.at_work: dict[int, Cell] = {}
        self.deaths: Counter[Cell] = Counter()
        self.tally = Tally()
        self.started = time.monotonic()

    def finish(self) -> Tally:
        """Run all cells."""
        at_once = f", {self.crew.slots} at once" if self.crew.slots > 1 else ""
        self.progress.say(f"{count(self.total, 'cell')} to run{at_once}")
        while self._assign():
            if not self.at_work:
                time.sleep(PATIENCE)  # other processes are at work on all that is left
                continue
            for slot, message in self.crew.listen(PATIENCE):
                self._hear(slot, self.at_work[slot], message)
        return self.tally

    def _assign(self) -> bool:
        """Fill the free slots; return whether there is anything to wait for."""
        for slot in range(self.crew.slots):
            if slot not in self.at_work:
                self._fill(slot)
        return bool(self.at_work or self.again or self.elsewhere)

    def _fill(self, slot: int) -> None:
        for cell in self._candidates():
            answer = self.crew.start(slot, cell)
            if answer is None:
                self.at_work[slot] = cell
                return
            self._hear(slot, cell, answer)

    def _candidates(self) -> Iterator[Cell]:
        while (cell := next(self.fresh, None)) is not None:  # `yield from` would end it
            yield cell
        for cells in (self.again, self.elsewhere):
            for _ in range(len(cells)):
                yield cells.popleft()

    def _hear(self, slot: int, cell: Cell, message: Message) -> None:
        match message:
            case News(epochs, accuracy):
                share = "" if accuracy is None else f", test {accuracy:.2%}"
                self._update(f"{cell}, epoch {epochs}/{cell.recipe.epochs}{share}")
                return
            case Mistake(error):
                raise error
            case Busy():
                self.elsewhere.append(cell)
            case Broken(reason):
                self._lose(cell, reason)
            case Died(what, how):
                self._bury(cell, what, how)
            case Result(record, ran):
                self.tally.records[cell.key] = record
                self.tally.ran += ran
                self._tell(cell, record)
        self.at_work.pop(slot, None)

    def _bury(self, cell: Cell, what: str, how: str) -> None:
        self.deaths[cell] += 1
        if self.deaths[cell] > RETRIES:
            self._lose(cell, f"{what} {self.deaths[cell]} times ({how})")
        else:
            self.again.append(cell)
            self.progress.say(f"{cell}: {what} ({how}), to be tried again")

    def _lose(self, cell: Cell, reason: str) -> None:
        self.tally.lost[cell] = reason
        self.progress.say(f"{cell}: {reason}")

    def _tell(self, cell: Cell, record: Record) -> None:
        done = len(self.tally.records)
        left = (time.monotonic() - self.started) / done * (self.total - done)
        self.progress.say(f"{done}/{self.total} {cell}: {result(record)}, {duration(left)} left")
        self._update()

    def _update(self, note: str = "") -> None:
        self.progress.update(len(self.tally.records), self.total, note)
