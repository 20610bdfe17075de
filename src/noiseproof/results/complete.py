"""From an experiment to its record: run it, resume it, or find that it is done."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

from noiseproof.files import locked, write
from noiseproof.results.key import experiment_key
from noiseproof.results.model import save_model
from noiseproof.results.pack import pack
from noiseproof.results.record import Record
from noiseproof.results.run_files import (
    RunFiles,
    checkpoint_together,
    lock_file,
    records_together,
    without_torn,
)
from noiseproof.train import Experiment, Machine
from noiseproof.train.progress import Watcher
from noiseproof.train.together import identity_together, run_together


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
        resume: resume from a checkpoint; False starts over, and keeps a record that is there until
            the new one takes its place.
        save: keep the trained network beside the record.
    """
    machine = machine or Machine()
    if experiment.recipe.held_out:
        return complete_together([experiment], out, machine, watch, save=save)[0]
    files = RunFiles.of(out, experiment)
    with _alone(out, experiment, machine):
        if machine.world.is_main:
            if not resume:
                files.checkpoint.unlink(missing_ok=True)
            files.finished()  # sets a damaged record aside, before the others look
        machine.world.wait()
        record = files.finished() if resume else None
        machine.check_alike(record is not None)
        if record is not None and _is_whole(record, files, save):
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


def complete_together(
    experiments: Sequence[Experiment],
    out: Path,
    machine: Machine,
    watch: Watcher | None = None,
    *,
    save: bool = False,
) -> list[Record]:
    """Return the records of experiments that are trained at once.

    Until the records are written there is one checkpoint for all of them, which the same
    experiments resume from. A record that is there is kept. Where one of them is at work elsewhere,
    nothing is done: :class:`~noiseproof.errors.LockedError`.

    Args:
        experiments: of the same data, recipe and seed.
        out: where the files of runs are.
        machine: where to compute.
        watch: who is told of progress.
        save: keep the trained networks beside the records.
    """
    files = [RunFiles.of(out, one) for one in experiments]
    identity = identity_together(experiments)
    checkpoint = checkpoint_together(out, identity)
    with ExitStack() as locks:
        for one in experiments:
            locks.enter_context(_alone(out, one, machine))
        there = [own.finished() for own in files]
        found = [
            r if r and _is_whole(r, o, save) else None for r, o in zip(there, files, strict=True)
        ]
        if all(found):
            return [record for record in found if record]
        trained = without_torn(
            checkpoint, identity, lambda: run_together(experiments, machine, checkpoint, watch)
        )
        records = []
        for one, own, old, (outcome, network) in zip(
            experiments, files, found, trained, strict=True
        ):
            record = old or Record.of(one, outcome, machine)
            if save and not old and not outcome.failure:
                save_model(own.model, one, network, record)
            records.append(record)
        # All appear at once: without some of them, the others would be another stack, which begins
        # anew and rounds differently. Where the machine stops, Store.settle goes on from here.
        together = records_together(out, identity)
        if len(records) > 1:
            write(together, pack((record.to_dict() for record in records), quick=True))
        for own, old, record in zip(files, found, records, strict=True):
            if not old:
                record.write(own.record)
        together.unlink(missing_ok=True)
        checkpoint.unlink(missing_ok=True)
    return records


def _is_whole(record: Record, files: RunFiles, save: bool) -> bool:
    """Return whether nothing is left to do for a record's run."""
    return record.status == "failed" or not save or files.model.exists()


def _alone(
    out: Path, experiment: Experiment, machine: Machine
) -> AbstractContextManager[None, bool | None]:
    """Return the lock of a run, for the one process that writes."""
    if not machine.world.is_main:
        return nullcontext()
    what = f"{experiment.loss} on {experiment.dataset} with noise {experiment.noise}"
    return locked(lock_file(out, experiment_key(experiment)), f"{what}, seed {experiment.seed}")
