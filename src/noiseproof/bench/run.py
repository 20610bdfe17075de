"""Run what a store has not of some grids."""

from collections.abc import Sequence

from noiseproof.bench.board import Board
from noiseproof.bench.cell import Cell
from noiseproof.bench.engine import Settings, Tally, find_engine
from noiseproof.bench.grid import Grid
from noiseproof.errors import ParameterError
from noiseproof.results import Store


def run_grids(
    grids: Sequence[Grid],
    store: Store,
    settings: Settings,
    board: Board,
    engine: str = "local",
    shard: tuple[int, int] = (1, 1),
) -> Tally:
    """Run every cell of the grids that has no record yet.

    Args:
        grids: what to run.
        store: where the records are, and go.
        settings: how to run.
        board: who is told of progress.
        engine: ``"local"`` or ``"ray"``.
        shard: (i, n) runs the i-th of n parts of the cells, the same parts everywhere.
    """
    run = find_engine(engine)
    store.check_writable()
    if not settings.save:  # else a run that has its record may be under way again for its model
        store.tidy()
    left = cells_left(cells_of(grids, shard), store, settings.save)
    for path in store.damaged:
        board.say(f"{path}: damaged, set aside, to be run again")
    return run(left, store, settings, board)


def cells_of(grids: Sequence[Grid], shard: tuple[int, int] = (1, 1)) -> tuple[Cell, ...]:
    """Return the cells of some grids, or of a part of them, each once."""
    once: dict[str, Cell] = {}
    for grid in grids:
        for cell in grid.cells():
            once.setdefault(cell.key, cell)
    part, parts = shard
    return tuple(once.values())[part - 1 :: parts]


def cells_left(cells: Sequence[Cell], store: Store, save: bool = False) -> tuple[Cell, ...]:
    """Return the cells that have no record, or no model where models are to be kept."""
    records = store.records()

    def is_done(cell: Cell) -> bool:
        record = records.get(cell.key)
        if record is None or record.status == "failed" or not save:
            return record is not None
        return store.files(record).model.exists()

    return tuple(cell for cell in cells if not is_done(cell))


def read_shard(text: str) -> tuple[int, int]:
    """Read ``"3/16"``, the third of sixteen parts.

    >>> read_shard("3/16")
    (3, 16)
    """
    part, slash, parts = text.partition("/")
    if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ParameterError(f"expected a shard as in 3/16, from 1/16 to 16/16, got {text!r}")
    return int(part), int(parts)
