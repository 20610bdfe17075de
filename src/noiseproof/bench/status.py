"""How far a grid is: done, running, failed, missing, and how long the rest will take."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from statistics import fmean
from typing import Any

from noiseproof.bench.cells import Remaining
from noiseproof.bench.collect import Collected
from noiseproof.bench.words import count, duration
from noiseproof.results import Record, Store
from noiseproof.train import Recipe

#: Of the missing cells, so many are looked at for whether they are running: a second's work.
_LOOKED_AT = 50_000


@dataclass(frozen=True)
class Status:
    """The state of a grid.

    Args:
        grid: its name.
        cells: how many it has.
        done: with a result.
        running: at work in some process of this machine.
        failed: ended without a result, by a loss that was not finite for instance.
        disputed: with records that disagree, none of which is believed.
        missing: not run yet, and not running.
        seconds_left: for those running and missing; None where nothing like them was measured.
        problems: a line for each damaged file, disputed cell, and column of unequal labels.
    """

    grid: str
    cells: int
    done: int
    running: int
    failed: int
    disputed: int
    missing: int
    seconds_left: float | None
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        """Return one line."""
        words = f"{self.grid}: {self.done} of {count(self.cells, 'cell')} done"
        for name in ("running", "failed", "disputed", "missing"):
            words += f", {some} {name}" if (some := getattr(self, name)) else ""
        if self.missing + self.running:
            left = self.seconds_left
            words += ", time left unknown" if left is None else f", about {duration(left)} left"
        return words


def find_status(collected: Collected, store: Store, workers: int = 1) -> Status:
    """Return how far a grid is; the time left is that of ``workers`` cells at once."""
    counts = collected.counts
    running = _count_running(collected, store)
    return Status(
        grid=collected.grid.name,
        cells=counts["cells"],
        done=counts["done"],
        running=running,
        failed=counts["failed"],
        disputed=counts["disputed"],
        missing=counts["missing"] - running,
        seconds_left=_seconds_left(collected, workers),
        problems=collected.problems,
    )


def _count_running(collected: Collected, store: Store) -> int:
    if not store.has_locks():
        return 0
    missing = Remaining.of(collected.grid.cells(), ((r.place, r.seed) for r in collected.own))
    return sum(store.running(cell.key) for cell in islice(missing, _LOOKED_AT))


def _seconds_left(collected: Collected, workers: int) -> float | None:
    """Estimate the time from records with the same data and recipe; None where there are none."""
    missing = collected.counts["missing"]
    kind = _kind(collected.grid.block.first[0].place.data, collected.grid.block.first[0].recipe)
    seconds = list(_measured(collected.records.values(), kind))
    if not missing or not seconds:
        return None if missing else 0.0
    return missing * fmean(seconds) / workers


def _measured(records: Iterable[Record], kind: tuple[str, str]) -> Iterable[float]:
    return (r.seconds for r in records if _kind(r.place.data, r.recipe) == kind)


@lru_cache(maxsize=4096)
def _kind(data: str, recipe: Recipe) -> tuple[str, str]:
    return data, recipe.override(method="loss").hash
