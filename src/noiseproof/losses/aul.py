"""Asymmetric unhinged loss."""

import math

import torch
from torch import Tensor

from noiseproof.kernels import scaled_expm1
from noiseproof.losses.parameter import checked, parameter
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
        return self._rise(self._log_ratio(log_u))

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -u (a - u)^(p - 1)."""
        log_ratio = self._log_ratio(log_u)
        slope = torch.add(log_u, log_ratio, alpha=self.p - 1).exp_()
        unit = max(1.0, self.a - 1)
        return self._rise(log_ratio), slope.mul_(-math.pow(unit, self.p - 1))

    def _log_ratio(self, log_u: Tensor) -> Tensor:
        # log((a - u) / unit): for a large a the unit is a - 1, and u is not lost in a - u; for
        # one near 1 it is 1, and a - u = (a - 1) + (1 - u) is exact however near.
        if self.a >= 2:
            return torch.log1p(scaled_expm1(log_u, 1, -1 / (self.a - 1)))
        return torch.log((self.a - 1) - torch.expm1(log_u))

    def _rise(self, log_ratio: Tensor) -> Tensor:
        """Return l from log((a - u) / unit), losing no digit to p near 0 or far from it."""
        if self.a >= 2:
            return scaled_expm1(-log_ratio, -self.p, math.pow(self.a - 1, self.p) / self.p)
        x, end = log_ratio * self.p, self.p * math.log(self.a - 1)
        if self.p >= 1:
            return (torch.exp(x) - math.exp(end)) * (1 / self.p)
        return (torch.expm1(x) - math.expm1(end)) * (1 / self.p)

    def asymmetry_ratio(self) -> float:
        """Return r in closed form (Corollary 2)."""
        return min(1.0, math.pow((self.a - 1) / self.a, self.p - 1))

    def strict_asymmetry_ratio(self) -> float:
        """Return r with any part of the mass moved."""
        return math.pow((self.a - 1) / self.a, abs(self.p - 1))

    @staticmethod
    def a_for(p: float, clean_level: float) -> float:
        """Return the smallest a with clean_level * r >= 1; 1 where every a > 1 will do.

        >>> round(AUL.a_for(p=2, clean_level=9 / 4), 6)  # 9 / 5
        1.8
        """
        needed = ratio_needed(clean_level)
        p = checked("p", p, AUL.domains()["p"])
        if p <= 1:
            return 1.0
        # Of a large p no float is left of 1 - needed^(1 / (p - 1)) = -expm1(log(needed) / (p - 1)).
        return -1 / math.expm1(math.log(needed) / (p - 1)) if needed > 0 else 1.0
