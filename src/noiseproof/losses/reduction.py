"""How row losses become one number: what each row counts, and what a mean divides by."""

from typing import Literal

import torch
from torch import Tensor

from noiseproof.kernels import Scale

Reduction = Literal["none", "mean", "sum"]


def scale_of(
    reduction: Reduction, weights: Tensor | None, valid: Tensor | None, rows: int
) -> Scale:
    """Return what each row counts in the result: its weight, over the sum of them for a mean."""
    if weights is None:
        return 1.0 / max(rows, 1) if reduction == "mean" else 1.0
    return weights / total_weight(weights, valid) if reduction == "mean" else weights


def reduced(rows: Tensor, reduction: Reduction, scale: Scale, shape: torch.Size) -> Tensor:
    """Return the mean or the sum of the row losses, or each times its weight, in ``shape``."""
    if isinstance(scale, float):
        if reduction == "mean":
            return rows.mean()
        return rows.sum() if reduction == "sum" else rows.reshape(shape)
    weighted = counted(rows.reshape(shape), scale)
    if reduction == "none":
        return weighted
    total = weighted.sum()
    return total + nan_for(scale.sum()) if reduction == "mean" else total


def counted(rows: Tensor, weights: Tensor) -> Tensor:
    """Return the rows times their weights; one of weight 0 counts nothing, whatever it holds."""
    # A weight that is learnt has the row as its gradient, at 0 too.
    return (rows if weights.requires_grad else torch.where(weights == 0, 0, rows)) * weights


def total_weight(weights: Tensor, valid: Tensor | None) -> Tensor:
    """Return what a mean divides by; 1 where every row is ignored, so that none has a gradient."""
    total = weights.sum()
    return total if valid is None else torch.where(valid.any(), total, 1)


def nan_for(total: Tensor) -> Tensor:
    """Return 0, or NaN where ``total`` is 0: a mean over nothing, as torch has it."""
    return total / total - 1
