"""Which cell runs when: the one loop behind every engine.

An engine brings a crew: some slots to work, how to start a cell in one of them, and what is heard
from there. Everything else is here: the order, waiting for other processes, trying again what died,
telling the user.
"""

import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from noiseproof.bench.cell import Cell
from noiseproof.bench.engines.stack import Work, cells_in
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


class Results(NamedTuple):
    """The records of the cells of a stack, and whether they were trained now."""

    records: tuple[Record, ...]
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


Message = News | Result | Results | Busy | Mistake | Broken | Died


class Crew(Protocol):
    """Slots to work, numbered from 0, each for one cell or one stack at a time."""

    @property
    def slots(self) -> int:
        """How many of them can be at work at once."""

    def start(self, slot: int, cell: Any) -> Message | None:
        """Start one in a free slot; return None, or why it was not started."""

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


def schedule(cells: Collection[Work], crew: Crew, progress: Progress) -> Tally:
    """Run all cells, in order except where another process is at work on one, or one dies.

    Args:
        cells: or stacks of them; the length is that of cells.
        crew: who does the work.
        progress: who is told of it.

    Raises:
        Exception: the error of a :class:`Mistake`; the records until then are kept.
    """
    return _Schedule(cells, crew, progress).finish()


class _Schedule:
    """The cells that are left, and those at work."""

    def __init__(self, cells: Collection[Work], crew: Crew, progress: Progress) -> None:
        self.fresh, self.total = iter(cells), len(cells)
        self.again, self.elsewhere = deque[Work](), deque[Work]()
        self.crew, self.progress = crew, progress
        self.at_work: dict[int, Work] = {}
        self.deaths: Counter[Work] = Counter()
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

    def _candidates(self) -> Iterator[Work]:
        while (cell := next(self.fresh, None)) is not None:  # `yield from` would end it
            yield cell
        for cells in (self.again, self.elsewhere):
            for _ in range(len(cells)):
                yield cells.popleft()

    def _hear(self, slot: int, work: Work, message: Message) -> None:
        match message:
            case News(epochs, accuracy):
                share = "" if accuracy is None else f", test {accuracy:.2%}"
                of = cells_in(work)[0].recipe.epochs
                self._update(f"{work}, epoch {epochs}/{of}{share}")
                return
            case Mistake(error):
                raise error
            case Busy():
                self.elsewhere.append(work)
            case Broken(reason):
                self._lose(work, reason)
            case Died(what, how):
                self._bury(work, what, how)
            case Result(record, ran):
                self._keep(cells_in(work), (record,), ran)
            case Results(records, ran):
                self._keep(cells_in(work), records, ran)
        self.at_work.pop(slot, None)

    def _bury(self, work: Work, what: str, how: str) -> None:
        self.deaths[work] += 1
        if self.deaths[work] > RETRIES:
            self._lose(work, f"{what} {self.deaths[work]} times ({how})")
        else:
            self.again.append(work)
            self.progress.say(f"{work}: {what} ({how}), to be tried again")

    def _lose(self, work: Work, reason: str) -> None:
        for cell in cells_in(work):
            self.tally.lost[cell] = reason
        self.progress.say(f"{work}: {reason}")

    def _keep(self, cells: Iterable[Cell], records: Iterable[Record], ran: bool) -> None:
        for cell, record in zip(cells, records, strict=True):
            if record.key != cell.key:  # else it would be missing after every run
                self._lose(cell, "what was found in its place is the record of another cell")
                continue
            self.tally.records[cell.key] = record
            self.tally.ran += ran
            self._tell(cell, record)

    def _tell(self, cell: Cell, record: Record) -> None:
        done = len(self.tally.records)
        left = (time.monotonic() - self.started) / done * (self.total - done)
        self.progress.say(f"{done}/{self.total} {cell}: {result(record)}, {duration(left)} left")
        self._update()

    def _update(self, note: str = "") -> None:
        self.progress.update(len(self.tally.records), self.total, note)
