"""The infimum of a function of two probabilities u1, u2 with u1 + u2 <= 1, at every scale."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

_WIDEST = 500.0
_NODES = 91
_KEPT = 6
_ZOOMS = 9


@dataclass(frozen=True)
class Masses:
    """u1, u2 and the rest 1 - u1 - u2 as a softmax of (alpha, beta, 0).

    So each of the three can be tiny against the others and none loses a digit.
    """

    alpha: Tensor
    beta: Tensor

    @cached_property
    def log_u1(self) -> Tensor:
        """log u1."""
        return logsigmoid(self.logit_u1)

    @cached_property
    def log_u2(self) -> Tensor:
        """log u2."""
        return logsigmoid(self.beta - softplus_exact(self.alpha))

    @cached_property
    def log_sum(self) -> Tensor:
        """log(u1 + u2)."""
        return logsigmoid(torch.logaddexp(self.alpha, self.beta))

    @cached_property
    def logit_u1(self) -> Tensor:
        """log(u1 / (1 - u1))."""
        return self.alpha - softplus_exact(self.beta)

    @cached_property
    def logit_step(self) -> Tensor:
        """How far the logit of u1 moves when u2 is added to it: exact where u2 is tiny."""
        return softplus_exact(self.beta - self.alpha) + softplus_exact(self.beta)


def softplus_exact(x: Tensor) -> Tensor:
    """Return log(1 + e^x), with e^-x kept for large x."""
    return softplus(x, threshold=50)


def infimum(objective: Callable[[Masses], Tensor], reach: float) -> float:
    """Return the least value of ``objective`` over the triangle: a grid, then zooms on its best.

    The grid is uniform in tau, alpha = sinh(tau): fine where the masses are comparable, and out
    to e^-500 where they are not; but u1 and u2 stay above e^-reach. Places where the objective
    is not a number do not count.
    """
    top = math.asinh(_WIDEST)
    tau = torch.linspace(-top, top, _NODES, dtype=torch.float64)
    grid = torch.cartesian_prod(tau, tau)
    value = _evaluate(objective, grid, reach)
    half = float(tau[1] - tau[0])
    seeds = grid[_local_minima(value)]
    best = float(value.min())
    offsets = torch.linspace(-1, 1, 7, dtype=torch.float64)
    window = torch.cartesian_prod(offsets, offsets)
    for _ in range(_ZOOMS):
        points = (seeds[:, None, :] + half * window).clamp(-top, top)
        value = _evaluate(objective, points.reshape(-1, 2), reach).reshape(len(seeds), -1)
        least, where = value.min(1)
        seeds = points[torch.arange(len(seeds)), where]
        best = min(best, float(least.min()))
        half /= 2.5
    return best


def _local_minima(value: Tensor) -> Tensor:
    """Return the best grid points that no neighbour is below, and the best of all."""
    square = value.reshape(_NODES, _NODES)
    around = -torch.nn.functional.max_pool2d(-square[None], 3, stride=1, padding=1)[0]
    local = torch.where(square <= around, square, torch.inf).flatten()
    return local.topk(_KEPT, largest=False).indices


def _evaluate(objective: Callable[[Masses], Tensor], tau: Tensor, reach: float) -> Tensor:
    alpha, beta = torch.sinh(tau).unbind(-1)
    masses = Masses(alpha, beta)
    inside = (masses.log_u1 >= -reach) & (masses.log_u2 >= -reach)
    value = torch.full_like(alpha, torch.inf)
    value[inside] = objective(Masses(alpha[inside], beta[inside]))
    return value.nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)
