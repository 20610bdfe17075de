"""Normalised losses: a loss over its sum for all classes."""

from dataclasses import field
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from noiseproof import kernels
from noiseproof.errors import ParameterError
from noiseproof.kernels import Classes, LogSum, Sums
from noiseproof.losses.base import Loss, picked
from noiseproof.losses.cross_entropy import CE
from noiseproof.losses.declared import Declared
from noiseproof.losses.focal import FL
from noiseproof.losses.generalized import GCE
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise, RowLoss


class Normalized(Loss):
    """A loss over its sum for all classes, L(u, i) / sum_k L(u, k): always symmetric.

    The base may be any loss that is never negative; of a pointwise one, the normalised loss runs
    in one pass over the logits.

    Reference:
        Ma et al., Normalized loss functions for deep learning with noisy labels, ICML 2020.

    Example:
        >>> import torch
        >>> Normalized(CE())(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    base: Loss = parameter()

    symmetric: ClassVar[bool] = True

    def __new__(cls, base: Any = None, *args: Any, **kwargs: Any) -> Self:  # noqa: D102
        if cls is Normalized and isinstance(base, Pointwise) and not base.transforms:
            cls = NormalizedPointwise  # type: ignore[assignment]
        return super().__new__(cls)

    def prepare(self) -> None:
        """Say what cannot be a base."""
        super().prepare()
        if not isinstance(self.base, Loss):
            raise ParameterError(f"Normalized takes a loss, got {self.base!r}")
        if self.base.options_changed:
            raise ParameterError("give the options to Normalized, not to the loss inside it")
        self.base.check_formula("Normalized")

    @property
    def transforms(self) -> bool:  # type: ignore[override]
        """Whether the base does."""
        return self.base.transforms

    def transform(self, z: Tensor) -> Tensor:
        """Return the logits as the base changes them."""
        return self.base.transform(z)

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return L(u, k) / sum_j L(u, j) for every k."""
        values = self.base.per_class(log_p)
        return _parts(values, values.sum(-1, keepdim=True))

    def _class_rows(self, z: Tensor) -> Tensor:
        # A masked class has no part in the sum, but for a label's own.
        values, part = self.base._class_rows(z), z != -torch.inf
        if self.base.infinite:
            values = values.clamp_max(-kernels.lowest(values.dtype))
        of_others = torch.where(part, values, 0).sum(-1, keepdim=True)
        return _parts(values, of_others + torch.where(part, 0, values))

    def _rows(self, z: Tensor, target: Tensor) -> Tensor:
        return picked(self._class_rows(z), target)


class NormalizedPointwise(RowLoss, Normalized, register=False):
    """l(u) / sum_k l(p_k), with the sum as its row statistic."""

    base: Pointwise = parameter()
    text_name: ClassVar[str] = "Normalized"
    transforms: ClassVar[bool] = False  # nor does the base

    def prepare(self) -> None:
        """Say what cannot be a base, and look how large the sum is at least."""
        super().prepare()
        if not isinstance(self.base, Pointwise) or self.base.transforms:
            raise ParameterError(f"{self.base} is another kind of base: build Normalized again")
        self._look()

    def _look(self) -> None:
        self._as_of = Declared.changes
        # Of two classes or more one has p <= 1/2, so the sum is at least l(1/2).
        half = torch.tensor(-0.7, dtype=torch.float32, device="cpu")
        least = kernels.least_divisor(half.dtype)
        self._is_far = kernels.is_plain(half) and float(self.base.value(half)) > least

    @property
    def statistics(self) -> tuple[Pointwise, ...]:  # type: ignore[override]
        """sum_k l(p_k)."""
        return (self.base,)

    @property
    def closed_form(self) -> bool:
        """Whether the base says its own ``with_slope``."""
        return self.base.closed_form

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return l(u) / s."""
        return self.base.value(log_u) / positive(sums[0])

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Slopes: l' / s and -l / s^2."""
        value, slope = self.base.with_slope(log_u)
        part = positive(sums[0]).reciprocal_()
        rows = value * part
        return rows, slope * part, ((rows * part).neg_(),)

    def _few_losses(self, log_p: Tensor, target: Tensor) -> Tensor | None:
        if not kernels.is_near(log_p):
            return None
        values = self.base.value(log_p)  # the label's is among them
        value = kernels.pick(values, target)
        if value is None:
            return None
        total = kernels.sum_of_classes(values)
        if self._as_of is not Declared.changes:  # the base may have been changed
            self._look()
        return value / (total if self._is_far and log_p.shape[1] > 1 else positive(total))


class NCE(NormalizedPointwise):
    """Normalised cross entropy, log u / sum_k log p_k.

    Example:
        >>> import torch
        >>> NCE()(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    base: Pointwise = field(init=False, default_factory=CE)

    statistics = (LogSum(),)  # type: ignore[assignment]

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return log u / sum_k log p_k."""
        # Of two classes or more the sum is at most -K log K.
        many = isinstance(classes, int) and classes > 1
        return log_u / (sums[0] if many else _negative(sums[0]))

    _few_losses = RowLoss._few_losses

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Slopes: 1 / s and -log u / s^2."""
        c = _negative(sums[0]).reciprocal_()
        value = log_u * c
        return value, c, ((value * c).neg_(),)


class NFL(NormalizedPointwise):
    """Normalised focal loss.

    Args:
        gamma: as of :class:`FL`.
        detach: take (1 - p)^gamma as a constant in the gradient, as the code released with the
            paper does.

    Example:
        >>> import torch
        >>> NFL(gamma=0.5)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    gamma: float = parameter(default=0.5, at_least=0)
    detach: bool = parameter(default=False)
    base: Pointwise = field(init=False)

    def prepare(self) -> None:
        """Build the base."""
        self.base = FL(self.gamma, self.detach)
        super().prepare()


class NGCE(NormalizedPointwise):
    """Normalised generalised cross entropy.

    Example:
        >>> import torch
        >>> NGCE(q=0.7)(torch.zeros(1, 10), torch.tensor([3]))
        tensor(0.1000)
    """

    q: float = parameter(default=0.7, above=0, at_most=1)
    base: Pointwise = field(init=False)

    def prepare(self) -> None:
        """Build the base."""
        self.base = GCE(self.q)
        super().prepare()


def positive(x: Tensor) -> Tensor:
    """Return a sum of losses kept far enough above 0 to divide by."""
    return x.clamp_min(kernels.least_divisor(x.dtype))


def _parts(values: Tensor, total: Tensor) -> Tensor:
    # Nothing of nothing is 0 and flat: a slope of 1 / least_divisor would overflow two deep.
    none = total <= kernels.least_divisor(total.dtype)  # NaN is not nothing
    return torch.where(none, 0, values / torch.where(none, 1, total))


def _negative(x: Tensor) -> Tensor:
    return x.clamp_max(-kernels.least_divisor(x.dtype))
