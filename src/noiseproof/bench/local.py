"""The local engine: some processes, a cell each at a time."""

import multiprocessing
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from noiseproof.bench.board import Board
from noiseproof.bench.cell import Cell
from noiseproof.bench.engine import Settings, Tally
from noiseproof.bench.worker import Broken, Busy, Mistake, Progress, Result, start
from noiseproof.results import Store

#: How often a cell is tried again whose process died.
RETRIES = 2
#: Seconds between two looks at a cell that another process is at work on.
PATIENCE = 0.5


def run(cells: Sequence[Cell], store: Store, settings: Settings, board: Board) -> Tally:
    """Run cells in processes of one thread each.

    A process that dies is replaced, and its cell tried again, at most twice. An error that would
    meet every cell, such as a full disk, is raised, and what was done is kept.
    """
    workers = min(settings.workers or cores(), len(cells))
    if not workers:
        return Tally()
    board.begin(len(cells), workers)
    with _crew(workers, store, settings) as crew:
        try:
            return _Run(cells, store, board, crew).finish()
        finally:
            board.end()


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux says
        return os.cpu_count() or 1


class _Worker:
    """A place for a process, and the cell it is at work on."""

    def __init__(self, number: int, store: Store, settings: Settings) -> None:
        self.number, self.store, self.settings = number, store, settings
        self.context = multiprocessing.get_context("spawn")
        self.cell: Cell | None = None
        self.revive()

    def revive(self) -> None:
        self.process: Any
        self.wire: Connection
        self.process, self.wire = start(self.context, self.store.path, self.settings)

    def stop(self) -> None:
        self.wire.close()
        if self.cell is not None:
            self.process.terminate()

    def bury(self) -> int:
        self.process.join(10)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        return int(self.process.exitcode)


@contextmanager
def _crew(count: int, store: Store, settings: Settings) -> Iterator[list[_Worker]]:
    crew: list[_Worker] = []
    try:
        for number in range(count):
            crew.append(_Worker(number, store, settings))
        yield crew
    finally:
        for worker in crew:
            worker.stop()
        for worker in crew:
            worker.bury()


class _Run:
    """The cells that are left, and who is at work on which."""

    def __init__(
        self, cells: Sequence[Cell], store: Store, board: Board, crew: list[_Worker]
    ) -> None:
        self.queue, self.elsewhere = deque(cells), deque[Cell]()
        self.store, self.board, self.crew = store, board, crew
        self.deaths: Counter[Cell] = Counter()
        self.tally = Tally()

    def finish(self) -> Tally:
        """Run all cells."""
        while self._assign():
            busy = {worker.wire: worker for worker in self.crew if worker.cell is not None}
            for wire in wait(list(busy), timeout=PATIENCE) if busy else ():
                self._hear(busy[wire])  # type: ignore[index]
            if not busy:
                time.sleep(PATIENCE)  # all that is left is at work in other processes
        return self.tally

    def _assign(self) -> bool:
        """Give cells to who has none; say whether anything is left to wait for."""
        for worker in self.crew:
            if worker.cell is None and (cell := self._next()) is not None:
                worker.cell = cell
                try:
                    worker.wire.send(cell)
                except OSError:
                    self._died(worker)
                else:
                    self.board.start(worker.number, cell)
        at_work = any(worker.cell is not None for worker in self.crew)
        return bool(at_work or self.queue or self.elsewhere)

    def _next(self) -> Cell | None:
        """Return the next cell that no other process is at work on."""
        for cells in (self.queue, self.elsewhere):
            for _ in range(len(cells)):
                cell = cells.popleft()
                if not self.store.running(cell.key):
                    return cell
                self.elsewhere.append(cell)
        return None

    def _hear(self, worker: _Worker) -> None:
        cell = worker.cell
        assert cell is not None
        try:
            message = worker.wire.recv()
        except (EOFError, OSError):
            return self._died(worker)
        match message:
            case Progress(epochs, accuracy):
                return self.board.epoch(worker.number, epochs, accuracy)
            case Mistake(error):
                worker.cell = None
                raise error
            case Busy():
                self.elsewhere.append(cell)
            case Broken(reason):
                self.tally.lost[cell] = reason
                self.board.say(f"{cell}: {reason}")
            case Result(record, ran):
                self.tally.records[cell.key] = record
                self.tally.ran += ran
                self.board.done(worker.number, cell, record)
        worker.cell = None

    def _died(self, worker: _Worker) -> None:
        cell, code = worker.cell, worker.bury()
        assert cell is not None
        self.deaths[cell] += 1
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if self.deaths[cell] > RETRIES:
            self.tally.lost[cell] = f"its process died {self.deaths[cell]} times ({how})"
            self.board.say(f"{cell}: {self.tally.lost[cell]}")
        else:
            self.queue.append(cell)
            self.board.say(f"{cell}: its process died ({how}), to be tried again")
        worker.cell = None
        worker.wire.close()
        worker.revive()
