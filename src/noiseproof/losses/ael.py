"""Asymmetric exponential loss."""

import math

import torch
from torch import Tensor

from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise
from noiseproof.losses.thresholds import ratio_needed


class AEL(Pointwise):
    """Asymmetric exponential loss, l(u) = exp(-u / a); its least value is exp(-1/a), not 0.

    Convex, never completely asymmetric, with asymmetry ratio exp(-1/a) (Corollary 3).

    Example:
        >>> import noiseproof as nf
        >>> nf.asymmetry_ratio(AEL(a=2.5))
        0.670...
    """

    a: float = parameter(above=0)

    def value(self, log_u: Tensor) -> Tensor:
        """Return exp(-u / a)."""
        return torch.exp(self._minus_ratio(log_u))

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -(u / a) exp(-u / a)."""
        minus_ratio = self._minus_ratio(log_u)
        value = torch.exp(minus_ratio)
        return value, minus_ratio.mul_(value)

    def _minus_ratio(self, log_u: Tensor) -> Tensor:
        # -u / a, stopped at e^60, where exp(-u / a) has long been 0: beyond, 0 * inf is no slope.
        if self.a > 1e-20:
            return torch.exp(log_u) * (-1 / self.a)
        return -torch.exp((log_u - math.log(self.a)).clamp_max(60))

    def asymmetry_ratio(self) -> float:
        """Return r in closed form (Corollary 3)."""
        return math.exp(-1 / self.a)

    def strict_asymmetry_ratio(self) -> float:
        """Return r with any part of the mass moved: the same, for l is convex."""
        return self.asymmetry_ratio()

    @staticmethod
    def a_for(clean_level: float) -> float:
        """Return the smallest a with clean_level * r >= 1.

        >>> AEL.a_for(clean_level=9 / 4)  # 1 / log(9 / 4)
        1.233...
        """
        needed = ratio_needed(clean_level)
        return -1 / math.log(needed) if needed > 0 else 0.0
