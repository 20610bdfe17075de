"""Several runs at once: dense networks on the same inputs, which differ in loss and labels.

One matrix product serves them all. Each run is what :func:`noiseproof.train.loop.fit` makes of it
alone, up to rounding: its own initial weights, loss, noise, clipping and history. They share the
order of the samples, which is drawn by the seed, so the seed and the recipe must be the same.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from noiseproof.errors import ParameterError
from noiseproof.losses import Loss
from noiseproof.losses import loss as read_loss
from noiseproof.losses.own import is_shipped
from noiseproof.models.network import Network
from noiseproof.models.stack import DenseStack
from noiseproof.train.batches import Batches
from noiseproof.train.checkpoint import (
    UnfitError,
    load_checkpoint,
    restore,
    restoring,
    save_checkpoint,
)
from noiseproof.train.experiment import Experiment
from noiseproof.train.loop import Job
from noiseproof.train.machine import Machine
from noiseproof.train.meter import are_numbers
from noiseproof.train.method import Method, Term
from noiseproof.train.optimiser import make_optimiser
from noiseproof.train.outcome import Epoch, Outcome, shares
from noiseproof.train.progress import Watcher
from noiseproof.train.schedule import learning_rate
from noiseproof.train.streams import epoch_stream, torch_generator
from noiseproof.train.tensors import State

#: The networks that can be trained together.
NETWORKS = ("linear", "mlp")


def check_together(experiments: Sequence[Experiment]) -> None:
    """Raise ParameterError for runs that cannot share their batches."""
    first = experiments[0]
    for one in experiments:
        same = one.recipe.override(method=first.recipe.method) == first.recipe
        if not same or (one.seed, one.fingerprint) != (first.seed, first.fingerprint):
            raise ParameterError("runs at once have the same data, recipe and seed")
    if first.recipe.network not in NETWORKS or first.recipe.precision != "float32":
        raise ParameterError(f"only {' and '.join(NETWORKS)} in float32 are trained together")


def identity_together(experiments: Sequence[Experiment]) -> str:
    """Return the identities of runs at once: so a checkpoint says whose it is."""
    return " ".join(one.identity for one in experiments)


def run_together(
    experiments: Sequence[Experiment],
    machine: Machine,
    checkpoint: Path | None = None,
    watch: Watcher | None = None,
) -> list[tuple[Outcome, Network]]:
    """Train several experiments to the end; return what :meth:`Experiment.run` does for each.

    Args:
        experiments: of the same data, recipe and seed.
        machine: where to compute, in one process.
        checkpoint: the file to keep the state of all of them in after every epoch.
        watch: who is told of progress; it hears of the first one's epochs.
    """
    check_together(experiments)
    watch, identity = watch or Watcher(), identity_together(experiments)
    with machine.settled():
        first = experiments[0].job(machine)
        # The batches are the first one's: the others' are the same.
        jobs = [first, *(one.job(machine, like=first) for one in experiments[1:])]
        if first.recipe.held_out:
            checkpoint = None  # short, and in thousands: writing files would take longer
        state = checkpoint and load_checkpoint(checkpoint, identity, machine.device)

        def save(state: State) -> None:
            if checkpoint:
                save_checkpoint(checkpoint, identity, state)

        done = max(map(len, state["history"])) if state else 0
        watch.begin(first.recipe.epochs, len(first.train), done)
        try:
            outcomes = fit_together(jobs, state or None, save, watch)
        except UnfitError:
            raise UnfitError(checkpoint) from None
        finally:
            watch.end()
    return [(outcome, job.network) for outcome, job in zip(outcomes, jobs, strict=True)]  # type: ignore[misc]


def fit_together(
    jobs: Sequence[Job], state: State | None, save: Callable[[State], None], watch: Watcher
) -> list[Outcome]:
    """Train several jobs that share their batches; return what happened to each.

    The networks of the jobs have the trained weights afterwards.

    Args:
        jobs: of one recipe and seed, on one device.
        state: what ``save`` was given last in an earlier run, or None to begin.
        save: is called with the whole state after every epoch.
        watch: is told of progress.
    """
    recipe, seed, device = jobs[0].recipe, jobs[0].seed, jobs[0].machine.device
    stack = DenseStack([job.network for job in jobs]).to(device)  # type: ignore[misc]
    optimiser = make_optimiser(stack.parameters(), recipe)
    given, groups = torch.stack([job.given for job in jobs]), group_by_loss(jobs)
    failures, histories = [""] * len(jobs), [list[Epoch]() for _ in jobs]
    if state is not None:
        with restoring():
            failures, found = state["failures"], state["history"]
            alive = [index for index, why in enumerate(failures) if why == ""]
            restore(stack, state["stack"], optimiser, state["optimiser"], alive)
            histories = [job.resumed(rows) for job, rows in zip(jobs, found, strict=True)]
            done = {len(histories[index]) for index in alive}
            words = isinstance(failures, list) and all(isinstance(why, str) for why in failures)
            if not words or len(failures) != len(jobs) or done != {max(map(len, histories))}:
                raise UnfitError

    spent = 0.0  # in epochs that are not measured
    for epoch in range(max(map(len, histories)), recipe.epochs):
        started = time.perf_counter()
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(recipe, epoch)
        for job in jobs:
            job.method.start(epoch, torch_generator(epoch_stream(seed, _DRAWS, epoch), device))
        predicted = torch.full_like(given, -1)
        losses = _Losses(failures, epoch)
        stack.train()

        for batch in jobs[0].train.shuffled(seed, epoch):
            targets = given.index_select(1, batch.rows)
            logits = stack(batch.inputs)
            terms = [term for group in groups for term in group(logits, targets)]
            means = torch.stack([term.mean for term in terms])
            optimiser.zero_grad()
            torch.autograd.backward(means.sum())
            if recipe.clip:
                clip_each(list(stack.parameters()), recipe.clip)
            optimiser.step()
            predicted.index_copy_(1, batch.rows, logits.detach().argmax(2))
            losses.add(means.detach(), torch.stack([term.samples for term in terms]))
            watch.step(len(batch.rows), losses.latest)
            if all(failures):
                break

        if recipe.held_out and epoch + 1 < recipe.epochs:
            spent += time.perf_counter() - started
            continue
        for index, why in enumerate(failures):
            if not why and not are_numbers(stack.state(index)):
                failures[index] = f"a weight is not finite after epoch {epoch + 1}"
        tested = _accuracies(stack, jobs[0].test, jobs[0].answers)
        chosen_by: Sequence[float | None] = [None] * len(jobs)
        if jobs[0].held is not None:
            answers = torch.stack([job.held_given for job in jobs])  # type: ignore[misc]
            chosen_by = _accuracies(stack, jobs[0].held, answers)
        seconds = (time.perf_counter() - started + spent) / len(jobs)  # the share of each
        for index, job in enumerate(jobs):
            if not failures[index]:
                row = Epoch(
                    number=epoch + 1,
                    lr=learning_rate(recipe, epoch),
                    loss=losses.mean(index),
                    **shares(predicted[index], job.given, job.true, predicted[index] >= 0),
                    test_accuracy=tested[index],
                    seconds=seconds,
                    held_out=chosen_by[index],
                )
                histories[index].append(row)
        if all(failures):
            break
        save(
            {
                "stack": stack.state_dict(),
                "optimiser": optimiser.state_dict(),
                "failures": failures,
                "history": [[row.to_dict() for row in rows] for rows in histories],
            }
        )
        watch.epoch(
            next(rows[-1] for rows, why in zip(histories, failures, strict=True) if not why)
        )

    for index, job in enumerate(jobs):
        job.network.load_state_dict(stack.state(index))
    return [Outcome(tuple(rows), why) for rows, why in zip(histories, failures, strict=True)]


#: The stream that :func:`noiseproof.train.loop.fit` draws a method's numbers from.
_DRAWS = "method of process 0"


def clip_each(parameters: Sequence[nn.Parameter], most: float) -> None:
    """Scale the gradient of each network of a stack to a norm of at most ``most``.

    >>> one = nn.Parameter(torch.zeros(2, 2))
    >>> one.grad = torch.tensor([[3.0, 4.0], [0.3, 0.4]])
    >>> clip_each([one], 1.0)
    >>> one.grad
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    gradients = [p.grad.flatten(1) for p in parameters if p.grad is not None]
    norms = torch.stack([g.square().sum(1) for g in gradients]).sum(0).sqrt()
    scale = (most / (norms + 1e-6)).clamp_max(1.0)  # as torch's clip_grad_norm_ has it
    for gradient in gradients:
        gradient.mul_(scale[:, None])


@dataclass(frozen=True)
class Group:
    """Neighbours in a stack that minimise the same loss: it is computed once for all their rows.

    Args:
        jobs: the part of the stack.
        method: of the one job that has a method to itself.
        loss: of several jobs, for each row.
    """

    jobs: slice
    method: Method
    loss: Loss | None = None

    def __call__(self, logits: Tensor, targets: Tensor) -> Iterator[Term]:
        """Yield the term of each job."""
        own, target = logits[self.jobs], targets[self.jobs]
        if self.loss is None:
            yield self.method(own[0], target[0])
            return
        count = torch.tensor(target.shape[1], device=target.device)
        rows = self.loss(own.flatten(0, 1), target.flatten())
        yield from (Term(mean, count) for mean in rows.view(target.shape).mean(1))


def group_by_loss(jobs: Sequence[Job]) -> list[Group]:
    """Return the groups of a stack, in order.

    What draws random numbers is by itself, and so is a loss of the user's own: it may look at the
    whole batch, where rows of other runs have no business.
    """
    groups, start = [], 0
    for (text, alone), members in itertools.groupby(enumerate(jobs), _kind):
        size = len(list(members))
        method, alone = jobs[start].method, alone is not None or size == 1
        loss = None if alone else read_loss(text, reduction="none").to(jobs[start].machine.device)
        groups.append(Group(slice(start, start + size), method, loss))
        start += size
    return groups


def _kind(item: tuple[int, Job]) -> tuple[str, int | None]:
    index, job = item
    loss = job.method.loss
    alone = type(job.method) is not Method or loss.random or not is_shipped(loss)
    return str(loss), index if alone else None


class _Losses:
    """The losses of an epoch, by run, and which of them are no numbers any more."""

    def __init__(self, failures: list[str], epoch: int) -> None:
        self.failures, self.epoch, self.step = failures, epoch, 0
        self.totals: Tensor = torch.zeros(len(failures), dtype=torch.float64)
        self.counts = torch.zeros_like(self.totals)
        self.latest = math.nan

    def add(self, means: Tensor, counts: Tensor) -> None:
        self.step += 1
        means = means.double().cpu()
        self.totals += means * counts.cpu()
        self.counts += counts.cpu()
        self.latest = float(means[0])
        for index in (~torch.isfinite(means)).nonzero().flatten().tolist():
            where = f"step {self.step} of epoch {self.epoch + 1}"
            self.failures[index] = self.failures[index] or f"the loss is {means[index]} in {where}"

    def mean(self, index: int) -> float:
        return float(self.totals[index] / self.counts[index].clamp_min(1))


@torch.no_grad()
def _accuracies(stack: DenseStack, samples: Batches, answers: Tensor) -> list[float]:
    """Return the share of samples that each network gives its answer, (N,) or (H, N)."""
    stack.eval()
    right = torch.zeros(stack.count, dtype=torch.int64, device=answers.device)
    for batch in samples.in_order():
        expected = answers.index_select(-1, batch.rows)
        right += (stack(batch.inputs).argmax(2) == expected).sum(1)
    return [count / len(samples) for count in right.tolist()]
