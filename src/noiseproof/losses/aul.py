"""Asymmetric unhinged loss."""

import math

import torch
from torch import Tensor

from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise
from noiseproof.losses.thresholds import ratio_needed


class AUL(Pointwise):
    """Asymmetric unhinged loss, l(u) = ((a - u)^p - (a - 1)^p) / p.

    Completely asymmetric for p <= 1; for p > 1 convex, with asymmetry ratio
    ((a - 1) / a)^(p - 1) (Corollary 2).

    Args:
        a: where the loss would end; the larger, the nearer to MAE.
        p: the power.

    Example:
        >>> import noiseproof as nf
        >>> nf.asymmetry_ratio(AUL(a=2, p=2))
        0.5
    """

    a: float = parameter(above=1)
    p: float = parameter(above=0)

    def value(self, log_u: Tensor) -> Tensor:
        """Return ((a - u)^p - (a - 1)^p) / p."""
        return torch.expm1(self._log_ratio(log_u) * self.p) * (
            math.pow(self.a - 1, self.p) / self.p
        )

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -u (a - u)^(p - 1)."""
        log_ratio = self._log_ratio(log_u)
        slope = torch.add(log_u, log_ratio, alpha=self.p - 1).exp_()
        value = log_ratio.mul_(self.p).expm1_()
        end = math.pow(self.a - 1, self.p)
        return value.mul_(end / self.p), slope.mul_(-end / (self.a - 1))

    def _log_ratio(self, log_u: Tensor) -> Tensor:
        # log((a - u) / (a - 1)), exact near u = 1 however near a is to 1.
        return torch.log1p(torch.expm1(log_u) * (-1 / (self.a - 1)))

    def asymmetry_ratio(self) -> float:
        """Return r in closed form (Corollary 2)."""
        return min(1.0, math.pow((self.a - 1) / self.a, self.p - 1))

    def strict_asymmetry_ratio(self) -> float:
        """Return r with any part of the mass moved."""
        return math.pow((self.a - 1) / self.a, abs(self.p - 1))

    @staticmethod
    def a_for(p: float, clean_level: float) -> float:
        """Return the smallest a with clean_level * r >= 1; 1 where every a > 1 will do.

        >>> AUL.a_for(p=2, clean_level=9 / 4)  # 9 / 5
        1.8
        """
        needed = ratio_needed(clean_level)
        if p <= 1:
            return 1.0
        return 1 / (1 - math.pow(needed, 1 / (p - 1)))
