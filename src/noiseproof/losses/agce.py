"""Asymmetric generalised cross entropy."""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from noiseproof.kernels import scaled_expm1
from noiseproof.losses.parameter import checked, parameter
from noiseproof.losses.pointwise import Pointwise
from noiseproof.losses.thresholds import ratio_needed


class AGCE(Pointwise):
    """Asymmetric generalised cross entropy, l(u) = ((a + 1)^q - (a + u)^q) / q.

    Completely asymmetric for q >= 1; for q < 1 convex, with asymmetry ratio (a / (a + 1))^(1 - q)
    (Corollary 1). At a = 0 it would be GCE.

    Args:
        a: the shift; for q < 1, more of it is more tolerance and less fitting.
        q: the power.

    Example:
        >>> import noiseproof as nf
        >>> nf.asymmetry_ratio(AGCE(a=1, q=0.5))  # 1 / sqrt 2
        0.707...
    """

    a: float = parameter(above=0)
    q: float = parameter(above=0)

    def value(self, log_u: Tensor) -> Tensor:
        """Return ((a + 1)^q - (a + u)^q) / q."""
        top = math.pow(self.a + 1, self.q)
        return scaled_expm1(self._log_ratio(log_u), self.q, -top / self.q)

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -u (a + u)^(q - 1)."""
        log_ratio = self._log_ratio(log_u)
        slope = torch.add(log_u, log_ratio, alpha=self.q - 1).exp_()
        top = math.pow(self.a + 1, self.q)
        value = scaled_expm1(log_ratio, self.q, -top / self.q)
        return value, slope.mul_(-top / (self.a + 1))

    def _log_ratio(self, log_u: Tensor) -> Tensor:
        # log((a + u) / (a + 1)) to full precision: from u = 1 for a large shift, where a + u
        # would lose u, and from log u for a small one, where u matters down to the size of a.
        if self.a >= 0.5:
            return torch.log1p(scaled_expm1(log_u, 1, 1 / (self.a + 1)))
        log_a = math.log(self.a)
        return softplus(log_u - log_a, threshold=50) + (log_a - math.log1p(self.a))

    def asymmetry_ratio(self) -> float:
        """Return r in closed form (Corollary 1)."""
        return min(1.0, math.pow(self.a / (self.a + 1), 1 - self.q))

    def strict_asymmetry_ratio(self) -> float:
        """Return r with any part of the mass moved: the slope falls (q < 1) or rises with u."""
        return math.pow(self.a / (self.a + 1), abs(1 - self.q))

    @staticmethod
    def a_for(q: float, clean_level: float) -> float:
        """Return the smallest a with clean_level * r >= 1; 0 where every a > 0 will do.

        >>> AGCE.a_for(q=0.5, clean_level=9 / 4)  # 16 / 65
        0.2461...
        """
        needed = ratio_needed(clean_level)
        q = checked("q", q, AGCE.domains()["q"])
        if q >= 1:
            return 0.0
        root = math.pow(needed, 1 / (1 - q))  # a / (a + 1)
        return root / (1 - root)
