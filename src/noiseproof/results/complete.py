"""From an experiment to its record: run it, resume it, or find that it is done."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from noiseproof.files import locked
from noiseproof.results.key import experiment_key
from noiseproof.results.model import save_model
from noiseproof.results.record import Record
from noiseproof.results.run_files import RunFiles, lock_file
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
    """Return the record of an experiment, after training whatever is left to train.

    Until the record is written there is a checkpoint under ``out``; killed at any moment and
    called again, this resumes and ends with the same record. Two processes never work on one run:
    the second gets :class:`~noiseproof.errors.LockedError`.

    Args:
        experiment: what to run.
        out: where the files of runs are.
        machine: where to compute; the CPU without one.
        watch: who is told of progress.
        resume: resume from a checkpoint; False starts over.
        save: keep the trained network beside the record.
    """
    machine = machine or Machine()
    files = RunFiles.of(out, experiment)
    with _alone(out, experiment, machine):
        if not resume and machine.world.is_main:
            files.clear()
        machine.world.wait()
        record = files.finished()
        machine.world.wait()
        if record is not None and (record.status == "failed" or not save or files.model.exists()):
            if machine.world.is_main:  # of a run that stopped right after its record was written
                files.checkpoint.unlink(missing_ok=True)
            return record
        outcome, network = experiment.run(machine, files.checkpoint, watch)
        record = Record.of(experiment, outcome, machine)
        if machine.world.is_main:
            if save and not outcome.failure:
                save_model(files.model, experiment, network, record)
            record.write(files.record)
            files.checkpoint.unlink(missing_ok=True)
    return record


def _alone(
    out: Path, experiment: Experiment, machine: Machine
) -> AbstractContextManager[None, bool | None]:
    """Return the lock of a run, for the one process that writes."""
    if not machine.world.is_main:
        return nullcontext()
    what = f"{experiment.loss} on {experiment.dataset} with noise {experiment.noise}"
    return locked(lock_file(out, experiment_key(experiment)), f"{what}, seed {experiment.seed}")
