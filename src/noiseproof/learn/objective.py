"""What a stack of heads minimises: each its own loss, those that are alike computed at once."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.losses import CE, Loss

Floats = NDArray[Any]


@dataclass(frozen=True)
class Task:
    """One head to train.

    Args:
        loss: what to minimise.
        weights: (N,) what each row counts; 0 for a row held out.
        decay: half of it times the sum of the squared weights is added to the loss.
        targets: (N, K) class probabilities to train with instead of the labels.
        transition: (K, K) noise that the head's probabilities go through before the loss.
        start: which of the random starts a hidden layer has.
    """

    loss: Loss
    weights: Floats
    decay: float = 1e-3
    targets: Floats | None = None
    transition: NDArray[np.float64] | None = None
    start: int = 0


class _Group(NamedTuple):
    members: list[int]
    loss: Loss
    factor: float
    targets: list[Floats]
    transitions: Tensor | None


class Objective:
    """The sum of the tasks' losses over a batch."""

    def __init__(self, labels: NDArray[np.int64], classes: int, tasks: Sequence[Task]) -> None:
        self.labels, self.classes = torch.from_numpy(labels), classes
        weights = torch.from_numpy(np.stack([task.weights for task in tasks]))
        # Each head's rows count 1 in the mean, however many of them are held out.
        self.weights = weights * (len(labels) / weights.sum(1, keepdim=True).clamp_min(1e-30))
        self.decay = torch.tensor([task.decay for task in tasks])
        self.groups = _groups(tasks, classes)
        # Heads that differ in their loss alone are one group as long as all use cross entropy.
        self.warm_groups = _groups(
            [Task(CE(), t.weights, t.decay, t.targets, t.transition) for t in tasks], classes
        )

    def __call__(self, z: Tensor, chosen: NDArray[np.int64], warm: bool) -> Tensor:
        """Return the loss of logits (B, H, K) for the rows ``chosen``."""
        index = torch.from_numpy(chosen)
        labels, weights = self.labels[index], self.weights[:, index].to(z.dtype)
        total = z.new_zeros(())
        for group in self.warm_groups if warm else self.groups:
            part = z.transpose(0, 1)
            if len(group.members) < z.shape[1]:
                part = part[group.members]
            if group.transitions is not None:
                # Log-probabilities are logits: their softmax is themselves.
                noisy = torch.bmm(torch.softmax(part, -1), group.transitions.to(z.dtype))
                part = torch.log(noisy + 1e-12)
            if group.targets:
                target = torch.from_numpy(np.stack([t[chosen] for t in group.targets]))
                target = target.view(-1, self.classes)
            else:
                target = labels.repeat(len(group.members))
            rows = group.loss(part.reshape(-1, self.classes), target)
            total = (
                total + group.factor * (rows.view(part.shape[:2]) * weights[group.members]).sum()
            )
        return total / len(chosen)


def _groups(tasks: Sequence[Task], classes: int) -> list[_Group]:
    alike: dict[tuple[str, bool, bool], list[int]] = {}
    for i, task in enumerate(tasks):
        key = (str(task.loss), task.targets is None, task.transition is None)
        alike.setdefault(key, []).append(i)
    groups = []
    for members in alike.values():
        loss, factor = unit_slope(tasks[members[0]].loss, classes)
        targets = [t for i in members if (t := tasks[i].targets) is not None]
        noise = [t for i in members if (t := tasks[i].transition) is not None]
        transitions = torch.from_numpy(np.stack(noise)) if noise else None
        groups.append(_Group(members, loss, factor, targets, transitions))
    return groups


def unit_slope(loss: Loss, classes: int) -> tuple[Loss, float]:
    """Return the loss of each row, and the factor that makes its steepest slope that of CE, 1.

    So the same weight decay is as strong against every loss.

    >>> from noiseproof.losses import MAE
    >>> _, factor = unit_slope(MAE(), classes=2)  # 2 - 2u is steepest at u = 1/2: 2 u (1 - u)
    >>> round(factor, 3)
    2.0
    """
    rows = copy.deepcopy(loss)  # the caller's keeps its own reduction
    rows.reduction = "none"
    t = torch.linspace(-20, 20, 401)
    z = torch.zeros(len(t), classes)
    z[:, 0] = t
    z.requires_grad_()
    (gradient,) = torch.autograd.grad(rows(z, torch.zeros(len(t), dtype=torch.int64)).sum(), z)
    steepest = float(gradient[:, 0].abs().max())
    return rows, 1 / steepest if steepest > 0 else 1.0
