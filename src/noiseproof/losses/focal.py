"""Focal loss."""

from typing import ClassVar

import torch
from torch import Tensor

from noiseproof.kernels import least_divisor, scaled_expm1
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise


class FL(Pointwise):
    """Focal loss, l(u) = (1 - u)^gamma (-log u).

    Args:
        gamma: how much less the samples count that are fitted already; 0 is cross entropy.
        detach: take (1 - u)^gamma as a constant in the gradient, as the code released with the
            paper does.

    Reference:
        Lin et al., Focal loss for dense object detection, ICCV 2017.

    Example:
        >>> FL(gamma=0)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(2.3026)
    """

    gamma: float = parameter(default=0.5, at_least=0)
    detach: bool = parameter(default=False)

    bounded: ClassVar[bool] = False

    def value(self, log_u: Tensor) -> Tensor:
        """Return (1 - u)^gamma (-log u)."""
        weight = _wrong(log_u).pow(self.gamma)
        return -(log_u * (weight.detach() if self.detach else weight))

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: (1 - u)^gamma (gamma u log u / (1 - u) - 1)."""
        # In place where it can be: on many classes each new array costs more than its numbers.
        wrong = scaled_expm1(log_u, 1, -1).clamp_min_(least_divisor(log_u.dtype))
        weight = wrong.pow(self.gamma)
        value = torch.mul(log_u, weight).neg_()
        if self.detach:
            return value, weight.neg_()
        # u / (1 - u) from 1 - u alone: where u is near 0 the slope is -1 and the error is nothing.
        odds = wrong.reciprocal_().sub_(1)
        # The product first: the odds alone times gamma would overflow.
        return value, weight.neg_().sub_(odds.mul_(value), alpha=self.gamma)

    def summed(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Return sum_k l(p_k) and minus the slopes, from p and with no exponential more."""
        # 1 - p, kept off 0 by half an epsilon, which is as well as a float32 log p knows it.
        wrong = torch.rsub(p, 1, alpha=1 - torch.finfo(p.dtype).eps / 2)
        weight = _power(wrong, self.gamma)
        value = log_p.mul_(weight)
        total = value.sum(1, keepdim=True).neg_()
        if self.detach:
            return total, weight
        return total, weight.sub_(torch.div(p, wrong, out=wrong).mul_(value), alpha=self.gamma)


def _power(x: Tensor, gamma: float) -> Tensor:
    # pow has fast ways for a few powers; for others this takes a third of its time.
    return x.pow(gamma) if gamma in (0, 0.5, 1, 2, 3) else torch.log(x).mul_(gamma).exp_()


def _wrong(log_u: Tensor) -> Tensor:
    # 1 - u, kept off 0: there (1 - u)^gamma has no finite slope, though the loss has (it is 0).
    # A constant there: its slope of a slope, in log u, would be too large for a p that is not 0.
    return scaled_expm1(log_u, 1, -1).clamp_min(least_divisor(log_u.dtype))
