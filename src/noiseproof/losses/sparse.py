"""Sparse regularisation: normalised logits, and a penalty on probabilities that are spread out."""

from collections.abc import Sequence

import torch
from torch import Tensor

from noiseproof.kernels import Classes, PowerSum, Summand, Sums
from noiseproof.losses.parameter import check_float32, parameter
from noiseproof.losses.pointwise import RowLoss
from noiseproof.losses.targets import compute_dtype
from noiseproof.losses.transformed import Transformed

# Logits shorter than this are not stretched to length 1 / tau.
_SHORT = 1e-3


class UnitLogits(Transformed):
    """A loss of logits of length 1 / tau: the output can only become so sharp.

    It is not a function of the probabilities, so the theory has nothing to say of it. SR is
    ``UnitLogits(CE + lambda*Spread(s), tau)``, its lambda multiplied by rho every epoch.

    Args:
        base: the loss of the normalised logits.
        tau: the temperature.

    Reference:
        Zhou et al., Learning with noisy labels via sparse regularization, ICCV 2021.

    Example:
        >>> from noiseproof.losses import CE
        >>> loss, z = UnitLogits(CE(), tau=0.5), torch.tensor([[3.0, 4.0]])
        >>> bool(loss(z, torch.tensor([1])).isclose(loss(100 * z, torch.tensor([1]))))
        True
    """

    tau: float = parameter(default=0.5, above=0)

    def prepare(self) -> None:
        """Say that the logits would be too long."""
        super().prepare()
        check_float32(self, self.tau)

    def transform(self, z: Tensor) -> Tensor:
        """Return z / |z| / tau."""
        # Scaled by the largest logit first: a square would overflow for large ones. Logits near
        # 0 stay near 0, where to stretch them has no finite gradient.
        masked = z == -torch.inf
        wide = torch.where(masked, 0, z.to(compute_dtype(z)))
        scaled = wide / wide.detach().abs().amax(-1, keepdim=True).clamp_min(_SHORT)
        length = scaled.square().sum(-1, keepdim=True).clamp_min(1).sqrt()
        return torch.where(masked, -torch.inf, scaled / (length * self.tau))


class Spread(RowLoss):
    """sum_k p_k^s, s <= 1: 1 for a one-hot prediction, K^(1 - s) for an even one.

    It sees no label; added to a loss it keeps the output sparse.

    Args:
        s: the power.

    Example:
        >>> Spread(s=0.5)(torch.zeros(1, 100), torch.tensor([3]))
        tensor(10....)
    """

    s: float = parameter(default=0.1, above=0, at_most=1)

    @property
    def statistics(self) -> Sequence[Summand]:  # type: ignore[override]
        """sum_k p_k^s."""
        return (PowerSum(self.s),)

    @property
    def closed_form(self) -> bool:
        """Its slopes are 0 and 1."""
        return True

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return the sum."""
        return sums[0] + 0 * torch.exp(log_u)

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Slopes: 0 and 1."""
        return sums[0].expand_as(log_u), torch.zeros_like(log_u), (torch.ones_like(log_u),)
