"""The training loop, to be read from top to bottom."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from noiseproof.train.batches import Batches
from noiseproof.train.checkpoint import restore, restore_scaler, restoring
from noiseproof.train.machine import DTYPES, Machine
from noiseproof.train.meter import Meter, are_numbers
from noiseproof.train.method import Method
from noiseproof.train.optimiser import make_optimiser
from noiseproof.train.outcome import Epoch, Outcome, shares
from noiseproof.train.possible import Run, check_history
from noiseproof.train.progress import Watcher
from noiseproof.train.recipe import Recipe
from noiseproof.train.schedule import learning_rate
from noiseproof.train.streams import epoch_stream, torch_generator
from noiseproof.train.tensors import State


@dataclass(frozen=True)
class Job:
    """What the loop works on.

    Args:
        network: as drawn, on the machine already.
        method: what to minimise.
        recipe: how.
        seed: of the order, the augmentation and the method's own draws.
        train: the training set.
        given: (N,) the labels to train with.
        true: (N,) the true ones, to measure by and never trained with.
        test: the test set.
        answers: (M,) its labels.
        machine: where.
        held: the samples that were held back, and
        held_given: (H,) their noisy labels.
    """

    network: nn.Module
    method: Method
    recipe: Recipe
    seed: int
    train: Batches
    given: Tensor
    true: Tensor
    test: Batches
    answers: Tensor
    machine: Machine
    held: Batches | None = None
    held_given: Tensor | None = None

    def resumed(self, rows: Sequence[Mapping[str, Any]]) -> list[Epoch]:
        """Return the epochs in a checkpoint; raise DataError for those no such run has."""
        wrong = int((self.given != self.true).sum())
        samples = len(self.given), len(self.answers)
        check_history(rows, Run(self.recipe, *samples, wrong / samples[0]), whole=False)
        return [Epoch(**row) for row in rows]


def fit(job: Job, state: State | None, save: Callable[[State], None], watch: Watcher) -> Outcome:
    """Train, and return what happened.

    Args:
        job: what to train, on what, how.
        state: what ``save`` was given last in an earlier run, or None to begin.
        save: is called with the whole state after every epoch.
        watch: is told of progress.
    """
    recipe, machine, world = job.recipe, job.machine, job.machine.world
    forward = machine.forward(job.network)
    weights = list(job.network.parameters())
    optimiser = make_optimiser(weights, recipe)
    scaler = torch.amp.GradScaler(machine.device.type, enabled=recipe.precision == "float16")
    history: list[Epoch] = []
    if state is not None:
        with restoring():
            restore(job.network, state["network"], optimiser, state["optimiser"])
            restore_scaler(scaler, state["scaler"])
            history = job.resumed(state["history"])

    for epoch in range(len(history), recipe.epochs):
        started = time.perf_counter()
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(recipe, epoch)
        numbers = epoch_stream(job.seed, f"method of process {world.rank}", epoch)
        job.method.start(epoch, torch_generator(numbers, machine.device))
        predicted = torch.full_like(job.given, -1)
        losses = Meter(machine)
        job.network.train()

        for batch in job.train.shuffled(job.seed, epoch):
            target = job.given.index_select(0, batch.rows)
            with autocast(machine, recipe):
                logits = forward(batch.inputs)
            term = job.method(logits, target)
            optimiser.zero_grad()
            torch.autograd.backward(scaler.scale(losses.balanced(term.mean, term.samples)))
            if recipe.clip:
                scaler.unscale_(optimiser)
                nn.utils.clip_grad_norm_(weights, recipe.clip)
            scaler.step(optimiser)
            scaler.update()
            predicted.index_copy_(0, batch.rows, logits.detach().argmax(1))
            losses.add(term.mean.detach(), term.samples)
            if losses.due and not losses.finite():
                break
            watch.step(len(target) * world.size, losses.latest)

        if not losses.finite():
            return Outcome(tuple(history), f"{losses.complaint} of epoch {epoch + 1}")
        if not are_numbers(job.network.state_dict()):
            return Outcome(tuple(history), f"a weight is not finite after epoch {epoch + 1}")
        # Every sample was with one process: the others' -1 make the sum that sample's class.
        predicted = world.sum(predicted + 1) - 1
        chosen_by = None
        if job.held is not None and job.held_given is not None and epoch + 1 == recipe.epochs:
            chosen_by = accuracy(job, job.held, job.held_given)
        row = Epoch(
            number=epoch + 1,
            lr=learning_rate(recipe, epoch),
            loss=losses.mean(),
            **shares(predicted, job.given, job.true, predicted >= 0),
            test_accuracy=accuracy(job, job.test, job.answers),
            seconds=time.perf_counter() - started,
            held_out=chosen_by,
        )
        history.append(row)
        save(
            {
                "network": job.network.state_dict(),
                "optimiser": optimiser.state_dict(),
                "scaler": scaler.state_dict(),
                "history": [row.to_dict() for row in history],
            }
        )
        watch.epoch(row)
    return Outcome(tuple(history))


def autocast(machine: Machine, recipe: Recipe) -> Any:
    """Return the context to compute the network in."""
    # Narrow copies of the weights would be kept until the outermost such context ends, which is
    # around the whole run (Machine.settled): they would outlive the step that changes the weights.
    return torch.autocast(
        machine.device.type,
        DTYPES.get(recipe.precision),
        enabled=recipe.precision != "float32",
        cache_enabled=False,
    )


@torch.no_grad()
def accuracy(job: Job, samples: Batches, answers: Tensor) -> float:
    """Return the share of samples that the network gives its answer."""
    job.network.eval()
    right = torch.zeros((), dtype=torch.int64, device=job.machine.device)
    for batch in samples.in_order():
        with autocast(job.machine, job.recipe):
            logits = job.network(batch.inputs)
        right += (logits.argmax(1) == answers.index_select(0, batch.rows)).sum()
    return int(job.machine.world.sum(right)) / len(samples)
