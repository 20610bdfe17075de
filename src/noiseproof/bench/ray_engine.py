"""The Ray engine: every cell a task, on whatever machines there are. It needs no shared disk."""

import getpass
import hashlib
import platform
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from noiseproof.bench.board import Board
from noiseproof.bench.cell import Cell
from noiseproof.bench.engine import Settings, Tally
from noiseproof.bench.local import PATIENCE, RETRIES
from noiseproof.bench.ray_cluster import connected
from noiseproof.bench.ray_task import Post, Product, work
from noiseproof.bench.worker import Broken, Mistake
from noiseproof.errors import DataError, ParameterError
from noiseproof.files import write
from noiseproof.results import Record, RunningElsewhereError, Store
from noiseproof.results.lock import lock_file, locked

#: The part of a GPU that a cell takes, by network; any other takes a whole one. Not measured: a
#: small network leaves most of a GPU idle, and several fit into its memory.
GPU_SHARE = {"linear": 0.1, "mlp": 0.1, "cnn4": 0.25, "cnn8": 0.5}


def run(cells: Sequence[Cell], store: Store, settings: Settings, board: Board) -> Tally:
    """Run cells as Ray tasks; the records come back to ``store``.

    A cell whose process or node is lost is tried again, at most twice. An error that would meet
    every cell, such as a node without the data, is raised, and what was done is kept.
    """
    if not cells:
        return Tally()
    with connected(settings):
        needs = _Needs.of(settings)
        slots = min(settings.workers or needs.slots(cells), len(cells))
        board.begin(len(cells), slots)
        crew = _Run(cells, store, settings, board, slots, needs)
        try:
            return crew.finish()
        finally:
            crew.stop()
            board.end()


class _Needs(NamedTuple):
    """What the cluster has, and what a cell takes of it."""

    cpus: float
    gpus: float

    @classmethod
    def of(cls, settings: Settings) -> "_Needs":
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpus = 0.0 if settings.device in ("cpu", "mps") else resources.get("GPU", 0.0)
        if settings.device == "cuda" and not gpus:
            raise ParameterError("no GPU in the Ray cluster: use --device auto")
        return cls(resources.get("CPU", 0.0), gpus)

    def gpu(self, cell: Cell) -> float:
        return GPU_SHARE.get(cell.recipe.network, 1.0) if self.gpus else 0.0

    def slots(self, cells: Sequence[Cell]) -> int:
        """Return how many of the cells fit at once."""
        share = min(map(self.gpu, cells))
        return max(1, int(min(self.cpus, self.gpus / share) if share else self.cpus))


class _Task(NamedTuple):
    """A cell at work somewhere, in one of the places the board shows, its lock held here."""

    cell: Cell
    slot: int
    lock: ExitStack


class _Run:
    """The cells that are left, and those at work."""

    def __init__(
        self,
        cells: Sequence[Cell],
        store: Store,
        settings: Settings,
        board: Board,
        slots: int,
        needs: _Needs,
    ) -> None:
        self.queue, self.elsewhere = deque(cells), deque[Cell]()
        self.store, self.board, self.needs = store, board, needs
        self.settings = replace(settings, data=settings.data and settings.data.absolute())
        self.free, self.tasks = list(range(slots)), dict[Any, _Task]()
        self.deaths: Counter[Cell] = Counter()
        self.seen, self.found = set[Path](), dict[str, Record]()
        self.tally = Tally()
        # The retries are ours: Ray's own are silent, and without end where memory runs out.
        self.work = ray.remote(num_cpus=1, max_retries=0)(work)
        self.post = _post() if type(board).epoch is not Board.epoch else None
        self.folder = folder_name(store)

    def finish(self) -> Tally:
        """Run all cells."""
        while self._assign():
            if not self.tasks:
                time.sleep(PATIENCE)  # all that is left is at work in other processes
                continue
            done, _ = ray.wait(list(self.tasks), timeout=PATIENCE)
            for ref in done:
                self._hear(ref)
            self._pass_on()
        return self.tally

    def stop(self) -> None:
        """Call back what is at work: its checkpoints stay on the nodes."""
        for ref, task in self.tasks.items():
            task.lock.close()
            with suppress(RayError):
                ray.cancel(ref)

    def _assign(self) -> bool:
        """Fill the free places; say whether anything is left to wait for."""
        while self.free and (found := self._next()) is not None:
            cell, lock = found
            slot = self.free.pop(0)
            task = self.work.options(num_gpus=self.needs.gpu(cell))
            ref = task.remote(_absolute(cell), self.settings, self.folder, self.post)
            self.tasks[ref] = _Task(cell, slot, lock)
            self.board.start(slot, cell)
        return bool(self.tasks or self.queue or self.elsewhere)

    def _next(self) -> tuple[Cell, ExitStack] | None:
        """Return the next cell that no other process is at work on, or has done, and its lock."""
        for cells in (self.queue, self.elsewhere):
            for _ in range(len(cells)):
                cell, lock = cells.popleft(), ExitStack()
                try:
                    lock.enter_context(locked(lock_file(self.store.path, cell.key), str(cell)))
                except RunningElsewhereError:
                    self.elsewhere.append(cell)
                    continue
                if (record := self._done_meanwhile(cell)) is None:
                    return cell, lock
                lock.close()
                self._finish(cell, self.free[0], record)
        return None

    def _done_meanwhile(self, cell: Cell) -> Record | None:
        for path in set(self.store.path.glob("*.json")) - self.seen:
            self.seen.add(path)
            with suppress(DataError):
                record = Record.read(path)
                self.found[record.key] = record
        record_of_cell = self.found.get(cell.key)
        if record_of_cell is None or record_of_cell.status == "failed" or not self.settings.save:
            return record_of_cell
        return record_of_cell if self.store.files(record_of_cell).model.exists() else None

    def _hear(self, ref: Any) -> None:
        cell, slot, lock = self.tasks.pop(ref)
        with lock:
            self.free.append(slot)
            try:
                message = ray.get(ref)
            except RayTaskError as raised:
                message = Broken(_line(raised.cause or raised))
            except RayError as loss:
                return self._died(cell, loss)
            match message:
                case Mistake(error):
                    raise error
                case Broken(reason):
                    self._lose(cell, reason)
                case Product():
                    self._keep(message)
                    self.tally.ran += 1
                    self._finish(cell, slot, message.record)

    def _keep(self, product: Product) -> None:
        files = self.store.files(product.record)
        if (content := product.model) is not None:
            write(files.model, content)
        self.store.put(product.record)
        files.checkpoint.unlink(missing_ok=True)  # of the local engine, if it began this cell

    def _finish(self, cell: Cell, slot: int, record: Record) -> None:
        self.tally.records[cell.key] = record
        self.board.done(slot, cell, record)

    def _died(self, cell: Cell, error: RayError) -> None:
        self.deaths[cell] += 1
        how = type(error).__name__
        if self.deaths[cell] > RETRIES:
            self._lose(cell, f"its process or node was lost {self.deaths[cell]} times ({how})")
        else:
            self.queue.append(cell)
            self.board.say(f"{cell}: its process or node was lost ({how}), to be tried again")

    def _lose(self, cell: Cell, reason: str) -> None:
        self.tally.lost[cell] = reason
        self.board.say(f"{cell}: {reason}")

    def _pass_on(self) -> None:
        """Tell the board of the epochs that were posted."""
        if self.post is None:
            return
        try:
            news = ray.get(self.post.take.remote())
        except RayError:
            self.post = None  # the cells do without
            return
        for task in self.tasks.values():
            if task.cell.key in news:
                self.board.epoch(task.slot, *news[task.cell.key])


def folder_name(store: Store) -> str:
    """Return what the folder for a store is called among the temporary files of every node."""
    whose = f"{getpass.getuser()}@{platform.node()}:{store.path.absolute()}"
    return f"noiseproof-{hashlib.sha256(whose.encode()).hexdigest()[:12]}"


def _post() -> Any:
    """Start the actor that keeps the news, on this very node, which outlives all others."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    return ray.remote(Post).options(num_cpus=0, scheduling_strategy=here).remote()


def _absolute(cell: Cell) -> Cell:
    """Return the cell with a path to the user's own data that holds in any folder."""
    return replace(cell, dataset=str(Path(cell.dataset).absolute())) if cell.fingerprint else cell


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
