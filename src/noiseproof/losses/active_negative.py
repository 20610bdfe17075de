"""Normalised negative losses, the passive half of the active negative losses ANL-CE and ANL-FL."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from noiseproof.errors import ParameterError
from noiseproof.kernels import Classes, Statistic, Sums
from noiseproof.losses.cross_entropy import CE
from noiseproof.losses.focal import FL
from noiseproof.losses.normalized import positive
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise, RowLoss


@dataclass(frozen=True)
class _Room(Statistic):
    """sum_k max(A - l(p_k), 0): how far each class is from the largest loss A = l(p_min)."""

    base: Pointwise
    largest: float

    def value(self, log_p: Tensor) -> Tensor:
        """Return max(A - l(p), 0)."""
        return (self.largest - self.base.value(log_p)).clamp_min(0)

    def with_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -l', or 0 where p < p_min."""
        value, slope = self.base.with_slope(log_p)
        room = self.largest - value
        return room.clamp_min(0), torch.where(room > 0, slope.neg_(), 0)


class _NormalizedNegative(RowLoss, register=False):
    """1 - (A - l(u)) / sum_k (A - l(p_k)) with A = l(p_min), probabilities kept above p_min."""

    p_min: float = parameter(default=1e-7, above=0, at_most=1e-3)
    base: Pointwise = field(init=False)

    symmetric: ClassVar[bool] = True

    def prepare(self) -> None:
        """Find the largest loss."""
        super().prepare()
        lowest = torch.tensor(math.log(self.p_min), dtype=torch.float64, device="cpu")
        self._room = _Room(self.base, float(self.base.value(lowest)))

    @property
    def statistics(self) -> tuple[Statistic]:  # type: ignore[override]
        """sum_k (A - l(p_k))."""
        return (self._room,)

    @property
    def closed_form(self) -> bool:
        """The base says its own slope."""
        return True

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return 1 - (A - l(u)) / s."""
        return 1 - self._room.value(log_u) / positive(sums[0])

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Slopes: l' / s and (A - l) / s^2."""
        room, slope = self._room.with_slope(log_u)
        part = positive(sums[0]).reciprocal_()
        share = room * part
        return 1 - share, slope.mul(part).neg_(), (share * part,)


class NNCE(_NormalizedNegative):
    """Normalised negative cross entropy, 1 - (A + log u) / sum_k (A + log p_k), A = -log p_min.

    ANL-CE is ``alpha*NCE + beta*NNCE`` with :func:`l1_penalty` times delta added in training.

    Args:
        p_min: probabilities below count as this one.

    Reference:
        Ye et al., Active negative loss functions for learning with noisy labels, NeurIPS 2023.

    Example:
        >>> NNCE()(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.9000)
    """

    def prepare(self) -> None:
        """Build the base."""
        self.base = CE()
        super().prepare()


class NNFL(_NormalizedNegative):
    """Normalised negative focal loss: NNCE with the focal loss in place of cross entropy.

    ANL-FL is ``alpha*NFL + beta*NNFL``.

    Args:
        p_min: probabilities below count as this one.
        gamma: as of :class:`FL`.

    Example:
        >>> NNFL(gamma=0.5)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.9000)
    """

    gamma: float = parameter(default=0.5, at_least=0)

    def prepare(self) -> None:
        """Build the base."""
        self.base = FL(self.gamma)
        super().prepare()


def l1_penalty(module: nn.Module) -> Tensor:
    """Return the sum of the absolute values of all parameters: ANL adds delta times it.

    >>> l1_penalty(nn.Linear(2, 2)).ndim
    0
    """
    if not isinstance(module, nn.Module):
        raise ParameterError(f"expected `module` to be a torch module, got {module!r}")
    parts = [p.abs().sum() for p in module.parameters()]
    return torch.stack(parts).sum() if parts else torch.zeros(())
