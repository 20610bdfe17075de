"""From an experiment to its record: run it, take it up again, or find that it is done."""

from pathlib import Path

from noiseproof.results.folder import RunFolder
from noiseproof.results.model import save_model
from noiseproof.results.record import Record
from noiseproof.train import Experiment, Machine
from noiseproof.train.progress import Watcher


def complete(
    experiment: Experiment,
    out: Path,
    machine: Machine | None = None,
    watch: Watcher | None = None,
    *,
    resume: bool = True,
    save: bool = False,
) -> Record:
    """Return the record of an experiment, training whatever of it is still to be trained.

    The folder of the run, under ``out``, holds a checkpoint until the record is written; killed
    at any moment and called again, this ends with the same record.

    Args:
        experiment: what to run.
        out: where the folders of runs are.
        machine: where to compute; the CPU without one.
        watch: who is told of progress.
        resume: go on with what is there; False begins anew.
        save: keep the trained network beside the record.
    """
    machine = machine or Machine()
    folder = RunFolder.of(out, experiment)
    if not resume and machine.world.is_main:
        folder.clear()
    machine.world.wait()
    record = folder.finished()
    machine.world.wait()
    if record is not None and (record.status == "failed" or not save or folder.model.exists()):
        return record
    outcome, network = experiment.run(machine, folder.checkpoint, watch)
    record = Record.of(experiment, outcome, machine)
    if machine.world.is_main:
        if save and not outcome.failure:
            save_model(folder.model, experiment, network, record)
        record.write(folder.record)
        folder.checkpoint.unlink(missing_ok=True)
    return record
