"""Clipped cross entropy."""

import math

import torch
from torch import Tensor

from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise


class ClippedCE(Pointwise):
    """Cross entropy made linear in u below t: its gradient in u never exceeds 1 / t.

    l(u) = -log u for u >= t, else -log t + (t - u) / t. OGC estimates t anew every 32 steps from a
    mixture of two kinds of -log u; here it is a parameter, and ``loss.t`` may be changed between
    steps.

    Args:
        t: the probability below which labels are not believed more.

    Reference:
        Ye et al., Optimized gradient clipping for noisy label learning, AAAI 2025.

    Example:
        >>> ClippedCE(t=0.5)(torch.zeros(1, 10), torch.tensor([3]))  # log 2 + 0.8
        tensor(1.4931)
    """

    t: float = parameter(default=0.1, above=0, at_most=1)

    def value(self, log_u: Tensor) -> Tensor:
        """Return -log u, or its tangent at t."""
        log_t = math.log(self.t)
        tangent = -log_t - torch.expm1((log_u - log_t).clamp_max(0))
        return torch.where(log_u >= log_t, -log_u, tangent)

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -1, or -u / t."""
        log_t = math.log(self.t)
        return self.value(log_u), torch.exp((log_u - log_t).clamp_max(0)).neg_()
