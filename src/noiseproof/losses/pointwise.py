"""Losses that see a row of probabilities through log u alone, or through a few sums besides."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import torch
from torch import Tensor

from noiseproof import kernels
from noiseproof.errors import ParameterError
from noiseproof.kernels import Classes, LogSum, Scale, Summand, Sums
from noiseproof.losses.base import Loss, finite, picked
from noiseproof.losses.formula import check_asked, check_slopes
from noiseproof.losses.targets import compute_dtype


class RowLoss(Loss, register=False):
    """A loss of log u and of sums over the classes, such as sum_k log p_k or sum_k p_k^2.

    A subclass names its sums as :attr:`statistics` and says :meth:`from_row`; then it runs in one
    pass over the logits, whatever the formula. :meth:`with_slopes` is derived from it; where a
    closed form is at hand, overriding it saves small batches the derivation.

    A class whose logit is -inf has no part in the sums, nor in the number of classes.

    Example:
        >>> import torch, noiseproof as nf
        >>> class Squared(nf.RowLoss, register=False):  # sum_k (e_y - p)_k^2
        ...     statistics = (nf.PowerSum(2),)
        ...     def from_row(self, log_u, sums, classes):
        ...         return 1 - 2 * log_u.exp() + sums[0]
        >>> Squared()(torch.zeros(1, 4), torch.tensor([0]))
        tensor(0.7500)
    """

    statistics: ClassVar[Sequence[Summand]] = (LogSum(),)

    def __init_subclass__(cls, register: bool = True, **kwargs: Any) -> None:
        check_asked(cls, RowLoss, "from_row", ("with_slopes", "_few_losses"))
        check_asked(cls, RowLoss, "statistics", ("with_slopes",))
        super().__init_subclass__(register=register, **kwargs)

    def settle(self) -> None:
        """Say that slopes which a user says are not those of the formula."""
        super().settle()
        check_slopes(self)

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return the loss for log u, the sums in the order of :attr:`statistics`, and K."""
        raise NotImplementedError(f"{type(self).__name__} has to define from_row")

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Return :meth:`from_row` and its derivatives in log u and in each of the sums."""
        with kernels.recording():
            leaves = [kernels.leaf_of(x) for x in (log_u, *sums)]
            if isinstance(classes, Tensor):
                classes = kernels.recordable(classes)
            rows = self.from_row(leaves[0], tuple(leaves[1:]), classes)
            if not rows.requires_grad:  # a step function: flat wherever it has a slope
                return rows, torch.zeros_like(rows), tuple(torch.zeros_like(s) for s in sums)
            c, *ds = torch.autograd.grad(rows.sum(), leaves, materialize_grads=True)
        return rows.detach(), c, tuple(ds)

    @property
    def takes_zero(self) -> bool:
        """Whether the formula and its slope in log u are right where log u is -inf, as it stands.

        If not, log u is bounded from below first.
        """
        return False

    @property
    def along_dim_1(self) -> bool:
        """Rows and planes alike, unless the logits are changed first."""
        return not self.transforms

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return L(u, k) for every k."""
        sums = tuple(f.value(log_p).sum(-1, keepdim=True) for f in self.statistics)
        return self.from_row(log_p, sums, log_p.shape[-1])

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return L(u, y) for each row."""
        sums = tuple(f.value(log_p).sum(-1) for f in self.statistics)
        return self.from_row(picked(log_p, target), sums, log_p.shape[-1])

    def _of_few(self, input: Tensor, target: Tensor) -> Tensor | None:
        """Return the loss of a few rows in few operations, each of which autograd knows.

        ``None`` where the other paths have something to say: a label that is ignored or wrong, a
        masked class, a probability that no float holds.
        """
        if self.ignore_index >= 0:
            return None
        z = self.transform(input) if self.transforms else input
        log_p = torch.log_softmax(z, 1, compute_dtype(z))
        scale = 1 / z.shape[0] if self.reduction == "mean" else 1.0
        if not self.statistics and self.reduction != "none" and z.numel() <= kernels.TINY:
            near = self.takes_zero or kernels.is_near(log_p)
            values = self.from_row(log_p, (), z.shape[1]) if near else None
            return None if values is None else kernels.sum_of_labels(values, target, scale)
        rows = self._few_losses(log_p, target)
        return (
            rows if rows is None or self.reduction == "none" else kernels.sum_of_rows(rows, scale)
        )

    def _few_losses(self, log_p: Tensor, target: Tensor) -> Tensor | None:
        """Return L(u, y), (N,), of a few rows; ``None`` as :meth:`_of_few`."""
        log_u = kernels.pick(log_p, target)
        if log_u is None:
            return None
        statistics = self.statistics
        if not statistics:
            near = self.takes_zero or kernels.is_near(log_u)
            return self.from_row(log_u, (), log_p.shape[1]) if near else None
        if not kernels.is_near(log_p):
            return None
        sums = tuple([kernels.sum_of_classes(f.value(log_p)) for f in statistics])
        return self.from_row(log_u, sums, log_p.shape[1])

    def _rows(self, z: Tensor, target: Tensor) -> Tensor:
        log_p = torch.log_softmax(z, -1, compute_dtype(z))
        index = target.unsqueeze(-1)
        if not self.statistics:
            log_u = log_p.gather(-1, index)
            if self.infinite:
                log_u = torch.where(z.gather(-1, index) == -torch.inf, log_u, finite(log_u))
            elif not self.takes_zero:
                log_u = finite(log_u)  # small batches notice an operation
            return self.from_row(log_u, (), z.shape[1])
        log_p = finite(log_p)
        part = (z != -torch.inf).scatter(-1, index, 1)  # jit.trace knows no scatter of True
        values = (torch.where(part, f.value(log_p), 0) for f in self.statistics)
        sums = tuple(value.sum(-1, keepdim=True) for value in values)
        return self.from_row(log_p.gather(-1, index), sums, part.sum(-1, keepdim=True))

    def _class_rows(self, z: Tensor) -> Tensor:
        log_p = torch.log_softmax(z, -1, compute_dtype(z))
        clamped = finite(log_p)
        log_p = torch.where(z == -torch.inf, log_p, clamped) if self.infinite else clamped
        if not self.statistics:
            return self.from_row(log_p, (), z.shape[1])
        part = z != -torch.inf
        sums = []
        for f in self.statistics:
            value = f.value(log_p)
            of_others = torch.where(part, value, 0).sum(-1, keepdim=True)
            sums.append(of_others + torch.where(part, 0, value))  # a masked label has its own part
        return self.from_row(log_p, tuple(sums), part.sum(-1, keepdim=True) + (~part).long())

    def _block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        return kernels.row_block(
            z, target, scale, out, self.with_slopes, self.statistics, self.infinite
        )


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

    statistics: ClassVar[Sequence[Summand]] = ()
    _takes_zero = False

    def __init_subclass__(cls, register: bool = True, **kwargs: Any) -> None:
        # What was said of a parent's formula is not true of another one.
        others = (parent for parent in cls.__mro__[1:] if parent is not Pointwise)
        if "value" in cls.__dict__ and any("value" in parent.__dict__ for parent in others):
            inherited: dict[str, Any] = {
                "with_slope": Pointwise.with_slope,
                "summed": Pointwise.summed,
                "asymmetry_ratio": None,
                "strict_asymmetry_ratio": None,
                "symmetric": False,
                "bounded": True,
                "is_cross_entropy": False,
                "infinite": False,
            }
            for name, plain in inherited.items():
                if name not in cls.__dict__ and hasattr(cls, name):
                    setattr(cls, name, plain)
        super().__init_subclass__(register=register, **kwargs)

    def prepare(self) -> None:
        """Say that a parameter is too extreme for float32, or that ``value`` is no l(u)."""
        super().prepare()
        name = type(self).__name__
        ends = torch.tensor([-1e4, -1.0, 0.0], dtype=torch.float32, device="cpu")
        if not kernels.is_plain(ends):  # built while something is traced: no numbers to look at
            return
        try:
            values, turned = self.value(ends), self.value(ends[1:].flip(0))
            if self.closed_form:
                with suppress(AttributeError):  # what a subclass sets up after this
                    self.with_slope(ends)
        except (OverflowError, RuntimeError) as error:
            if "overflow" not in str(error) and not isinstance(error, OverflowError):
                raise
            values = turned = torch.full_like(ends, torch.nan)
        if not isinstance(values, Tensor) or values.numel() != ends.numel():
            raise ParameterError(f"{name}: value(log_u) has to be a tensor of the shape of log_u")
        if not torch.isfinite(values).all():
            raise ParameterError(f"{self} is not finite in float32 for every log u <= 0")
        # A batch is computed in parts, and the theory asks for points of its own.
        two = values.flatten()[1:].flip(0)
        if not (self.random or torch.allclose(two, turned.flatten(), rtol=1e-4)):
            raise ParameterError(
                f"{name}: value(log_u) of one number depends on the others, or on chance: it has "
                "to act on each element by itself, and a loss that draws has random = True"
            )
        self._takes_zero = self.bounded and self._is_right_at_zero()

    def _is_right_at_zero(self) -> bool:
        zero = torch.tensor([-torch.inf], dtype=torch.float32, device="cpu")
        value, slope, _ = RowLoss.with_slopes(self, zero, (), 0)
        return bool(torch.isfinite(value).all() and torch.isfinite(slope).all())

    @property
    def takes_zero(self) -> bool:
        """Whether l and its slope at log u = -inf are numbers, as they are not of u log u."""
        return self._takes_zero

    @property
    def closed_form(self) -> bool:
        """Whether the subclass says its own ``with_slope``, and changes no logits."""
        return type(self).with_slope is not Pointwise.with_slope and not self.transforms

    def value(self, log_u: Tensor) -> Tensor:
        """Return l as a function of log u, elementwise."""
        raise NotImplementedError(f"{type(self).__name__} has to define value(log_u)")

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Return l and dl / dlog u, elementwise; by autograd unless a subclass knows better."""
        rows, c, _ = super().with_slopes(log_u, (), 0)
        return rows, c

    def summed(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Return sum_k l(p_k), dimension 1 kept, and -dl / dlog p.

        A subclass may override it to make :class:`Normalized` faster: p is at hand and stays as
        it is; log_p may be overwritten.
        """
        value, slope = self.with_slope(log_p)
        return value.sum(1, keepdim=True), slope.neg()

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return ``value(log_u)``."""
        return self.value(log_u)

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Return ``with_slope(log_u)``."""
        return *self.with_slope(log_u), ()

    def slopes_of_label(self, log_p: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return l(u) and dl/dlog u."""
        value, slope = self.with_slope(log_p.gather(1, target.unsqueeze(1)))
        return value.squeeze(1), slope

    def slopes_of_mixture(self, log_p: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """Return sum_k t_k l(p_k) and its derivative in log p."""
        value, slope = self.with_slope(log_p)
        return (t * value).sum(1), t * slope
