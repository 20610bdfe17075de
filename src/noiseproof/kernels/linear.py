"""A linear layer and the loss behind it, a block of rows at a time: no logits are kept."""

from dataclasses import dataclass

import torch
from torch import Tensor

from noiseproof.kernels.blocked import Block, Scale

# Logits alive at once, in elements. Each block reads the whole weight and adds to the whole of
# its gradient, so a block is as tall as its memory allows: 2^25 float32 are 128 MiB.
BLOCK = 2**25


@dataclass
class LinearPass:
    """What one pass gives: row losses and, where asked for, the gradients of their scaled sum."""

    rows: Tensor
    hidden: Tensor | None = None
    weight: Tensor | None = None
    bias: Tensor | None = None


def linear_pass(
    block: Block,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    scale: Scale,
    wanted: tuple[bool, bool, bool],
    block_rows: int | None = None,
) -> LinearPass:
    """Return row losses of ``hidden @ weight.T + bias`` and the ``wanted`` gradients.

    Args:
        block: the block function of the loss.
        hidden: (N, d).
        weight: (K, d).
        bias: (K,) or ``None``.
        target: (N,) class indices, or whatever the block function takes a slice of.
        scale: what each row counts.
        wanted: whether the gradients of hidden, weight and bias are needed.
        block_rows: rows in a block.
    """
    rows, classes = len(hidden), len(weight)
    wide = torch.float64 if hidden.dtype == torch.float64 else torch.float32
    step = max(1, min(rows, block_rows or BLOCK // max(1, classes)))
    logits = hidden.new_empty(step, classes)
    # Half-precision logits are widened before the softmax, and their gradient narrowed after it.
    widened = logits if hidden.dtype == wide else hidden.new_empty(step, classes, dtype=wide)
    result = LinearPass(hidden.new_empty(rows, dtype=wide))
    if wanted[0]:
        result.hidden = torch.empty_like(hidden)
    if wanted[1]:
        result.weight = torch.zeros_like(weight)
    if wanted[2]:
        result.bias = hidden.new_zeros(classes, dtype=wide)
    for start in range(0, rows, step):
        here = slice(start, min(start + step, rows))
        h = hidden[here]
        z = torch.mm(h, weight.t(), out=logits[: len(h)])
        if bias is not None:
            z.add_(bias)
        gradient = widened[: len(h)]
        if gradient.data_ptr() != z.data_ptr():
            gradient.copy_(z)
        part = scale if isinstance(scale, float) else scale[here]
        result.rows[here] = block(gradient, target[here], part, gradient)
        if result.bias is not None:
            result.bias += gradient.sum(0)
        if gradient.data_ptr() != z.data_ptr():
            z.copy_(gradient)
        if result.hidden is not None:
            torch.mm(z, weight, out=result.hidden[here])
        if result.weight is not None:
            torch.addmm(result.weight, z.t(), h, out=result.weight)
    return result
