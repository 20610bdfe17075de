"""Run the cells of some grids that the store does not have yet."""

from collections.abc import Sequence
from dataclasses import replace

from noiseproof import data
from noiseproof.bench.cells import Cells, Remaining, merge
from noiseproof.bench.encoded import encode
from noiseproof.bench.engines.engine import Settings, find_engine
from noiseproof.bench.engines.scheduler import Tally
from noiseproof.bench.grid import Grid
from noiseproof.errors import ParameterError
from noiseproof.losses.own import loss_files
from noiseproof.progress import Progress
from noiseproof.results import Place, Store


def run_grids(
    grids: Sequence[Grid],
    store: Store,
    settings: Settings,
    progress: Progress,
    engine: str = "local",
    shard: tuple[int, int] = (1, 1),
) -> Tally:
    """Run every cell of the grids that has no record yet.

    A cell whose records disagree is not run: who knows which of them is wrong removes it first.

    Args:
        grids: what to run.
        store: where the records are, and go.
        settings: how to run.
        progress: who is told of progress.
        engine: ``"local"`` or ``"ray"``.
        shard: (i, n) runs the i-th of n parts of the cells, the same parts everywhere.
    """
    run = find_engine(engine)
    store.check_writable()
    store.settle()
    left = cells_left(cells_of(grids, shard), store, settings.save)
    for line in (*store.damaged, *map(str, store.disputes.values())):
        progress.say(line)
    if left:
        for dataset, encoder, label in dict.fromkeys(
            (g.dataset, g.encoder, g.label) for g in grids
        ):
            if encoder:  # once, before every process would
                encode(data.load_any(dataset, settings.data, label=label), encoder, progress)
    tally = run(left, store, replace(settings, losses=loss_files()), progress)
    if not settings.save:  # else a run that has its record may be under way again for its model
        store.tidy(tally.records.values())
    return tally


def cells_of(grids: Sequence[Grid], shard: tuple[int, int] = (1, 1)) -> Cells:
    """Return the cells of some grids, or of a part of them, each once."""
    return merge((grid.block for grid in grids), shard)


def cells_left(cells: Cells, store: Store, save: bool = False) -> Remaining:
    """Return the cells that have no record, or no model where models are to be kept."""
    done: list[tuple[Place, int]] = [
        (record.place, record.seed)
        for record in store.records().values()
        if store.is_done(record, save)
    ]
    done += [(dispute.place, dispute.seed) for dispute in store.disputes.values()]
    return Remaining.of(cells, done)


def read_shard(text: str) -> tuple[int, int]:
    """Read ``"3/16"``, the third of sixteen parts.

    >>> read_shard("3/16")
    (3, 16)
    """
    part, slash, parts = text.partition("/")
    if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ParameterError(f"expected a shard as in 3/16, from 1/16 to 16/16, got {text!r}")
    return int(part), int(parts)
