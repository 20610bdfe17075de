"""The losses of an epoch, over all processes, and whether they are still numbers."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from noiseproof.train.machine import Machine


def are_numbers(state: Mapping[str, Tensor]) -> bool:
    """Return whether the state of a network is finite: its last step may have been one too far.

    >>> are_numbers({"weight": torch.ones(2)}), are_numbers({"bias": torch.tensor(torch.nan)})
    (True, False)
    """
    return all(bool(value.isfinite().all()) for value in state.values())


class Meter:
    """The losses of an epoch, looked at as rarely as the machine makes it wise."""

    def __init__(self, machine: Machine) -> None:
        """Look at every step on one CPU process; elsewhere it would stop the device to wait."""
        self.world = machine.world
        alone = machine.device.type == "cpu" and self.world.size == 1
        self.every = 1 if alone else 32
        self.waiting: list[Tensor] = []
        self.known: list[tuple[float, float]] = []

    def balanced(self, mean: Tensor, count: Tensor) -> Tensor:
        """Return the loss whose gradients, averaged over the processes, are the batch's."""
        if self.world.size == 1:
            return mean
        return mean * (count * self.world.size / self.world.sum(count).clamp_min(1))

    def add(self, mean: Tensor, count: Tensor) -> None:
        """Take in the loss of a step."""
        self.waiting.append(torch.stack([mean.double() * count, count.double()]))

    @property
    def due(self) -> bool:
        """Whether it is time to look."""
        return len(self.waiting) >= self.every

    @property
    def latest(self) -> float:
        """The mean loss of the last step looked at."""
        return self.known[-1][0] / max(self.known[-1][1], 1) if self.known else math.nan

    def finite(self) -> bool:
        """Look at all steps; tell whether every loss so far is finite, in every process."""
        if self.waiting:
            # A sum over processes that has a NaN is one: all of them stop at the same step.
            self.known += [(a, b) for a, b in self.world.sum(torch.stack(self.waiting)).tolist()]
            self.waiting = []
        return all(math.isfinite(total) for total, _ in self.known[-self.every :])

    @property
    def complaint(self) -> str:
        """The first loss that is not finite, and its step, from 1."""
        bad = ((i, t) for i, (t, _) in enumerate(self.known, 1) if not math.isfinite(t))
        step, loss = next(bad)
        return f"the loss is {loss} in step {step}"

    def mean(self) -> float:
        """Return the mean loss of the epoch, over the samples that counted."""
        return math.fsum(t for t, _ in self.known) / max(math.fsum(n for _, n in self.known), 1.0)
