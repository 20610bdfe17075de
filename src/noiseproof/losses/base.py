"""What every loss is: a drop-in for ``nn.CrossEntropyLoss`` that knows its own mathematics."""

import dataclasses
import functools
import typing
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, dataclass_transform

import torch
from torch import Tensor, nn

from noiseproof import kernels
from noiseproof.errors import ParameterError
from noiseproof.kernels import Scale
from noiseproof.losses.derivatives import Derivatives, derivatives
from noiseproof.losses.parameter import Interval, checked, parameter, write_number
from noiseproof.losses.targets import (
    as_rows,
    class_weights,
    compute_dtype,
    is_traced,
    row_weights,
    total_weight,
    without_ignored,
)

#: Every named loss, by name. Subclassing :class:`Loss` adds to it; tests and tools walk it.
registry: dict[str, type["Loss"]] = {}

OPTIONS = ("weight", "ignore_index", "reduction", "label_smoothing")


@dataclass_transform(eq_default=False, field_specifiers=(parameter, field))
@dataclass(eq=False, repr=False, kw_only=True)
class Loss(nn.Module):
    """A loss L(u, i) of class probabilities u = softmax(logits) and a label i.

    A subclass declares its parameters with :func:`parameter` and says :meth:`per_class`, or, as
    a :class:`Pointwise`, only ``value``. The options are those of ``nn.CrossEntropyLoss``, mean
    the same, and are given by name.

    Args:
        weight: a weight for each class, shape (K,).
        ignore_index: targets with this value count nothing.
        reduction: ``"mean"`` (weighted, as torch's), ``"sum"`` or ``"none"``.
        label_smoothing: the part of each target that is spread over all classes.

    The loss of float16 or bfloat16 logits is computed, and returned, in float32.
    """

    weight: Tensor | None = field(default_factory=lambda: None)
    ignore_index: int = -100
    reduction: Literal["none", "mean", "sum"] = "mean"
    label_smoothing: float = 0.0

    # What the formula promises; the tests hold every registered loss to it.
    symmetric: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    @property
    def closed_form(self) -> bool:
        """Whether :meth:`block` differentiates by formula, not by autograd."""
        return False

    def __init_subclass__(cls, register: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(eq=False, repr=False)(cls)
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
        domains = self.domains()
        for name, kind in self.parameter_types().items():
            given = getattr(self, name)
            if kind is bool and not isinstance(given, bool):
                raise ParameterError(f"expected `{name}` to be True or False, got {given!r}")
            if name in domains:
                number = checked(name, given, domains[name])
                if kind is int and not number.is_integer():
                    raise ParameterError(f"expected `{name}` to be a whole number, got {given!r}")
                setattr(self, name, kind(number))
        smoothing = Interval(at_least=0, at_most=1)
        self.label_smoothing = checked("label_smoothing", self.label_smoothing, smoothing)
        if self.reduction not in ("none", "mean", "sum"):
            raise ParameterError(f"expected reduction none, mean or sum, got {self.reduction!r}")
        self.register_buffer("weight", self.__dict__.pop("weight"))

    # The mathematics

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return L(u, k), the loss had the label been k, for every k: the shape of ``log_p``."""
        raise NotImplementedError(f"{type(self).__name__} has to define per_class(log_p)")

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return L(u, y) for each row of ``log_p`` (..., K) and its label (...)."""
        return picked(self.per_class(log_p), target)

    def rows(self, z: Tensor, target: Tensor) -> Tensor:
        """Return L(u, y), (M,) or (M, 1), of logits (M, K), by operations autograd knows."""
        return self.per_sample(log_softmax(z), target)

    def block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        """Write the gradient of a block of rows, as :mod:`noiseproof.kernels` describes."""
        with torch.enable_grad():
            leaf = z.detach().requires_grad_()
            rows = self.per_sample(torch.log_softmax(leaf, -1), target)
            (gradient,) = torch.autograd.grad((rows * scale).sum(), leaf)
        out.copy_(gradient)
        return rows.detach()

    def slopes_of_label(self, log_p: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return L(u, y), (M,), and dL/dlog p: (M, K), or (M, 1) where only log p_y counts."""
        with torch.enable_grad():
            leaf = log_p.detach().requires_grad_()
            rows = self.per_sample(leaf, target)
            return rows.detach(), _gradient(rows.sum(), leaf)

    def slopes_of_mixture(self, log_p: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """Return sum_k t_k L(u, k), (M,), and its derivative in log p, (M, K)."""
        with torch.enable_grad():
            leaf = log_p.detach().requires_grad_()
            rows = (t * self.per_class(leaf)).sum(-1)
            return rows.detach(), _gradient(rows.sum(), leaf)

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
        return derivatives(self, scores, target, weight)

    # The behaviour of nn.CrossEntropyLoss

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss of ``logits`` for class indices or class probabilities ``target``."""
        z, y, unreduced = as_rows(logits, target)
        if y.is_floating_point():
            loss = self._of_probabilities(z, y)
        elif self.label_smoothing > 0:
            loss = self._smoothed(z, y)
        else:
            loss = self._of_labels(z, y)
        return loss.reshape(unreduced) if self.reduction == "none" else loss

    def _of_labels(self, z: Tensor, y: Tensor) -> Tensor:
        if self.ignore_index < 0 and y.device.type == "cpu" and not (self.random or is_traced()):
            # Most batches have no ignored label and no wrong one; gather looks at them anyway.
            try:
                return self._of_valid_labels(z, y, None)
            except (IndexError, RuntimeError):
                y, valid = without_ignored(y, z.shape[1], self.ignore_index)
                if valid is None:
                    raise
                return self._of_valid_labels(z, y, valid)
        return self._of_valid_labels(z, *without_ignored(y, z.shape[1], self.ignore_index))

    def _of_valid_labels(self, z: Tensor, y: Tensor, valid: Tensor | None) -> Tensor:
        scale = self._scale(row_weights(z, y, valid, self.weight), valid, y.shape[0])

        def plain(z: Tensor) -> Tensor:
            return self._reduced(self.rows(z, y), scale)

        differentiated = z.requires_grad and torch.is_grad_enabled()
        if not differentiated or self.random or is_traced():
            return plain(z)
        if not self.closed_form and (z.numel() <= kernels.SMALL or any(self.parameters())):
            return plain(z)

        def fused(z: Tensor) -> tuple[Tensor, Tensor]:
            rows, gradient = kernels.by_rows(self.block, z, y, scale)
            return self._reduced(rows, scale), gradient

        return kernels.attach(z, fused, plain)

    def _smoothed(self, z: Tensor, y: Tensor) -> Tensor:
        y, valid = without_ignored(y, z.shape[1], self.ignore_index)
        weights = row_weights(z, y, valid, self.weight)
        losses = self.per_class(log_softmax(z))
        if self.weight is not None:
            losses = losses * class_weights(z, self.weight)
        smoothing = self.label_smoothing
        rows = (1 - smoothing) * picked(losses, y) + smoothing * losses.mean(-1)
        if valid is not None:
            rows = torch.where(valid, rows, 0)
        # The class weights are in the rows already; the mean still divides by those of the labels.
        if self.reduction != "mean" or weights is None:
            return self._reduced(rows, 1.0)
        return rows.sum() / total_weight(weights, valid) + _nan_for(weights.sum())

    def _of_probabilities(self, z: Tensor, probabilities: Tensor) -> Tensor:
        if self.ignore_index >= 0:
            raise ParameterError("ignore_index is for class indices, not for class probabilities")
        t = probabilities.to(compute_dtype(z))
        if self.label_smoothing > 0:
            t = t * (1 - self.label_smoothing) + self.label_smoothing / z.shape[1]
        if self.weight is not None:
            t = t * class_weights(z, self.weight)
        return self._reduced(
            (t * self.per_class(log_softmax(z))).sum(-1), self._scale(None, None, len(z))
        )

    def _scale(self, weights: Tensor | None, valid: Tensor | None, rows: int) -> Scale:
        """What each row counts in the result: its weight, over the sum of them for a mean."""
        if weights is None:
            return 1.0 / max(rows, 1) if self.reduction == "mean" else 1.0
        return weights / total_weight(weights, valid) if self.reduction == "mean" else weights

    def _reduced(self, rows: Tensor, scale: Scale) -> Tensor:
        if isinstance(scale, float):
            if self.reduction == "mean":
                return rows.mean()
            return rows.sum() if self.reduction == "sum" else rows.flatten()
        # A row of weight 0 counts nothing, whatever it holds.
        rows = torch.where(scale == 0, 0, rows.flatten())
        if self.reduction == "none":
            return rows * scale
        total = torch.dot(rows, scale)
        return total + _nan_for(scale.sum()) if self.reduction == "mean" else total

    # Text and algebra

    @classmethod
    def parameters_declared(cls) -> list[dataclasses.Field[Any]]:
        """The fields that make up the mathematics, in order; the options are not among them."""
        return [f for f in dataclasses.fields(cls) if f.init and f.name not in OPTIONS]

    @classmethod
    @functools.cache
    def parameter_types(cls) -> dict[str, Any]:
        """The type of each declared parameter, also where annotations are kept as text."""
        declared = {f.name: f.type for f in cls.parameters_declared()}
        try:
            hints = typing.get_type_hints(cls) if declared else {}
        except NameError:  # text that names something inside a function: only the words are left
            words = {"float": float, "int": int, "bool": bool}
            hints = {name: words.get(str(kind), kind) for name, kind in declared.items()}
        return {name: hints[name] for name in declared}

    @classmethod
    @functools.cache
    def domains(cls) -> dict[str, Interval]:
        """The numeric parameters and the interval each must be in."""
        types = cls.parameter_types()
        declared = {f.name: f.metadata.get("domain") for f in cls.parameters_declared()}
        return {
            name: domain
            for name, domain in declared.items()
            if domain and types[name] in (int, float)
        }

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``nn.CrossEntropyLoss`` this loss was built with."""
        return {name: getattr(self, name) for name in OPTIONS}

    def __str__(self) -> str:
        written = []
        for f in self.parameters_declared():
            value = getattr(self, f.name)
            if isinstance(value, bool):
                written += [f"{f.name}={value}"] if value != f.default else []
            else:
                text = write_number(value) if isinstance(value, float) else str(value)
                written.append(text if isinstance(value, Loss) else f"{f.name}={text}")
        return type(self).__name__ + (f"({', '.join(written)})" if written else "")

    def __repr__(self) -> str:
        defaults = {"weight": None, "ignore_index": -100, "reduction": "mean", "label_smoothing": 0}
        changed = [
            f"{name}={value!r}"
            for name, value in self.options.items()
            if (value is not None if name == "weight" else value != defaults[name])
        ]
        return f"<{', '.join([str(self), *changed])}>"

    def __add__(self, other: "Loss") -> "Loss":
        from noiseproof.losses.combine import weighted_sum  # it is made of losses

        return (
            weighted_sum([(1.0, self), (1.0, other)]) if isinstance(other, Loss) else NotImplemented
        )

    def __mul__(self, factor: float) -> "Loss":
        from noiseproof.losses.combine import weighted_sum

        if not isinstance(factor, (int, float)) or isinstance(factor, bool):
            return NotImplemented
        return weighted_sum([(factor, self)])

    __rmul__ = __mul__


def _gradient(total: Tensor, leaf: Tensor) -> Tensor:
    if not total.requires_grad:  # a step function: flat wherever it has a slope
        return torch.zeros_like(leaf)
    (gradient,) = torch.autograd.grad(total, leaf, materialize_grads=True)
    return gradient


def _nan_for(total: Tensor) -> Tensor:
    """Return 0, or NaN where ``total`` is 0: a mean over nothing, as torch has it."""
    return total / total - 1


def log_softmax(z: Tensor) -> Tensor:
    """Return log p of rows of logits: finite for finite logits, float32 at least."""
    return finite(torch.log_softmax(z, -1, compute_dtype(z)))


def finite(log_p: Tensor) -> Tensor:
    """Return ``log_p`` kept off -inf."""
    return log_p.clamp_min(kernels.lowest(log_p.dtype))


def picked(per_class: Tensor, target: Tensor) -> Tensor:
    """Return the entry of each row that its label points at."""
    return per_class.gather(-1, target.unsqueeze(-1)).squeeze(-1)
