"""The objective of a stack of heads: each has its own loss, and equal ones are computed at once."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof import losses
from noiseproof.learn.learner import Floats, Problem, Task
from noiseproof.losses import Loss


class _Group(NamedTuple):
    members: list[int]
    loss: Loss
    factor: float
    targets: list[Floats]
    transitions: Tensor | None


class Objective:
    """The tasks' losses, each a weighted mean over its own rows.

    Args:
        problem: the rows.
        tasks: the heads, H of them.
        loss: a loss that all of them minimise instead of their own.
    """

    def __init__(self, problem: Problem, tasks: Sequence[Task], loss: str | None = None) -> None:
        self.labels, self.classes = torch.from_numpy(problem.labels), problem.classes
        weights = torch.from_numpy(np.stack([task.weights for task in tasks])).double()
        # (N, H): each head's rows count 1 in total, however many of them are held out.
        self.shares = (weights / weights.sum(1, keepdim=True).clamp_min(1e-30)).t()
        self.names = [loss or task.learner.loss or "CE" for task in tasks]
        self.tasks = tasks

    def __call__(self, z: Tensor, rows: NDArray[np.int64] | slice, heads: Sequence[int]) -> Tensor:
        """Return (h,): the part of each head's mean loss that comes from some rows.

        Args:
            z: (h, B, K) logits.
            rows: the B rows.
            heads: the indices of the h tasks.
        """
        labels = self.labels[rows]
        shares = self.shares[rows][:, list(heads)].t().to(z.dtype)
        out = [z.new_zeros(())] * len(heads)
        for group in self._groups(heads):
            part = z if len(group.members) == len(heads) else z[group.members]
            if group.transitions is not None:
                # Log-probabilities serve as logits: softmax returns the probabilities.
                noisy = torch.bmm(torch.softmax(part, -1), group.transitions.to(z.dtype))
                part = torch.log(noisy + 1e-12)
            if group.targets:
                target = torch.from_numpy(np.stack([t[rows] for t in group.targets])).to(z.dtype)
                target = target.view(-1, self.classes)
            else:
                target = labels.repeat(len(group.members))
            loss = group.loss(part.reshape(-1, self.classes), target).view(part.shape[:2])
            sums = (loss * shares[group.members]).sum(1) * group.factor
            for member, total in zip(group.members, sums.unbind(), strict=True):
                out[member] = total
        return torch.stack(out)

    def _groups(self, heads: Sequence[int]) -> list[_Group]:
        alike: dict[tuple[str, bool, bool], list[int]] = {}
        for at, head in enumerate(heads):
            task = self.tasks[head]
            key = (self.names[head], task.targets is None, task.transition is None)
            alike.setdefault(key, []).append(at)
        groups = []
        for (name, *_), members in alike.items():
            tasks = [self.tasks[heads[at]] for at in members]
            targets = [t for task in tasks if (t := task.targets) is not None]
            noise = [t for task in tasks if (t := task.transition) is not None]
            transitions = torch.from_numpy(np.stack(noise)) if noise else None
            made, factor = unit_slope(name, self.classes)
            groups.append(_Group(members, made, factor, targets, transitions))
        return groups


@cache
def unit_slope(name: str, classes: int) -> tuple[Loss, float]:
    """Return the per-row loss, and the factor that makes its steepest slope 1, as CE's is.

    This makes a weight decay equally strong against every loss.

    >>> _, factor = unit_slope("MAE", classes=2)  # 2 - 2u is steepest at u = 1/2: 2 u (1 - u)
    >>> round(factor, 3)
    2.0
    """
    loss = losses.loss(name, reduction="none")
    t = torch.linspace(-20, 20, 401)
    z = torch.zeros(len(t), classes)
    z[:, 0] = t
    z.requires_grad_()
    (gradient,) = torch.autograd.grad(loss(z, torch.zeros(len(t), dtype=torch.int64)).sum(), z)
    steepest = float(gradient[:, 0].abs().max())
    return loss, 1 / steepest if steepest > 0 else 1.0
