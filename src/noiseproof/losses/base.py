"""What every loss is: a drop-in for ``nn.CrossEntropyLoss`` that knows its own mathematics."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, dataclass_transform

import torch
from torch import Tensor, nn

from noiseproof import kernels
from noiseproof.errors import ParameterError
from noiseproof.kernels import Scale
from noiseproof.losses.declared import OPTIONS
from noiseproof.losses.derivatives import Derivatives, derivatives
from noiseproof.losses.formula import check_asked, check_forward, says_transform
from noiseproof.losses.parameter import parameter
from noiseproof.losses.reduction import (
    Reduction,
    counted,
    nan_for,
    reduced,
    scale_of,
    total_weight,
)
from noiseproof.losses.targets import (
    Batch,
    as_batch,
    check_probabilities,
    class_weights,
    compute_dtype,
    row_weights,
    spread_evenly,
    without_ignored,
)
from noiseproof.losses.written import Written

#: Every named loss, by name. Subclassing :class:`Loss` adds to it; tests and tools walk it.
registry: dict[str, type["Loss"]] = {}


@dataclass_transform(eq_default=False, field_specifiers=(parameter, field))
@dataclass(eq=False, repr=False, kw_only=True)
class Loss(Written, nn.Module):
    """A loss L(u, i) of class probabilities u = softmax(logits) and a label i.

    A subclass declares its parameters with :func:`parameter` and says :meth:`per_class`, or, as
    a :class:`Pointwise`, only ``value``. It may change the logits first: :meth:`transform`.
    The options are those of ``nn.CrossEntropyLoss``, mean the same, and are given by name.

    Args:
        weight: a weight for each class, shape (K,).
        ignore_index: targets with this value count nothing.
        reduction: ``"mean"`` (weighted, as torch's), ``"sum"`` or ``"none"``.
        label_smoothing: the part of each target that is spread over all classes.

    The loss of float16 or bfloat16 logits is computed, and returned, in float32.

    A class whose logit is -inf is masked: it has no part in a sum over the classes, nor in label
    smoothing, as if the row had one class less. A label that is masked has probability 0: cross
    entropy is infinite, as torch's; a bounded loss is l(0), with no gradient; any other takes its
    log-probability as -3e29, as it does with any below that, and its gradient there is
    not defined.
    """

    weight: Tensor | None = field(default_factory=lambda: None)
    ignore_index: int = -100
    reduction: Reduction = "mean"
    label_smoothing: float = 0.0

    # What the formula promises; the tests hold every registered loss to it.
    symmetric: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False
    #: What a random loss draws by, as ``torch.rand(..., generator=self.generator)``.
    generator: ClassVar[torch.Generator | None] = None
    #: Whether a label whose logit is -inf costs infinity, as torch's cross entropy has it.
    infinite: ClassVar[bool] = False
    #: Whether this is plain cross entropy, -log u, whatever its options.
    is_cross_entropy: ClassVar[bool] = False
    #: Whether the logits are changed before the softmax, by a :meth:`transform` of the class.
    transforms: ClassVar[bool] = False

    @property
    def closed_form(self) -> bool:
        """Whether :meth:`block` differentiates by formula, not by autograd."""
        return False

    @property
    def learns(self) -> bool:
        """Whether it has parameters, in torch's sense, that are to be trained."""
        return kernels.is_trained(self)

    @property
    def along_dim_1(self) -> bool:
        """Whether :meth:`block` takes (n, K, d) as well as (n, K)."""
        return False

    def __init_subclass__(cls, register: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(eq=False, repr=False)(cls)
        # torch derives classes too, to parametrize a module: they are the same loss.
        register = register and not cls.__module__.startswith("torch.")
        if "text_name" not in cls.__dict__ and not cls.__module__.startswith("torch."):
            cls.text_name = cls.__name__
        if says_transform(cls):
            cls.transforms = True
        if "class_rows" not in cls.__dict__:
            check_asked(cls, Loss, "per_class", ("_class_rows", "per_sample"))
            check_asked(cls, Loss, "per_sample", ("_rows",))
        if register:
            known = registry.get(cls.__name__)
            if known is not None and known.__module__ != cls.__module__:
                raise ParameterError(f"{known.__module__} has a loss named {cls.__name__} already")
            registry[cls.__name__] = cls

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: D102
        # A module must be initialised before the dataclass's __init__ assigns its first field.
        self = super().__new__(cls)
        nn.Module.__init__(self)
        return self

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in (*self.parameter_types(), *OPTIONS)}
        for name, value in given.items():
            setattr(self, name, self.checked(name, value))
        del self.weight  # an attribute, or a parameter
        self.register_buffer("weight", given["weight"])
        self.settle()

    def check_formula(self, who: str) -> None:
        """Raise ParameterError where ``who`` asks the formula alone, and forward does more."""
        check_forward(self, Loss, who)

    # The mathematics

    def transform(self, z: Tensor) -> Tensor:
        """Return the logits (M, K) that the softmax is taken of: a subclass may change them."""
        return z

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return L(u, k), the loss had the label been k, for every k: the shape of ``log_p``.

        ``log_p`` (..., K) is log u, of the logits as :meth:`transform` leaves them.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define per_class(log_p)")

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return L(u, y) for each row of ``log_p`` (..., K) and its label (...)."""
        return picked(self.per_class(log_p), target)

    # From logits to losses: every path below, and linear_loss, goes through one of these three.

    def rows(self, z: Tensor, target: Tensor) -> Tensor:
        """Return L(u, y), (M,) or (M, 1), of logits (M, K), by operations autograd knows."""
        return self._rows(self.transform(z), target)

    def class_rows(self, z: Tensor) -> Tensor:
        """Return L(u, k) for every k, (M, K), of logits (M, K), by operations autograd knows."""
        return self._class_rows(self.transform(z))

    def block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        """Write the gradient of a block of rows, as :mod:`noiseproof.kernels` describes."""
        if not self.transforms:
            return self._block(z, target, scale, out)
        with torch.enable_grad():
            leaf = z.detach().requires_grad_()
            changed = self.transform(leaf)
        inner = torch.empty_like(changed)
        rows = self._block(changed.detach(), target, scale, inner)
        out.copy_(torch.autograd.grad(changed, leaf, inner)[0])
        return rows

    # The same of logits that have been transformed.

    def _rows(self, z: Tensor, target: Tensor) -> Tensor:
        return self.per_sample(log_softmax(z), target)

    def _class_rows(self, z: Tensor) -> Tensor:
        return self.per_class(log_softmax(z))

    def _block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        with torch.enable_grad():
            leaf = z.detach().requires_grad_()
            rows = self._rows(leaf, target).flatten()
            out.copy_(kernels.gradient_of((rows * scale).sum(), leaf))
        return rows.detach()

    def mixture_block(self, z: Tensor, t: Tensor, scale: Scale, out: Tensor) -> Tensor:
        """As :meth:`block`, of sum_k t_k L(u, k) with t (n, K)."""
        with torch.enable_grad():
            leaf = z.detach().requires_grad_()
            rows = (t * self.class_rows(leaf)).sum(-1)
            out.copy_(kernels.gradient_of((rows * scale).sum(), leaf))
        return rows.detach()

    def slopes_of_label(self, log_p: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return L(u, y), (M,), and dL/dlog p: (M, K), or (M, 1) where only log p_y counts."""
        with kernels.recording():
            leaf = kernels.leaf_of(log_p)
            rows = self.per_sample(leaf, kernels.recordable(target))
            return rows.detach(), kernels.gradient_of(rows.sum(), leaf)

    def slopes_of_mixture(self, log_p: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """Return sum_k t_k L(u, k), (M,), and its derivative in log p, (M, K)."""
        with kernels.recording():
            leaf = kernels.leaf_of(log_p)
            rows = (kernels.recordable(t) * self.per_class(leaf)).sum(-1)
            return rows.detach(), kernels.gradient_of(rows.sum(), leaf)

    def derivatives(self, scores: Any, target: Any, weight: Any = None) -> Derivatives:
        """Return value, gradient and curvature in raw scores, as boosting wants them.

        For L = l(u), with w = -u l'(u) >= 0, the gradient is w (p - e_y) and the curvature
        w p (1 - p), never negative. It is the diagonal of the Hessian of w times cross entropy,
        w held fixed. Where l is concave in log u (CE, GCE, MAE, RCE, SCE, AGCE; AUL with
        p <= a; AEL with a >= 1), w times cross entropy lies above L and touches it here, so the
        curvature is an upper bound of L's own diagonal, and twice it one of L's whole Hessian: a
        Newton step with it never overshoots. In general w is sum_k |dL/dlog p_k|.

        Args:
            scores: (N, K) raw scores, before the softmax; a numpy array or a tensor.
            target: (N,) class indices or (N, K) class probabilities.
            weight: (N,) what each row counts, or ``None``.

        Returns:
            value (N,), gradient (N, K) and curvature (N, K): arrays for arrays, tensors for
            tensors. Class weights, label smoothing and ``ignore_index`` are in them, ``reduction``
            is not.

        Example:
            >>> import numpy as np, noiseproof as nf
            >>> found = nf.MAE().derivatives(np.zeros((1, 2)), np.array([0]))
            >>> found.value, found.gradient, found.curvature
            (array([1.]), array([[-0.5,  0.5]]), array([[0.25, 0.25]]))
        """
        self.check_formula("derivatives")
        return derivatives(self, scores, target, weight)

    # The behaviour of nn.CrossEntropyLoss

    def forward(self, input: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the loss of logits for class indices or class probabilities.

        Args:
            input: logits, (N, K), (N, K, d1, ...) or (K,).
            target: class indices, the shape of ``input`` without K, or class probabilities, the
                shape of ``input``.
            sample_weight: what each row counts, the shape of ``input`` without K. A mean divides
                by the sum of the effective weights: the sample's times, for class indices, that
                of its class. So rows of weight 0 are rows left out, and a weight of 2 is a row
                given twice. It may be learnt: it has a gradient where it requires one.
        """
        if (
            sample_weight is None
            and self.label_smoothing == 0
            and self._buffers.get("weight", self) is None  # absent where it is parametrized
            and kernels.is_small(input, target)
        ):
            value = self._of_few(input, target)
            if value is not None:
                return value
        batch = as_batch(input, target, sample_weight, planes=self.along_dim_1)
        if batch.soft:
            loss = self._of_probabilities(batch)
        elif self.label_smoothing > 0:
            loss = self._smoothed(batch.as_rows())
        else:
            loss = self._of_labels(batch)
        return loss.reshape(batch.unreduced) if self.reduction == "none" else loss

    def _of_few(self, input: Tensor, target: Tensor) -> Tensor | None:
        """Return the loss of a few rows if there is a quicker way to it, else ``None``."""
        return None

    def _of_labels(self, batch: Batch) -> Tensor:
        z = batch.z
        y, valid = without_ignored(batch.y, z.shape[1], self.ignore_index)
        weights = row_weights(z, y, valid, self.weight, batch.w)
        scale = scale_of(self.reduction, weights, valid, y.numel())

        def plain(z: Tensor) -> Tensor:
            rows = z if z.dim() == 2 else z.movedim(1, -1).flatten(0, 1)
            return reduced(self.rows(rows, y.flatten()), self.reduction, scale, y.shape)

        learnt = isinstance(scale, Tensor) and scale.requires_grad
        if learnt or not (z.requires_grad and torch.is_grad_enabled() and self._fuses(z)):
            return plain(z)

        def fused(z: Tensor) -> tuple[Tensor, Tensor]:
            rows, gradient = kernels.by_blocks(self.block, z, y, scale)
            return reduced(rows, self.reduction, scale, y.shape), gradient

        return kernels.attach(z, fused, plain)

    def _fuses(self, z: Tensor) -> bool:
        """Whether a kernel may compute the gradient together with the value, and it pays."""
        if self.random or not kernels.is_plain(z) or self.learns:
            return False
        return self.closed_form or z.numel() > kernels.SMALL

    def _smoothed(self, batch: Batch) -> Tensor:
        z = batch.z
        y, valid = without_ignored(batch.y, z.shape[1], self.ignore_index)
        weights = row_weights(z, y, valid, self.weight, batch.w)
        losses = self.class_rows(z)
        if self.weight is not None:
            losses = losses * class_weights(z, self.weight)
        smoothing = self.label_smoothing
        spread = (losses * spread_evenly(z, self.infinite)).sum(-1)
        rows = (1 - smoothing) * picked(losses, y) + smoothing * spread
        if batch.w is not None:
            rows = counted(rows, batch.w)
        if valid is not None:
            rows = torch.where(valid, rows, 0)
        # The class weights are in the rows already; the mean still divides by those of the labels.
        if self.reduction != "mean" or weights is None:
            return reduced(rows, self.reduction, 1.0, y.shape)
        return rows.sum() / total_weight(weights, valid) + nan_for(weights.sum())

    def _of_probabilities(self, batch: Batch) -> Tensor:
        if self.ignore_index >= 0:
            raise ParameterError("ignore_index is for class indices, not for class probabilities")
        if not self.is_cross_entropy:  # torch's takes negative ones
            check_probabilities(batch.y)
        z = batch.z
        t = batch.y.to(compute_dtype(z))
        if self.label_smoothing > 0:
            even = spread_evenly(z, self.infinite)
            t = t * (1 - self.label_smoothing) + self.label_smoothing * even
        if self.weight is not None:
            t = t * class_weights(z, self.weight)
        scale = scale_of(self.reduction, batch.w, None, len(z))
        rows = (t * self.class_rows(z)).sum(-1)
        return reduced(rows, self.reduction, scale, rows.shape)


def log_softmax(z: Tensor) -> Tensor:
    """Return log p of rows of logits: finite for finite logits, float32 at least."""
    return finite(torch.log_softmax(z, -1, compute_dtype(z)))


def finite(log_p: Tensor) -> Tensor:
    """Return ``log_p`` kept off -inf."""
    return log_p.clamp_min(kernels.lowest(log_p.dtype))


def picked(per_class: Tensor, target: Tensor) -> Tensor:
    """Return the entry of each row that its label points at."""
    return per_class.gather(-1, target.unsqueeze(-1)).squeeze(-1)
