"""What a store has of a grid."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from noiseproof.bench.grid import Grid, Row
from noiseproof.results import Dispute, Place, Record, Store, Summary
from noiseproof.results.verify import disagreements


@dataclass(frozen=True)
class Collected:
    """The records of a grid, and what is missing.

    Args:
        grid: the grid.
        records: by the key of their cell, those of other grids included.
        damaged: a line for each file that is no record.
        disputes: by the key of their cell, those of other grids included.
    """

    grid: Grid
    records: Mapping[str, Record]
    damaged: Sequence[str] = ()
    disputes: Mapping[str, Dispute] = field(default_factory=dict)

    @cached_property
    def _seeds(self) -> dict[Place, dict[int, Record]]:
        """The records of the grid, found by going through the store, which may be much smaller."""
        seeds, found = frozenset(self.grid.seeds), dict[Place, dict[int, Record]]()
        places = frozenset(self.grid.places.values())
        for record in self.records.values():
            if record.seed in seeds and (place := record.place) in places:
                found.setdefault(place, {})[record.seed] = record
        return found

    def seeds(self, row: Row | str, noise: str) -> list[Record]:
        """Return the records of a row under a noise, in the order of their seeds."""
        name = row if isinstance(row, str) else row.name
        found = self._seeds.get(self.grid.places[name, noise], {})
        return [found[seed] for seed in sorted(found)]

    def summary(self, row: Row | str, noise: str) -> Summary | None:
        """Return mean and deviation over the seeds with a result, None where there is none."""
        values = tuple(r.accuracy for r in self.seeds(row, noise) if r.accuracy is not None)
        return Summary(values) if values else None

    @cached_property
    def own(self) -> tuple[Record, ...]:
        """The records of the grid, row by row; twice where two rows have the same loss."""
        return tuple(
            record
            for row in self.grid.lines
            for noise in self.grid.noises
            for record in self.seeds(row, noise)
        )

    @property
    def failed(self) -> tuple[Record, ...]:
        """The runs that failed, for instance because the loss was not finite."""
        return tuple(record for record in self.own if record.status == "failed")

    @cached_property
    def disputed(self) -> tuple[Dispute, ...]:
        """The cells of the grid whose records disagree."""
        found = self.disputes.values()
        return tuple(d for d in found if self.grid.block.index(d.place, d.seed) is not None)

    @property
    def problems(self) -> tuple[str, ...]:
        """A line for each damaged file, disputed cell, and column of unequal labels or samples."""
        return (*self.damaged, *map(str, self.disputed), *disagreements(self.own))

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of cells: all, done, failed, disputed and missing."""
        cells, failed, disputed = len(self.grid.block), len(self.failed), len(self.disputed)
        return {
            "cells": cells,
            "done": len(self.own) - failed,
            "failed": failed,
            "disputed": disputed,
            "missing": cells - len(self.own) - disputed,
        }


def collect(grid: Grid, store: Store) -> Collected:
    """Return what a store has of a grid."""
    return collect_all([grid], store)[0]


def collect_all(grids: Iterable[Grid], store: Store) -> list[Collected]:
    """Return what a store has of each of some grids; it is read once."""
    read = store.records(), tuple(store.damaged), store.disputes
    return [Collected(grid, *read) for grid in grids]
