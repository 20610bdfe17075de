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
        shares = (weights / weights.sum(1, keepdim=True).clamp_min(1e-30)).t()
        self.shares = shares.contiguous()
        self.names = [loss or task.learner.loss or "CE" for task in tasks]
        self.tasks = tasks
        self._made: dict[tuple[int, ...], list[_Group]] = {}

    def slope(
        self, z: Tensor, rows: NDArray[np.int64] | slice, heads: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        """Return (h,), the part of each head's mean loss that some rows add, and its gradient.

        Args:
            z: (h, B, K) logits.
            rows: the B rows.
            heads: the indices of the h tasks.
        """
        labels, shares = self.labels[rows], self.shares[rows]
        if len(heads) < shares.shape[1]:
            shares = shares[:, list(heads)]
        shares = shares.t().to(z.dtype)
        value, gradient = z.new_empty(len(heads)), z.new_empty(z.shape)
        for group in self._groups(heads):
            whole = len(group.members) == len(heads)
            part, share = (z, shares) if whole else (z[group.members], shares[group.members])
            target = labels.expand(part.shape[:2])
            if group.targets:
                target = torch.from_numpy(np.stack([t[rows] for t in group.targets])).to(z.dtype)
            closed = group.loss.is_cross_entropy and group.transitions is None
            found = (_cross_entropy if closed else self._by_autograd)(part, target, share, group)
            if whole:
                return found
            value[group.members], gradient[group.members] = found
        return value, gradient

    def _by_autograd(
        self, z: Tensor, target: Tensor, share: Tensor, group: _Group
    ) -> tuple[Tensor, Tensor]:
        z = z.detach().requires_grad_()
        scores = z
        if group.transitions is not None:
            # Log-probabilities serve as logits: softmax returns the probabilities.
            noisy = torch.bmm(torch.softmax(z, -1), group.transitions.to(z.dtype))
            scores = torch.log(noisy + 1e-12)
        target = target.reshape(-1, self.classes) if group.targets else target.reshape(-1)
        loss = group.loss(scores.reshape(-1, self.classes), target).view(z.shape[:2])
        sums = (loss * share).sum(1) * group.factor
        (gradient,) = torch.autograd.grad(sums.sum(), z)
        return sums.detach(), gradient

    def _groups(self, heads: Sequence[int]) -> list[_Group]:
        asked = tuple(heads)
        if asked in self._made:
            return self._made[asked]
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
        self._made[asked] = groups
        return groups


def _cross_entropy(
    z: Tensor, target: Tensor, share: Tensor, group: _Group
) -> tuple[Tensor, Tensor]:
    """Return the value and the gradient of cross entropy, p - t, without autograd."""
    log_p = torch.log_softmax(z, -1)
    if group.targets:
        each = -(target * log_p).sum(-1)
        gradient = log_p.exp_().mul_(target.sum(-1, keepdim=True)).sub_(target)
    else:
        index = target.unsqueeze(-1)
        each = -log_p.gather(-1, index).squeeze(-1)
        gradient = log_p.exp_().scatter_add_(
            -1, index, z.new_full((1, 1, 1), -1).expand(index.shape)
        )
    return (each * share).sum(1) * group.factor, gradient.mul_((share * group.factor).unsqueeze(-1))


@cache
def unit_slope(name: str, classes: int) -> tuple[Loss, float]:
    """Return the per-row loss, and the factor that makes its steepest slope 1, as CE's is.

    This makes a weight decay equally strong against every loss.

    >>> _, factor = unit_slope("MAE", classes=2)  # 2 - 2u is steepest at u = 1/2: 2 u (1 - u)
    >>> round(factor, 3)
    2.0
    """
    loss = losses.loss(name, reduction="none")
    t = torch.linspace(-20, 20, 401, dtype=torch.float32)
    z = t.new_zeros(len(t), classes)
    z[:, 0] = t
    z.requires_grad_()
    (gradient,) = torch.autograd.grad(loss(z, torch.zeros(len(t), dtype=torch.int64)).sum(), z)
    steepest = float(gradient[:, 0].abs().max())
    return loss, 1 / steepest if steepest > 0 else 1.0
