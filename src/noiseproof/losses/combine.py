"""Losses made of losses: normalised ones and positive combinations."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from noiseproof import kernels
from noiseproof.errors import ParameterError
from noiseproof.kernels import Scale
from noiseproof.losses.base import OPTIONS, Loss, picked
from noiseproof.losses.cross_entropy import CE
from noiseproof.losses.focal import FL
from noiseproof.losses.generalized import GCE
from noiseproof.losses.parameter import Interval, checked, parameter, write_number
from noiseproof.losses.pointwise import Pointwise, RowLoss


class Normalized(Loss):
    """A pointwise loss over its sum for all classes, l(u) / sum_k l(p_k): always symmetric.

    Reference:
        Ma et al., Normalized loss functions for deep learning with noisy labels, ICML 2020.

    Example:
        >>> import torch
        >>> Normalized(CE())(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    base: Pointwise = parameter()

    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.base, Pointwise):
            raise ParameterError(f"Normalized takes a pointwise loss, got {self.base}")
        if any(f"{name}=" in repr(self.base) for name in OPTIONS):
            raise ParameterError("give the options to Normalized, not to the loss inside it")

    @property
    def closed_form(self) -> bool:
        """Whether the base says its own ``with_slope``."""
        return self.base.closed_form

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return l(p_k) / sum_j l(p_j) for every k."""
        values = self.base.value(log_p)
        return values / _positive(values.sum(-1, keepdim=True))

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return l(u) / sum_j l(p_j) for each row."""
        values = self.base.value(log_p)
        return picked(values, target) / _positive(values.sum(-1))

    def block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        """Write the gradient of a block of rows."""
        return kernels.normalized_block(z, target, scale, out, self.base.with_slope)


class NCE(RowLoss, Normalized):
    """Normalised cross entropy, log u / sum_k log p_k.

    Example:
        >>> import torch
        >>> NCE()(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    base: Pointwise = field(init=False, default_factory=CE)

    def from_row(self, log_u: Tensor, sum_log_p: Tensor | None) -> Tensor:
        """Return log u / sum_k log p_k."""
        assert sum_log_p is not None
        return log_u / _negative(sum_log_p)

    def with_slopes(
        self, log_u: Tensor, sum_log_p: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Slopes: 1 / s and -log u / s^2."""
        assert sum_log_p is not None
        c = _negative(sum_log_p).reciprocal_()
        value = log_u * c
        return value, c, (value * c).neg_()


class NFL(Normalized):
    """Normalised focal loss.

    Example:
        >>> import torch
        >>> NFL(gamma=0.5)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    gamma: float = parameter(default=0.5, at_least=0)
    base: Pointwise = field(init=False)

    def __post_init__(self) -> None:
        self.base = FL(self.gamma)
        super().__post_init__()


class NGCE(Normalized):
    """Normalised generalised cross entropy.

    Example:
        >>> import torch
        >>> NGCE(q=0.7)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    q: float = parameter(default=0.7, above=0, at_most=1)
    base: Pointwise = field(init=False)

    def __post_init__(self) -> None:
        self.base = GCE(self.q)
        super().__post_init__()


class WeightedSum(Loss, register=False):
    """A positive combination of losses, as ``NCE() + 4 * AGCE(a=6, q=1.5)`` builds it."""

    factors: tuple[float, ...]
    terms: nn.ModuleList

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return the weighted sum of the terms' ``per_class``."""
        return self._sum([term.per_class(log_p) for term in self.losses])

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return the weighted sum of the terms' ``per_sample``."""
        return self._sum([term.per_sample(log_p, target) for term in self.losses])

    def block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        """Write the gradient of a block of rows: a pass for each term."""
        total, part, rows = torch.zeros_like(z), torch.empty_like(z), []
        for factor, term in zip(self.factors, self.losses, strict=True):
            rows.append(term.block(z, target, scale * factor, part))
            total.add_(part)
        out.copy_(total)
        return self._sum(rows)

    def _sum(self, values: Sequence[Tensor | None]) -> Tensor:
        """Return the weighted sum of the values there are."""
        total = None
        for factor, value in zip(self.factors, values, strict=True):
            if value is None:
                continue
            if total is None:
                total = value if factor == 1 else value * factor
            else:
                total = torch.add(total, value, alpha=factor)
        assert total is not None
        return total

    @property
    def losses(self) -> list[Any]:
        """The terms, as losses."""
        return list(self.terms)

    @property
    def closed_form(self) -> bool:
        """Whether every term differentiates by formula."""
        return all(term.closed_form for term in self.losses)

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether every term is symmetric."""
        return all(term.symmetric for term in self.losses)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether every term is bounded."""
        return all(term.bounded for term in self.losses)

    @property
    def random(self) -> bool:  # type: ignore[override]
        """Whether any term draws."""
        return any(term.random for term in self.losses)

    def __str__(self) -> str:
        return " + ".join(
            str(term) if factor == 1 else f"{write_number(factor)}*{term}"
            for factor, term in zip(self.factors, self.losses, strict=True)
        )


class RowSum(WeightedSum, RowLoss, register=False):
    """A combination of losses of log u and sum_k log p_k: one kernel."""

    per_class = RowLoss.per_class
    per_sample = RowLoss.per_sample
    block = RowLoss.block

    def from_row(self, log_u: Tensor, sum_log_p: Tensor | None) -> Tensor:
        """Return the weighted sum of the terms."""
        return self._sum([term.from_row(log_u, sum_log_p) for term in self.losses])

    def with_slopes(
        self, log_u: Tensor, sum_log_p: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Slopes: the weighted sums of the terms'."""
        values, c, d = zip(
            *(term.with_slopes(log_u, sum_log_p) for term in self.losses), strict=True
        )
        return self._sum(values), self._sum(c), self._sum(d)


class PointwiseSum(WeightedSum, Pointwise, register=False):
    """A combination of pointwise losses: pointwise again."""

    per_class = Pointwise.per_class
    per_sample = Pointwise.per_sample
    block = Pointwise.block

    def value(self, log_u: Tensor) -> Tensor:
        """Return the weighted sum of the terms."""
        return self._sum([term.value(log_u) for term in self.losses])

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: the weighted sum of the terms'."""
        values, slopes = zip(*(term.with_slope(log_u) for term in self.losses), strict=True)
        return self._sum(values), self._sum(slopes)


def weighted_sum(terms: Sequence[tuple[float, Loss]]) -> Loss:
    """Return the positive combination of ``terms``, with the options they share (Theorem 5)."""
    flat: list[tuple[float, Loss]] = []
    for factor, term in terms:
        positive = Interval(above=0)
        factor = checked("weight", factor, positive)
        inner = [(1.0, term)]
        if isinstance(term, WeightedSum):
            inner = list(zip(term.factors, term.losses, strict=True))
        flat += [(checked("weight", factor * f, positive), t) for f, t in inner]
    options = _shared_options([term for _, term in terms])
    losses = [term for _, term in flat]
    if len(flat) == 1 and flat[0][0] == 1:
        return losses[0]
    kind = WeightedSum
    if all(isinstance(loss, Pointwise) for loss in losses):
        kind = PointwiseSum
    elif all(isinstance(loss, RowLoss) for loss in losses):
        kind = RowSum
    return kind(tuple(f for f, _ in flat), nn.ModuleList(losses), **options)


def _shared_options(losses: Sequence[Loss]) -> dict[str, Any]:
    first, *others = [loss.options for loss in losses]
    for other in others:
        for name, mine in first.items():
            theirs = other[name]
            both = isinstance(mine, Tensor) and isinstance(theirs, Tensor)
            if not (torch.equal(mine, theirs) if both else mine is theirs or mine == theirs):
                raise ParameterError(
                    f"cannot add losses with different `{name}`; set it on both or on neither"
                )
    return first


def _positive(x: Tensor) -> Tensor:
    return x.clamp_min(kernels.least_divisor(x.dtype))


def _negative(x: Tensor) -> Tensor:
    return x.clamp_max(-kernels.least_divisor(x.dtype))
