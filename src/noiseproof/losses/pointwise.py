"""Losses that see a row of probabilities through one number, log u, or through two."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from noiseproof import kernels
from noiseproof.errors import ParameterError
from noiseproof.kernels import Scale
from noiseproof.losses.base import Loss, finite, picked
from noiseproof.losses.targets import compute_dtype


class RowLoss(Loss, register=False):
    """A loss of log u and s = sum_k log p_k: one pass over the logits, whatever the formula.

    A subclass says :meth:`from_row`. :meth:`with_slopes` is derived from it; where a closed form
    is at hand, overriding it saves small batches the derivation.
    """

    needs_sum: ClassVar[bool] = True

    def from_row(self, log_u: Tensor, sum_log_p: Tensor | None) -> Tensor:
        """Return the loss for log u and sum_k log p_k (``None`` unless ``needs_sum``)."""
        raise NotImplementedError(f"{type(self).__name__} has to define from_row")

    def with_slopes(
        self, log_u: Tensor, sum_log_p: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return :meth:`from_row` and its derivatives in log u and in sum_k log p_k."""
        with torch.enable_grad():
            log_u = log_u.detach().requires_grad_()
            if sum_log_p is None:
                rows = self.from_row(log_u, None)
                if not rows.requires_grad:  # a step function: flat wherever it has a slope
                    return rows, torch.zeros_like(rows), None
                (c,) = torch.autograd.grad(rows.sum(), log_u)
                return rows.detach(), c, None
            sum_log_p = sum_log_p.detach().requires_grad_()
            rows = self.from_row(log_u, sum_log_p)
            c, d = torch.autograd.grad(rows.sum(), (log_u, sum_log_p), materialize_grads=True)
        return rows.detach(), c, d

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return L(u, k) for every k."""
        return self.from_row(log_p, log_p.sum(-1, keepdim=True) if self.needs_sum else None)

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return L(u, y) for each row."""
        return self.from_row(picked(log_p, target), log_p.sum(-1) if self.needs_sum else None)

    def rows(self, z: Tensor, target: Tensor) -> Tensor:
        """Return L(u, y), (M, 1), of logits (M, K)."""
        log_p = torch.log_softmax(z, -1, compute_dtype(z))
        log_u = log_p.gather(-1, target.unsqueeze(-1))
        if self.needs_sum:
            return self.from_row(finite(log_u), finite(log_p.sum(-1, keepdim=True)))
        # A bounded l takes log u = -inf for what it is, and a small batch notices an operation.
        return self.from_row(log_u if self.bounded else finite(log_u), None)

    def block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        """Write the gradient of a block of rows."""
        return kernels.row_block(z, target, scale, out, self.with_slopes, self.needs_sum)


class Pointwise(RowLoss, register=False):
    """A loss L(u, i) = l(u_i), written once as a function of log u.

    A subclass says :meth:`value`, decreasing in u and finite for every log u <= 0, in torch
    operations that act on each element by itself. Everything else follows from it.

    Example:
        >>> import torch, noiseproof as nf
        >>> class Brier(nf.Pointwise):
        ...     scale: float = nf.parameter(default=1.0, above=0)
        ...     def value(self, log_u):
        ...         return self.scale * torch.expm1(log_u) ** 2
        >>> loss = nf.loss("NCE + 2*Brier(scale=3)")
        >>> str(loss), nf.asymmetry_ratio(Brier())
        ('NCE + 2*Brier(scale=3)', 0.0)
        >>> del nf.registry["Brier"]
    """

    needs_sum: ClassVar[bool] = False

    def __init_subclass__(cls, register: bool = True, **kwargs: Any) -> None:
        # What was said of a parent's formula is not true of another one.
        others = (parent for parent in cls.__mro__[1:] if parent is not Pointwise)
        if "value" in cls.__dict__ and any("value" in parent.__dict__ for parent in others):
            inherited: dict[str, Any] = {
                "with_slope": Pointwise.with_slope,
                "asymmetry_ratio": None,
                "strict_asymmetry_ratio": None,
                "symmetric": False,
                "bounded": True,
            }
            for name, plain in inherited.items():
                if name not in cls.__dict__ and hasattr(cls, name):
                    setattr(cls, name, plain)
        super().__init_subclass__(register=register, **kwargs)

    def __post_init__(self) -> None:
        super().__post_init__()
        ends = torch.tensor([-1e4, -1.0, 0.0], dtype=torch.float32)
        try:
            finite = bool(torch.isfinite(self.value(ends)).all())
        except OverflowError:
            finite = False
        if not finite:
            raise ParameterError(f"{self} is not finite in float32 for every log u <= 0")

    @property
    def closed_form(self) -> bool:
        """Whether the subclass says its own ``with_slope``."""
        return type(self).with_slope is not Pointwise.with_slope

    def value(self, log_u: Tensor) -> Tensor:
        """Return l as a function of log u, elementwise."""
        raise NotImplementedError(f"{type(self).__name__} has to define value(log_u)")

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Return l and dl / dlog u, elementwise; by autograd unless a subclass knows better."""
        rows, c, _ = super().with_slopes(log_u, None)
        return rows, c

    def from_row(self, log_u: Tensor, sum_log_p: Tensor | None) -> Tensor:
        """Return ``value(log_u)``."""
        return self.value(log_u)

    def with_slopes(
        self, log_u: Tensor, sum_log_p: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return ``with_slope(log_u)``."""
        return *self.with_slope(log_u), None

    def slopes_of_label(self, log_p: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return l(u) and dl/dlog u."""
        value, slope = self.with_slope(log_p.gather(1, target.unsqueeze(1)))
        return value.squeeze(1), slope

    def slopes_of_mixture(self, log_p: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """Return sum_k t_k l(p_k) and its derivative in log p."""
        value, slope = self.with_slope(log_p)
        return (t * value).sum(1), t * slope
