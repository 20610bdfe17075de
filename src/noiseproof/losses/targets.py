"""What ``nn.CrossEntropyLoss`` accepts as logits, targets and weights, and does with them.

Inside the package a batch is always rows: logits ``(M, K)`` with class indices ``(M,)`` or class
probabilities ``(M, K)``. This file is the only one that knows the shapes outside.
"""

import torch
from torch import Tensor

from noiseproof.errors import ShapeError, TargetError


def as_rows(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor, torch.Size]:
    """Flatten ``(K,)``, ``(N, K)`` or ``(N, K, d1, ...)`` to rows; also the unreduced shape."""
    if logits.dim() == 0 or not logits.is_floating_point():
        raise ShapeError(
            f"expected logits (N, K), (N, K, d1, ...) or (K,) of a floating type, "
            f"got {logits.dtype} of shape {tuple(logits.shape)}"
        )
    if logits.dim() == 2 and target.dtype == torch.int64 and target.shape == logits.shape[:1]:
        return logits, target, target.shape
    class_dim = 0 if logits.dim() == 1 else 1
    unreduced = logits.shape[:class_dim] + logits.shape[class_dim + 1 :]
    soft = target.is_floating_point()
    if target.shape != (logits.shape if soft else unreduced):
        raise ShapeError(
            f"expected class indices of shape {tuple(unreduced)} or class probabilities of shape "
            f"{tuple(logits.shape)}, got {target.dtype} of shape {tuple(target.shape)}"
        )
    if not soft and target.dtype != torch.int64:
        target = target.long()
    if logits.dim() == 2:
        return logits, target, unreduced
    classes = logits.shape[class_dim]
    z = logits.movedim(class_dim, -1).reshape(-1, classes)
    if soft:
        return z, target.movedim(class_dim, -1).reshape(-1, classes), unreduced
    return z, target.reshape(-1), unreduced


def without_ignored(y: Tensor, classes: int, ignore_index: int) -> tuple[Tensor, Tensor | None]:
    """Return targets that are all in 0..K-1, and which rows count (``None``: all of them).

    On a CPU the targets are looked at, so that a wrong one can be named. Elsewhere looking would
    make the host wait for the device: every row is masked, and an index out of range is left to
    the device-side assertion of ``gather``.
    """
    valid = y != ignore_index
    if y.device.type == "cpu" and not is_traced():
        wrong = y[valid & ((y < 0) | (y >= classes))]
        if wrong.numel():
            raise TargetError(
                f"target {int(wrong[0])} is outside 0..{classes - 1} (the logits have {classes} "
                f"classes; ignore_index is {ignore_index})"
            )
        if valid.all():
            return y, None
    return y.masked_fill(~valid, 0), valid


def row_weights(z: Tensor, y: Tensor, valid: Tensor | None, weight: Tensor | None) -> Tensor | None:
    """Return what each row counts before the reduction, or ``None`` where all count one."""
    if weight is None:
        return None if valid is None else valid.to(compute_dtype(z))
    w = class_weights(z, weight)[y]
    return w if valid is None else w * valid


def total_weight(weights: Tensor, valid: Tensor | None) -> Tensor:
    """Return what a mean divides by; 1 where every row is ignored, so that none has a gradient."""
    total = weights.sum()
    return total if valid is None else torch.where(valid.any(), total, 1)


def class_weights(z: Tensor, weight: Tensor) -> Tensor:
    """Return the class weights in the dtype the loss is computed in, checked for their shape."""
    if weight.shape != z.shape[-1:]:
        raise ShapeError(
            f"expected a weight for each of {z.shape[-1]} classes, got shape {tuple(weight.shape)}"
        )
    return weight.to(compute_dtype(z))


def compute_dtype(z: Tensor) -> torch.dtype:
    """Losses are computed in float32 at least, whatever comes in."""
    return torch.float64 if z.dtype == torch.float64 else torch.float32


def is_traced() -> bool:
    """Whether values are out of reach: under ``torch.compile`` or a ``torch.func`` transform."""
    # The same question, asked the same way, decides how torch.autograd.Function.apply runs.
    return torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
