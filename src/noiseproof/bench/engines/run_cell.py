"""From a cell to its record, in any process on any machine."""

from pathlib import Path

from noiseproof.bench.cell import Cell
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.stack import Stack
from noiseproof.bench.source import load_data
from noiseproof.errors import DataError
from noiseproof.results import Record, RunFiles, complete, complete_together
from noiseproof.results.key import experiment_key
from noiseproof.results.run_files import without_torn
from noiseproof.train import Experiment, Machine, pick_device, prepare
from noiseproof.train.progress import Watcher


def run_cell(cell: Cell, out: Path, settings: Settings, watch: Watcher | None = None) -> Record:
    """Return the record of a cell: found under ``out``, or trained now, from a checkpoint if any.

    The data set stays in memory for the next cell. It takes one thread: cells run side by side.
    """
    experiment = _experiment(cell, settings)
    checkpoint, machine = RunFiles.of(out, experiment).checkpoint, _machine(settings)
    return without_torn(
        checkpoint,
        experiment.identity,
        lambda: complete(experiment, out, machine, watch, save=settings.save),
    )


def run_stack(
    stack: Stack, out: Path, settings: Settings, watch: Watcher | None = None
) -> list[Record]:
    """Return the records of cells that are trained at once."""
    first = _experiment(stack.cells[0], settings)
    by_noise = {stack.cells[0].noise: first}
    experiments = []
    for cell in stack.cells:
        one = _experiment(cell, settings, like=by_noise.get(cell.noise, first))
        by_noise.setdefault(cell.noise, one)
        experiments.append(one)
    return complete_together(experiments, out, _machine(settings), watch, save=settings.save)


def _machine(settings: Settings) -> Machine:
    return Machine(pick_device(settings.device), threads=1)


def _experiment(cell: Cell, settings: Settings, like: Experiment | None = None) -> Experiment:
    """Draw the data and the noise of a cell, which must be those that the grid was made of."""
    for file in settings.losses:
        file.record()
    whole = load_data(cell.dataset, settings.data, cell.fingerprint, cell.label, cell.encoder)
    experiment = prepare(whole, cell.recipe, cell.loss, cell.noise, cell.seed, settings.data, like)
    if experiment_key(experiment) != cell.key:
        raise DataError(
            f"{cell.dataset} or its noise is not what the grid was made of: it changed since, or "
            "it is not the published data"
        )
    return experiment
