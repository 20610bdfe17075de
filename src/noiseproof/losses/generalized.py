"""Generalised cross entropy."""

import torch
from torch import Tensor

from noiseproof.kernels import scaled_expm1
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise


class GCE(Pointwise):
    """Generalised cross entropy, l(u) = (1 - u^q) / q: between CE (q -> 0) and MAE / 2 (q = 1).

    Reference:
        Zhang and Sabuncu, Generalized cross entropy loss, NeurIPS 2018.

    Example:
        >>> GCE(q=1)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.9000)
    """

    q: float = parameter(default=0.7, above=0, at_most=1)

    def value(self, log_u: Tensor) -> Tensor:
        """Return (1 - u^q) / q."""
        return scaled_expm1(log_u, self.q, -1 / self.q)

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -u^q."""
        return self.value(log_u), torch.mul(log_u, self.q).exp_().neg_()

    def summed(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Return (K - sum_k p_k^q) / q and p^q: one exponential for both."""
        if self.q < 0.05:  # the difference would lose digits
            return super().summed(log_p, p)
        power = log_p.mul_(self.q).exp_()
        total = power.sum(1, keepdim=True)
        return total.neg_().add_(p.shape[1]).div_(self.q), power
