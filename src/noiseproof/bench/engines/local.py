"""The local engine: some processes of one thread, a cell or a stack of cells each at a time."""

import multiprocessing
import os
from collections.abc import Collection, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from noiseproof.bench.cell import Cell
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.scheduler import Busy, Died, Message, News, Tally, schedule
from noiseproof.bench.engines.stack import Stacked, Work, cells_in
from noiseproof.bench.engines.worker import start
from noiseproof.progress import Progress
from noiseproof.results import Store


def run(cells: Collection[Cell], store: Store, settings: Settings, progress: Progress) -> Tally:
    """Run cells in processes of one thread each.

    A process that dies is replaced, and its cell tried again, at most twice. An error that every
    cell would meet, such as a full disk, is raised; what was done until then is kept.
    """
    if not cells:
        return Tally()
    workers = settings.workers or cores()
    with Processes(min(workers, len(cells)), store, settings) as crew:
        return schedule(Stacked(cells, workers), crew, progress)


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux says
        return os.cpu_count() or 1


class Processes:
    """The crew of this machine."""

    def __init__(self, slots: int, store: Store, settings: Settings) -> None:
        self.slots, self.store = slots, store
        self.workers: list[_Worker] = []
        try:
            for _ in range(slots):
                self.workers.append(_Worker(store, settings))
        except BaseException:
            self.close()
            raise

    def start(self, slot: int, cell: Work) -> Message | None:
        """Send work to a process, unless another process of the store is at work on any of it."""
        if any(self.store.running(one.key) for one in cells_in(cell)):
            return Busy()
        return self.workers[slot].send(cell)

    def listen(self, seconds: float) -> Iterator[tuple[int, Message]]:
        """Hear from the processes that are at work."""
        busy: dict[Any, int] = {w.wire: i for i, w in enumerate(self.workers) if w.is_busy}
        for wire in wait(list(busy), timeout=seconds):
            slot = busy[wire]
            yield slot, self.workers[slot].receive()

    def close(self) -> None:
        """Stop all processes."""
        for worker in self.workers:
            worker.stop()
        for worker in self.workers:
            worker.bury()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Worker:
    """A process, replaced where it dies."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.context = multiprocessing.get_context("spawn")
        self.revive()

    def revive(self) -> None:
        self.is_busy = False
        self.process: Any
        self.wire: Connection
        self.process, self.wire = start(self.context, self.store.path, self.settings)

    def send(self, cell: Work) -> Message | None:
        try:
            self.wire.send(cell)
        except OSError:
            return self._died()
        self.is_busy = True
        return None

    def receive(self) -> Message:
        try:
            message: Message = self.wire.recv()
        except (EOFError, OSError):
            return self._died()
        self.is_busy = isinstance(message, News)
        return message

    def stop(self) -> None:
        self.wire.close()
        if self.is_busy:
            self.process.terminate()

    def bury(self) -> int:
        self.process.join(10)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        return int(self.process.exitcode)

    def _died(self) -> Died:
        code = self.bury()
        self.wire.close()
        self.revive()
        return Died("its process died", f"signal {-code}" if code < 0 else f"exit code {code}")
