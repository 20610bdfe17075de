"""Asymmetric mean square error."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from noiseproof.errors import ParameterError
from noiseproof.kernels import Classes, PowerSum, Summand, Sums
from noiseproof.losses.derivatives import as_array
from noiseproof.losses.parameter import as_number, check_float32, parameter
from noiseproof.losses.pointwise import RowLoss


class AMSE(RowLoss):
    """Asymmetric mean square error, mean_k (a e_y - p)_k^2 = (a^2 - 2 a u + sum_k p_k^2) / K.

    JAL-CE is ``alpha*NCE + beta*AMSE``, JAL-FL the same with NFL.

    Args:
        a: how far beyond 1 the label is pulled; more of it is more tolerance.

    Reference:
        Wang et al., Joint asymmetric loss for learning with noisy labels, ICCV 2025.

    Example:
        >>> AMSE(a=30)(torch.zeros(1, 10), torch.tensor([3]))  # (900 - 6 + 0.1) / 10
        tensor(89.4100)
    """

    a: float = parameter(above=1)

    statistics: ClassVar[Sequence[Summand]] = (PowerSum(2),)

    def prepare(self) -> None:
        """Say that the square of ``a`` is too large."""
        super().prepare()
        check_float32(self, self.a)
        check_float32(self, self.a**2)

    @property
    def closed_form(self) -> bool:
        """Both slopes are at hand."""
        return True

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return (a^2 - 2 a u + sum_k p_k^2) / K."""
        return (self.a**2 - 2 * self.a * torch.exp(log_u) + sums[0]) / classes

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Slopes: -2 a u / K and 1 / K."""
        u = torch.exp(log_u)
        rows = (self.a**2 - 2 * self.a * u + sums[0]) / classes
        return rows, u * (-2 * self.a) / classes, (torch.ones_like(u) / classes,)

    def asymmetric_on(self, weights: Sequence[float]) -> bool:
        """Return whether sum_i w_i L(u, i) is least at the vertex of the largest weight.

        It is iff w_m / w_n >= (a + sum_{i != m} w_i / w_n) / (a - 1) for every n, which is
        a (w_m - w_n) >= sum_i w_i: the risk is convex, and so least at the vertex where it
        rises towards all others.

        >>> AMSE(a=5).asymmetric_on([0.59, 0.41, 0]), AMSE(a=5).asymmetric_on([0.61, 0.39, 0])
        (False, True)
        """
        w = as_array("weights", weights).astype(np.float64)
        if w.ndim != 1 or len(w) < 2 or not ((w >= 0) & np.isfinite(w)).all():
            raise ParameterError(f"expected two or more finite weights >= 0, got {weights!r}")
        second, first = np.sort(w)[-2:]
        return bool(self.a * (first - second) >= w.sum() * (1 - 1e-12))

    @staticmethod
    def a_for(gap: float) -> float:
        """Return the smallest a for noise whose rows have T_ii - max_j T_ij >= ``gap``.

        >>> AMSE.a_for(gap=0.2)
        5.0
        """
        gap = as_number("gap", gap)
        if not 0 < gap <= 1:
            raise ParameterError(f"expected 0 < `gap` <= 1, got {gap:g}: no loss can help below")
        return 1 / gap
