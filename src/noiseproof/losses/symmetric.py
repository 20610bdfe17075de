"""Symmetric cross entropy."""

from typing import ClassVar

import torch
from torch import Tensor

from noiseproof.kernels import scaled_expm1
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise


class SCE(Pointwise):
    """Symmetric cross entropy, alpha CE + beta RCE; symmetric by name only, for alpha > 0.

    The paper gives alpha and beta for each data set; the code released with it has both 1.

    Reference:
        Wang et al., Symmetric cross entropy for robust learning with noisy labels, ICCV 2019.

    Example:
        >>> SCE(alpha=1, beta=1)(torch.zeros(1, 10), torch.tensor([3]))  # log 10 + 3.6
        tensor(5.9026)
    """

    alpha: float = parameter(above=0)
    beta: float = parameter(above=0)
    A: float = parameter(default=-4.0, below=0)

    bounded: ClassVar[bool] = False

    def value(self, log_u: Tensor) -> Tensor:
        """Return -alpha log u - beta A (1 - u)."""
        reverse = scaled_expm1(log_u, 1, self.beta * self.A)
        return torch.sub(reverse, log_u, alpha=self.alpha)

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -alpha + beta A u."""
        slope = torch.exp(log_u).mul_(self.beta * self.A).sub_(self.alpha)
        return self.value(log_u), slope
