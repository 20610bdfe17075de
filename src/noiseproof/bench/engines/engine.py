"""What every engine is: a function from cells to records in a store."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from noiseproof.bench.cell import Cell
from noiseproof.bench.engines.scheduler import Tally
from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.extras import need
from noiseproof.losses.own import LossFile
from noiseproof.progress import Progress
from noiseproof.results import Store

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Settings:
    """How to run cells; none of it changes their results.

    Args:
        data: where the data sets are; None as for :func:`noiseproof.data.load`.
        save: keep the trained networks too.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
        workers: how many cells at once; 0 is one per core.
        address: of the Ray cluster; empty starts one here.
        losses: files of losses that cells may name.
    """

    data: Path | None = None
    save: bool = False
    device: str = "auto"
    workers: int = 0
    address: str = ""
    losses: tuple[LossFile, ...] = ()


Engine = Callable[[Collection[Cell], Store, Settings, Progress], Tally]


def find_engine(name: str) -> Engine:
    """Return an engine by name.

    >>> find_engine("slurm")
    Traceback (most recent call last):
    noiseproof.errors.ParameterError: unknown engine 'slurm'; known: local, ray
    """
    if name == "local":
        from noiseproof.bench.engines import local

        return local.run
    if name == "ray":
        need("ray", "ray", "grpc")
        found: Engine = import_module("noiseproof.bench.engines.ray_engine").run
        return found
    raise ParameterError(f"unknown engine {name!r}{did_you_mean(name, ENGINES)}")
