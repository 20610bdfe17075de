"""From a cell to its record, in any process on any machine."""

from pathlib import Path

from noiseproof.bench.cell import Cell
from noiseproof.bench.engine import Settings
from noiseproof.bench.source import load_data
from noiseproof.errors import DataError
from noiseproof.results import Record, RunFiles, complete
from noiseproof.results.key import experiment_key
from noiseproof.results.run_files import set_aside
from noiseproof.train import Experiment, Machine, pick_device, prepare
from noiseproof.train.checkpoint import read_tensors
from noiseproof.train.progress import Watcher


def run_cell(cell: Cell, out: Path, settings: Settings, watch: Watcher | None = None) -> Record:
    """Return the record of a cell: found under ``out``, or trained now, from a checkpoint if any.

    The data set stays in memory for the next cell. It takes one thread: cells run side by side.
    """
    whole = load_data(cell.dataset, settings.data, cell.fingerprint, cell.label)
    experiment = prepare(whole, cell.recipe, cell.loss, cell.noise, cell.seed, settings.data)
    if experiment_key(experiment) != cell.key:
        raise DataError(
            f"{cell.dataset} or its noise is not what the grid was made of: it changed since, or "
            "it is not the published data"
        )
    _forget_torn_checkpoint(RunFiles.of(out, experiment).checkpoint, experiment)
    machine = Machine(pick_device(settings.device), threads=1)
    return complete(experiment, out, machine, watch, save=settings.save)


def _forget_torn_checkpoint(path: Path, experiment: Experiment) -> None:
    """Set aside a checkpoint that cannot be read: nobody restarts single cells by hand."""
    if path.exists():
        state = read_tensors(path)
        if not state or state.get("identity") != experiment.identity:
            set_aside(path)
