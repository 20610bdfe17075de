"""What one sees of many cells at work: nothing, a line a cell, or bars."""

import sys
import time
from typing import Any, TextIO

from noiseproof.bench.cell import Cell
from noiseproof.results import Record


class Board:
    """Shows nothing; the base of those that do."""

    def begin(self, cells: int, workers: int) -> None:
        """Hear how many cells are to be run, and by how many workers."""

    def start(self, worker: int, cell: Cell) -> None:
        """Hear that a worker begins a cell."""

    def epoch(self, worker: int, number: int, accuracy: float | None) -> None:
        """Hear how many epochs of its cell a worker has done, and the test accuracy after them."""

    def done(self, worker: int, cell: Cell, record: Record) -> None:
        """Hear that a cell has its record."""

    def say(self, message: str) -> None:
        """Hear of something that is no result: a process that died."""

    def end(self) -> None:
        """Hear that there is no more to come."""


class Lines(Board):
    """A line a finished cell, for a log file."""

    def __init__(self, file: TextIO | None = None) -> None:
        """Write to ``file``, or to where errors go."""
        self.file = file or sys.stderr

    def begin(self, cells: int, workers: int) -> None:
        """Remember what 100 % is."""
        self.cells, self.finished, self.started = cells, 0, time.monotonic()
        at_once = f", {workers} at once" if workers > 1 else ""
        self.say(f"{cells} {'cell' if cells == 1 else 'cells'} to run{at_once}")

    def done(self, worker: int, cell: Cell, record: Record) -> None:
        """Print the line."""
        self.finished += 1
        elapsed = time.monotonic() - self.started
        left = elapsed / self.finished * (self.cells - self.finished)
        self.say(f"{self.finished}/{self.cells} {cell}: {result(record)}, {duration(left)} left")

    def say(self, message: str) -> None:
        """Print it."""
        print(message, file=self.file, flush=True)


class Bars(Board):
    """A progress bar a worker, and one for the whole."""

    def __init__(self) -> None:
        """Draw nothing before it is known how many bars there are."""
        self.bars: list[Any] = []
        self.whole: Any = None

    def begin(self, cells: int, workers: int) -> None:
        """Draw the empty bars."""
        from tqdm import tqdm

        form = "{desc:<44.44} {percentage:3.0f}% {bar} {n_fmt}/{total_fmt}{postfix}"
        self.bars = [
            tqdm(total=1, position=i, leave=False, dynamic_ncols=True, bar_format=form)
            for i in range(workers)
        ]
        self.whole = tqdm(
            total=cells, position=workers, unit="cell", desc="cells", dynamic_ncols=True
        )

    def start(self, worker: int, cell: Cell) -> None:
        """Begin the bar of the worker anew."""
        self.bars[worker].reset(cell.recipe.epochs)
        self.bars[worker].set_postfix_str("")
        self.bars[worker].set_description_str(str(cell))

    def epoch(self, worker: int, number: int, accuracy: float | None) -> None:
        """Move the bar of the worker."""
        bar = self.bars[worker]
        bar.n = number
        bar.set_postfix_str("" if accuracy is None else f"test {accuracy:.2%}")

    def done(self, worker: int, cell: Cell, record: Record) -> None:
        """Move the bar of the whole, and leave the result above."""
        self.say(f"{cell}: {result(record)}")
        self.whole.update(1)

    def say(self, message: str) -> None:
        """Print it above the bars."""
        if self.whole is None:
            print(message, file=sys.stderr)
        else:
            self.whole.write(message, file=sys.stderr)

    def end(self) -> None:
        """Leave the bar of the whole as it is."""
        for bar in [*self.bars, self.whole]:
            bar.close()


def pick_board(quiet: bool) -> Board:
    """Return bars for a terminal, lines for a file, nothing for who wants quiet."""
    if quiet:
        return Board()
    return Bars() if sys.stderr.isatty() else Lines()


def result(record: Record) -> str:
    """Say the result of a record in a few words."""
    if record.accuracy is None:
        return f"failed, {record.failure}"
    return f"{record.accuracy:.2%} in {duration(record.seconds)}"


def duration(seconds: float) -> str:
    """Say how long something takes.

    >>> duration(12.3), duration(200), duration(8000), duration(200_000)
    ('12 s', '3 min', '2.2 h', '56 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36_000 else f"{seconds / 3600:.0f} h"
