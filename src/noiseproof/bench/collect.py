"""What a store has of a grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from noiseproof.bench.cell import Cell
from noiseproof.bench.grid import Grid, Row
from noiseproof.results import Record, Store, Summary


@dataclass(frozen=True)
class Collected:
    """The records of a grid, and what is not there.

    Args:
        grid: the grid.
        records: by the key of their cell, those of other grids among them.
        damaged: files that were no records, and were set aside.
    """

    grid: Grid
    records: Mapping[str, Record]
    damaged: Sequence[Path] = ()

    @cached_property
    def cells(self) -> dict[tuple[str, str, int], Cell]:
        """The cells of the grid by the name of the row, the noise and the seed."""
        return {(cell.row, cell.noise, cell.seed): cell for cell in self.grid.cells()}

    def record(self, row: Row | str, noise: str, seed: int) -> Record | None:
        """Return the record of one cell, None where it was not run."""
        name = row if isinstance(row, str) else row.name
        return self.records.get(self.cells[name, noise, seed].key)

    def summary(self, row: Row | str, noise: str) -> Summary | None:
        """Return mean and deviation over the seeds that ended well, None where none did."""
        found = (self.record(row, noise, seed) for seed in self.grid.seeds)
        values = tuple(r.accuracy for r in found if r is not None and r.accuracy is not None)
        return Summary(values) if values else None

    @cached_property
    def missing(self) -> tuple[Cell, ...]:
        """The cells without a record."""
        return tuple(cell for cell in self.cells.values() if cell.key not in self.records)

    @cached_property
    def failed(self) -> tuple[Record, ...]:
        """The records of runs that failed, by a loss that was not finite for one."""
        there = (self.records.get(cell.key) for cell in self.cells.values())
        return tuple(record for record in there if record and record.status == "failed")

    @property
    def counts(self) -> dict[str, int]:
        """How many cells there are, done, failed and missing."""
        total, missing, failed = len(self.cells), len(self.missing), len(self.failed)
        return {
            "cells": total,
            "done": total - missing - failed,
            "failed": failed,
            "missing": missing,
        }


def collect(grid: Grid, store: Store) -> Collected:
    """Return what a store has of a grid."""
    return Collected(grid, store.records(), tuple(store.damaged))
