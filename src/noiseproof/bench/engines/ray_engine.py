"""The Ray engine: every cell is a task, on any machine of a cluster. It needs no shared disk."""

import getpass
import hashlib
import platform
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from noiseproof import files
from noiseproof.bench.cell import MATRIX, Cell
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.ray_cluster import connected
from noiseproof.bench.engines.ray_task import Post, Product, work
from noiseproof.bench.engines.scheduler import Broken, Busy, Died, Message, Result, Tally, schedule
from noiseproof.errors import DataError, LockedError, ParameterError
from noiseproof.progress import SILENT, Progress
from noiseproof.results import Record, Store
from noiseproof.results.run_files import lock_file

#: The part of a GPU that a cell takes, by network; any other takes a whole one. Not measured: a
#: small network leaves most of a GPU idle, and several fit into its memory.
GPU_SHARE = {"linear": 0.1, "mlp": 0.1, "cnn4": 0.25, "cnn8": 0.5}
#: Cells that are looked at for the smallest part of a GPU.
_LOOKED_AT = 1000


def run(cells: Collection[Cell], store: Store, settings: Settings, progress: Progress) -> Tally:
    """Run cells as Ray tasks; the records come back to ``store``.

    A cell whose process or node is lost is tried again, at most twice. An error that every cell
    would meet, such as a node without the data, is raised; what was done until then is kept.
    """
    if not cells:
        return Tally()
    with connected(settings):
        room = Room.of(settings)
        slots = min(settings.workers or room.slots(islice(cells, _LOOKED_AT)), len(cells))
        with Tasks(slots, store, settings, room, progress is not SILENT) as crew:
            return schedule(cells, crew, progress)


class Room(NamedTuple):
    """What the cluster has, and what a cell takes of it."""

    cpus: float
    gpus: float

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Ask the cluster."""
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpus = 0.0 if settings.device in ("cpu", "mps") else resources.get("GPU", 0.0)
        if settings.device == "cuda" and not gpus:
            raise ParameterError("no GPU in the Ray cluster: use --device auto")
        return cls(resources.get("CPU", 0.0), gpus)

    def gpu(self, cell: Cell) -> float:
        """Return the part of a GPU that a cell takes."""
        return GPU_SHARE.get(cell.recipe.network, 1.0) if self.gpus else 0.0

    def slots(self, cells: Iterable[Cell]) -> int:
        """Return how many of the cells fit at once."""
        share = min(map(self.gpu, cells))
        return max(1, int(min(self.cpus, self.gpus / share) if share else self.cpus))


class _Task(NamedTuple):
    """A cell at work on some node; its lock in the store is held here."""

    slot: int
    cell: Cell
    lock: ExitStack


class Tasks:
    """The crew of a Ray cluster."""

    def __init__(
        self, slots: int, store: Store, settings: Settings, room: Room, with_news: bool
    ) -> None:
        self.slots, self.store, self.room = slots, store, room
        self.settings = replace(settings, data=settings.data and settings.data.absolute())
        self.tasks: dict[Any, _Task] = {}
        self.seen, self.found = set[Path](), dict[str, Record]()
        # The scheduler tries again: Ray's own retries are silent, and endless without memory.
        self.work = ray.remote(num_cpus=1, max_retries=0)(work)
        self.post = _post() if with_news else None
        self.folder = folder_name(store)

    def start(self, slot: int, cell: Cell) -> Message | None:
        """Start a task, unless another process is at work on the cell or has done it."""
        lock = ExitStack()
        try:
            lock.enter_context(files.locked(lock_file(self.store.path, cell.key), str(cell)))
        except LockedError:
            return Busy()
        with ExitStack() as unless_started:
            unless_started.push(lock)
            if (record := self._done_meanwhile(cell)) is not None:
                return Result(record, ran=False)
            task = self.work.options(num_gpus=self.room.gpu(cell))
            ref = task.remote(_absolute(cell), self.settings, self.folder, self.post)
            self.tasks[ref] = _Task(slot, cell, lock)
            unless_started.pop_all()
        return None

    def listen(self, seconds: float) -> Iterator[tuple[int, Message]]:
        """Hear of tasks that ended, and of the epochs of the others."""
        done, _ = ray.wait(list(self.tasks), timeout=seconds)
        for ref in done:
            slot, _, lock = self.tasks.pop(ref)
            with lock:
                yield slot, self._fetch(ref)
        yield from self._news()

    def close(self) -> None:
        """Cancel what is at work; checkpoints stay on the nodes."""
        for ref, task in self.tasks.items():
            task.lock.close()
            with suppress(RayError):
                ray.cancel(ref)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _done_meanwhile(self, cell: Cell) -> Record | None:
        for path in set(self.store.path.glob("*.json")) - self.seen:
            self.seen.add(path)
            with suppress(DataError, OSError):  # not a record, or not for us to read
                record = Record.read(path)
                self.found[record.key] = record
        found = self.found.get(cell.key)
        return found if found and self.store.is_done(found, self.settings.save) else None

    def _fetch(self, ref: Any) -> Message:
        try:
            message: Product | Message = ray.get(ref)
        except RayTaskError as raised:
            error = raised.cause or raised
            return Broken(" ".join(f"{type(error).__name__}: {error}".split())[:300])
        except RayError as loss:
            return Died("its process or node was lost", type(loss).__name__)
        if not isinstance(message, Product):
            return message
        self._keep(message)
        return Result(message.record, ran=True)

    def _keep(self, product: Product) -> None:
        run = self.store.files(product.record)
        if product.model is not None:
            files.write(run.model, product.model)
        self.store.put(product.record)
        run.checkpoint.unlink(missing_ok=True)  # of the local engine, if it began this cell

    def _news(self) -> Iterator[tuple[int, Message]]:
        if self.post is None:
            return
        try:
            news = ray.get(self.post.take.remote())
        except RayError:
            self.post = None  # the cells do without
            return
        for task in self.tasks.values():
            if task.cell.key in news:
                yield task.slot, news[task.cell.key]


def folder_name(store: Store) -> str:
    """Return what the names of a store's folders begin with among a node's temporary files."""
    whose = f"{getpass.getuser()}@{platform.node()}:{store.path.absolute()}"
    return f"noiseproof-{hashlib.sha256(whose.encode()).hexdigest()[:12]}"


def _post() -> Any:
    """Start the actor that keeps the news on this node, which outlives all others."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    return ray.remote(Post).options(num_cpus=0, scheduling_strategy=here).remote()


def _absolute(cell: Cell) -> Cell:
    """Return the cell with absolute paths to the user's own data, matrix and encoder."""
    if cell.matrix:
        path = Path(cell.noise.removeprefix(MATRIX))
        cell = replace(cell, noise=f"{MATRIX}{path.absolute()}")
    if cell.fingerprint:
        cell = replace(cell, dataset=str(Path(cell.dataset).absolute()))
    if cell.encoder and Path(cell.encoder).exists():
        cell = replace(cell, encoder=str(Path(cell.encoder).absolute()))
    return cell
