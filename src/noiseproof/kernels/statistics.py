"""What a loss may know of a row besides log u: sums over the classes of a function of log p."""

from dataclasses import dataclass

import torch
from torch import Tensor

from noiseproof.kernels.state import leaf_of, recording


class Statistic:
    """sum_k f(log p_k); a subclass says f as :meth:`value`, elementwise.

    A pointwise loss l has the same two methods, so it serves as the statistic sum_k l(p_k).
    """

    def value(self, log_p: Tensor) -> Tensor:
        """Return f, elementwise, in operations that autograd knows."""
        raise NotImplementedError(f"{type(self).__name__} has to define value(log_p)")

    def with_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and df / dlog p, elementwise; by autograd unless a subclass knows better."""
        with recording():
            leaf = leaf_of(log_p)
            value = self.value(leaf)
            (slope,) = torch.autograd.grad(value.sum(), leaf)
        return value.detach(), slope

    def summed(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sum and -df / dlog p; a subclass may know a quicker way.

        p is at hand and stays as it is; log_p may be overwritten.
        """
        value, slope = self.with_slope(log_p)
        return value.sum(1, keepdim=True), slope.neg()


@dataclass(frozen=True)
class LogSum(Statistic):
    """sum_k log p_k: the cheapest, for its slope is 1 everywhere."""

    def value(self, log_p: Tensor) -> Tensor:
        """Return log p."""
        return log_p

    def with_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: 1."""
        return log_p, torch.ones_like(log_p)


@dataclass(frozen=True)
class PowerSum(Statistic):
    """sum_k p_k^s, s > 0."""

    s: float

    def value(self, log_p: Tensor) -> Tensor:
        """Return p^s."""
        return torch.exp(log_p * self.s)

    def with_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: s p^s."""
        power = (log_p * self.s).exp_()
        return power, power * self.s

    def summed(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """As :meth:`with_slope`; a square needs no exponential."""
        power = torch.mul(p, p, out=log_p) if self.s == 2 else log_p.mul_(self.s).exp_()
        return power.sum(1, keepdim=True), power.mul_(-self.s)
