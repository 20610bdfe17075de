"""How far a grid is: done, running, failed, missing, and how long the rest will take."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from noiseproof.bench.board import duration
from noiseproof.bench.cell import Cell
from noiseproof.bench.collect import Collected
from noiseproof.results import Record, Store
from noiseproof.results.key import is_known
from noiseproof.train import Recipe


@dataclass(frozen=True)
class Status:
    """The state of a grid.

    Args:
        grid: its name.
        cells: how many it has.
        done: with a result.
        running: at work in some process of this machine.
        failed: ended without a result, by a loss that was not finite for one.
        missing: nobody is at work on.
        seconds_left: for those running and missing; None where nothing like them was measured.
        damaged: files of the store that were no records, and were set aside.
    """

    grid: str
    cells: int
    done: int
    running: int
    failed: int
    missing: int
    seconds_left: float | None
    damaged: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it in a line."""
        words = f"{self.grid}: {self.done} of {self.cells} cells done"
        for count, what in ((self.running, "running"), (self.failed, "failed")):
            words += f", {count} {what}" if count else ""
        if self.missing:
            words += f", {self.missing} missing"
        if self.missing + self.running:
            left = self.seconds_left
            words += ", time left unknown" if left is None else f", about {duration(left)} left"
        return words


def find_status(collected: Collected, store: Store, workers: int = 1) -> Status:
    """Return how far a grid is, its time left that of ``workers`` cells at once."""
    running = [cell for cell in collected.missing if store.running(cell.key)]
    counts = collected.counts
    return Status(
        grid=collected.grid.name,
        cells=counts["cells"],
        done=counts["done"],
        running=len(running),
        failed=counts["failed"],
        missing=counts["missing"] - len(running),
        seconds_left=seconds_left(collected.missing, collected.records, workers),
        damaged=tuple(map(str, collected.damaged)),
    )


def seconds_left(
    cells: Iterable[Cell], records: Mapping[str, Record], workers: int = 1
) -> float | None:
    """Estimate the time cells take from records of the same data set and recipe.

    None where one of the cells is like no record.
    """
    measured: dict[tuple[str, str], list[float]] = {}
    for record in records.values():
        of = record.dataset if is_known(record.dataset) else record.fingerprint
        measured.setdefault(_kind(of, record.recipe), []).append(record.seconds)
    total = 0.0
    for cell in cells:
        seconds = measured.get(_kind(cell.fingerprint or cell.dataset, cell.recipe))
        if seconds is None:
            return None
        total += fmean(seconds)
    return total / workers


def _kind(data: str, recipe: Recipe) -> tuple[str, str]:
    return data, recipe.override(method="loss").hash
