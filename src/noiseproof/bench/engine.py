"""What every engine is: a function from cells to records in a store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from noiseproof.bench.board import Board
from noiseproof.bench.cell import Cell
from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.results import Record, Store

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Settings:
    """How to run cells; none of it changes what comes of them.

    Args:
        data: where the data sets are; None as for :func:`noiseproof.data.load`.
        save: keep the trained networks too.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
        workers: how many cells at once; 0 is one a core.
        address: of the Ray cluster; empty starts one here.
    """

    data: Path | None = None
    save: bool = False
    device: str = "auto"
    workers: int = 0
    address: str = ""


@dataclass
class Tally:
    """What an engine did.

    Args:
        records: of the cells, by key; a run that failed by its own numbers has one too.
        ran: how many of them were trained here and now, rather than found.
        lost: the cells that have no record, each with the reason.
    """

    records: dict[str, Record] = field(default_factory=dict)
    ran: int = 0
    lost: dict[Cell, str] = field(default_factory=dict)


Engine = Callable[[Sequence[Cell], Store, Settings, Board], Tally]


def find_engine(name: str) -> Engine:
    """Return an engine by name.

    >>> find_engine("slurm")
    Traceback (most recent call last):
    noiseproof.errors.ParameterError: unknown engine 'slurm'; known: local, ray
    """
    if name == "local":
        from noiseproof.bench import local

        return local.run
    if name == "ray":
        try:
            found: Engine = import_module("noiseproof.bench.ray_engine").run
        except ImportError:
            raise ParameterError(
                "the engine ray needs Ray: pip install 'noiseproof[ray]'"
            ) from None
        return found
    raise ParameterError(f"unknown engine {name!r}{did_you_mean(name, ENGINES)}")
