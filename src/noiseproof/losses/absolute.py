"""The symmetric losses linear in u: mean absolute error and reverse cross entropy."""

from typing import ClassVar

import torch
from torch import Tensor

from noiseproof.kernels import scaled_expm1
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise


class MAE(Pointwise):
    """Mean absolute error, l(u) = |e_y - p|_1 = 2 - 2u: symmetric, robust, slow to learn.

    The code released with the paper uses 1 - u inside NCE+MAE; that is ``0.5*MAE``.

    Reference:
        Ghosh et al., Robust loss functions under label noise, AAAI 2017.

    Example:
        >>> MAE()(torch.zeros(1, 10), torch.tensor([3]))
        tensor(1.8000)
    """

    symmetric: ClassVar[bool] = True

    def value(self, log_u: Tensor) -> Tensor:
        """Return 2 - 2u."""
        return scaled_expm1(log_u, 1, -2)

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -2u."""
        return self.value(log_u), torch.exp(log_u).mul_(-2)


class RCE(Pointwise):
    """Reverse cross entropy, l(u) = -A (1 - u), where log 0 is read as A.

    The code released with the paper clamps the one-hot label at 1e-4, which is A = -9.21.

    Reference:
        Wang et al., Symmetric cross entropy for robust learning with noisy labels, ICCV 2019.

    Example:
        >>> RCE(A=-4)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(3.6000)
    """

    A: float = parameter(default=-4.0, below=0)

    symmetric: ClassVar[bool] = True

    def value(self, log_u: Tensor) -> Tensor:
        """Return -A (1 - u)."""
        return scaled_expm1(log_u, 1, self.A)

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: A u."""
        return self.value(log_u), torch.exp(log_u).mul_(self.A)
