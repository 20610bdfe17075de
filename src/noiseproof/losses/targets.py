"""What ``nn.CrossEntropyLoss`` accepts as logits, targets and weights, and does with them.

Inside the package a batch is rows: logits ``(M, K)`` with class indices ``(M,)`` or class
probabilities ``(M, K)``; or planes, ``(N, K, d)`` with class indices ``(N, d)``, where a kernel
works along dimension 1. This file is the only one that knows the shapes outside.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from noiseproof.errors import InputTypeError, ParameterError, ShapeError, TargetError
from noiseproof.kernels import FLOATS, is_plain


@dataclass(slots=True)
class Batch:
    """Logits, targets and sample weights as rows or planes, and the shape of unreduced losses."""

    z: Tensor
    y: Tensor
    w: Tensor | None
    unreduced: torch.Size
    soft: bool

    def as_rows(self) -> "Batch":
        """Return the same batch as rows."""
        if self.z.dim() == 2:
            return self
        w = None if self.w is None else self.w.flatten()
        z = self.z.movedim(1, -1).flatten(0, 1)
        return Batch(z, self.y.flatten(), w, self.unreduced, self.soft)


def as_batch(logits: Tensor, target: Tensor, sample_weight: Tensor | None, planes: bool) -> Batch:
    """Bring ``(K,)``, ``(N, K)`` or ``(N, K, d1, ...)`` to rows, or to planes where it may."""
    if not (isinstance(logits, Tensor) and isinstance(target, Tensor)):
        raise not_a_tensor(logits=logits, target=target)
    check_dense(logits=logits, target=target)
    if logits.dim() == 0 or logits.dtype not in FLOATS:
        raise ShapeError(
            f"expected logits (N, K), (N, K, d1, ...) or (K,) of a floating type, "
            f"got {logits.dtype} of shape {tuple(logits.shape)}"
        )
    if (
        logits.dim() == 2
        and target.dtype == torch.int64
        and target.shape == logits.shape[:1]
        and sample_weight is None
        and logits.shape[1] > 0
    ):
        return Batch(logits, target, None, target.shape, False)
    class_dim = 0 if logits.dim() == 1 else 1
    if logits.shape[class_dim] == 0:
        raise ShapeError(f"expected logits of one class at least, got {tuple(logits.shape)}")
    unreduced = logits.shape[:class_dim] + logits.shape[class_dim + 1 :]
    soft = target.is_floating_point()
    if target.shape != (logits.shape if soft else unreduced) or target.is_complex():
        raise _wrong_shape(logits, target, unreduced)
    if not soft and target.dtype != torch.int64:
        target = target.long()
    w = None if sample_weight is None else sample_weights(sample_weight, unreduced, logits)
    if logits.dim() == 2:
        return Batch(logits, target, w, unreduced, soft)
    if planes and not soft and logits.dim() > 2 and logits.is_contiguous():
        flat = None if w is None else w.flatten(1)
        return Batch(logits.flatten(2), target.flatten(1), flat, unreduced, soft)
    classes = logits.shape[class_dim]
    z = logits.movedim(class_dim, -1).reshape(-1, classes)
    y = target.movedim(class_dim, -1).reshape(-1, classes) if soft else target.reshape(-1)
    return Batch(z, y, None if w is None else w.reshape(-1), unreduced, soft)


def not_a_tensor(**given: Any) -> InputTypeError:
    """Return the error that names the first of ``given`` that is not a tensor."""
    name, kind = next((n, type(x)) for n, x in given.items() if not isinstance(x, Tensor))
    full = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return InputTypeError(f"expected {name} to be a tensor, got {full}; try torch.as_tensor")


def check_dense(**given: Tensor) -> None:
    """Say which of the tensors is not a dense one, or is on another device than the first."""
    first = next(iter(given))
    for name, x in given.items():
        if x.is_nested or x.is_quantized or x.layout is not torch.strided:
            strange = "a nested" if x.is_nested else "a quantized" if x.is_quantized else ""
            kind = f"{strange} tensor" if strange else f"layout {x.layout}"
            raise ShapeError(f"expected {name} to be a dense tensor, got {kind}")
        if x.device != given[first].device:
            raise ShapeError(
                f"expected {first} and {name} on one device, got {given[first].device} and "
                f"{x.device}"
            )


def check_probabilities(t: Tensor) -> None:
    """Say that a class probability is negative, where it can be looked at."""
    if t.device.type == "cpu" and is_plain(t) and bool((t.to(compute_dtype(t)) < 0).any()):
        raise ParameterError("expected class probabilities >= 0 everywhere")


def _wrong_shape(logits: Tensor, target: Tensor, unreduced: torch.Size) -> ShapeError:
    got = f"{target.dtype} of shape {tuple(target.shape)}"
    if logits.dim() > 2 and not target.is_floating_point() and target.shape == logits.shape[:-1]:
        return ShapeError(
            f"expected class indices of shape {tuple(unreduced)}, got {got}: classes are "
            f"dimension 1 of the logits {tuple(logits.shape)}; transpose them with "
            "logits.movedim(-1, 1)"
        )
    return ShapeError(
        f"expected class indices of shape {tuple(unreduced)} or class probabilities of shape "
        f"{tuple(logits.shape)}, got {got}"
    )


def sample_weights(w: Tensor, unreduced: torch.Size, logits: Tensor) -> Tensor:
    """Return the weights of the rows, checked, in the dtype that the loss is computed in."""
    if not isinstance(w, Tensor):
        raise not_a_tensor(sample_weight=w)
    check_dense(logits=logits, sample_weight=w)
    if w.is_complex():
        raise ShapeError(f"expected sample_weight of real numbers, got {w.dtype}")
    if w.shape != unreduced:
        raise ShapeError(
            f"expected sample_weight of shape {tuple(unreduced)}, got {tuple(w.shape)}"
        )
    w = w.to(compute_dtype(logits))
    if w.device.type == "cpu" and is_plain(w) and bool((w < 0).any()):
        raise ParameterError("expected sample_weight >= 0 everywhere")
    return w


def without_ignored(y: Tensor, classes: int, ignore_index: int) -> tuple[Tensor, Tensor | None]:
    """Return targets that are all in 0..K-1, and which rows count (``None``: all of them).

    On a CPU the targets are looked at, so that a wrong one can be named. Elsewhere looking would
    make the host wait for the device: every row is masked, and an index out of range is left to
    the device-side assertion of ``gather``.
    """
    if y.is_cpu and y.numel() > 0 and is_plain(y):
        low, high = (int(end) for end in torch.aminmax(y))
        if low >= 0 and high < classes and not low <= ignore_index <= high:
            return y, None
        wrong = y[(y != ignore_index) & ((y < 0) | (y >= classes))]
        if wrong.numel():
            raise TargetError(
                f"target {int(wrong[0])} is outside 0..{classes - 1} (the logits have {classes} "
                f"classes; ignore_index is {ignore_index})"
            )
    valid = y != ignore_index
    return y.masked_fill(~valid, 0), valid


def row_weights(
    z: Tensor, y: Tensor, valid: Tensor | None, weight: Tensor | None, sample: Tensor | None
) -> Tensor | None:
    """Return what each row counts before the reduction, or ``None`` where all count one."""
    w = None if weight is None else class_weights(z, weight)[y]
    if sample is not None:
        w = sample if w is None else w * sample
    if valid is not None:
        return valid.to(compute_dtype(z)) if w is None else w * valid
    return w


def check_class_weights(weight: Any, negative: bool) -> None:
    """Say what is wrong with the weights of the classes, where they can be looked at.

    Cross entropy takes ``negative`` ones, as torch's does.
    """
    if not isinstance(weight, Tensor):
        raise not_a_tensor(weight=weight)
    check_dense(weight=weight)
    if weight.dim() != 1 or not weight.is_floating_point():
        raise ShapeError(
            f"expected a floating-point weight for each class, shape (K,), got {weight.dtype} of "
            f"shape {tuple(weight.shape)}"
        )
    if negative or weight.device.type != "cpu" or not is_plain(weight):
        return
    if not bool((weight.to(compute_dtype(weight)) >= 0).all()):  # NaN neither
        raise ParameterError("expected class weights >= 0 everywhere")


def spread_evenly(z: Tensor, masked_too: bool) -> Tensor | float:
    """Return what label smoothing gives each class: 1 / K, and nothing to a masked one.

    Only torch's cross entropy gives a masked class its share, and is infinite then.
    """
    if masked_too:
        return 1 / z.shape[1]
    part = z != -torch.inf
    return part.to(compute_dtype(z)) / part.sum(-1, keepdim=True)


def class_weights(z: Tensor, weight: Tensor) -> Tensor:
    """Return the class weights in the dtype the loss is computed in, checked for their shape."""
    if weight.shape != z.shape[1:2]:
        raise ShapeError(
            f"expected a weight for each of {z.shape[1]} classes, got shape {tuple(weight.shape)}"
        )
    if weight.device != z.device:
        raise ShapeError(
            f"expected logits and class weights on one device, got {z.device} and {weight.device}: "
            f"move the loss, loss.to({str(z.device)!r})"
        )
    return weight.to(compute_dtype(z))


def compute_dtype(z: Tensor) -> torch.dtype:
    """Losses are computed in float32 at least, whatever comes in."""
    return torch.float64 if z.dtype == torch.float64 else torch.float32
