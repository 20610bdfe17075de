"""A linear layer and the loss behind it, a block of rows at a time: no logits are kept."""

from dataclasses import dataclass

import torch
from torch import Tensor

from noiseproof.kernels.blocked import Block, Scale, rows_in_block

# Logits alive at once, in elements: 2^24 float32 are 64 MiB. Each block reads the whole weight and
# adds to the whole of its gradient, so it has a few rows at least.
BLOCK = 2**24
LEAST_ROWS = 128


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
    given = hidden.dtype
    wide = torch.float64 if given == torch.float64 else torch.float32
    if hidden.is_cpu and given != wide:
        # Few CPUs multiply half precision in hardware; elsewhere float32 is many times as fast.
        weight, bias = weight.to(wide), None if bias is None else bias.to(wide)
    step = max(1, min(rows, block_rows or max(LEAST_ROWS, BLOCK // max(1, classes))))
    logits = weight.new_empty(step, classes)
    # Half-precision logits are widened before the softmax, and their gradient narrowed after it.
    widened = logits if weight.dtype == wide else weight.new_empty(step, classes, dtype=wide)
    result = LinearPass(hidden.new_empty(rows, dtype=wide))
    if wanted[0]:
        result.hidden = torch.empty_like(hidden)
    if wanted[1]:
        result.weight = torch.zeros_like(weight)
    if wanted[2]:
        result.bias = hidden.new_zeros(classes, dtype=wide)
    for start in range(0, rows, step):
        here = slice(start, min(start + step, rows))
        h = hidden[here].to(weight.dtype)
        z = logits[: len(h)]
        if bias is None:
            torch.mm(h, weight.t(), out=z)
        else:
            torch.addmm(bias, h, weight.t(), out=z)
        gradient = widened[: len(h)]
        if gradient.data_ptr() != z.data_ptr():
            gradient.copy_(z)
        result.rows[here] = _gradient(block, gradient, target[here], part_of(scale, here), result)
        if gradient.data_ptr() != z.data_ptr():
            z.copy_(gradient)
        if result.hidden is not None:
            result.hidden[here] = torch.mm(z, weight)
        if result.weight is not None:
            torch.addmm(result.weight, z.t(), h, out=result.weight)
    if result.weight is not None:
        result.weight = result.weight.to(given)
    return result


def part_of(scale: Scale, here: slice) -> Scale:
    """Return what some rows count."""
    return scale if isinstance(scale, float) else scale[here]


def _gradient(block: Block, z: Tensor, target: Tensor, scale: Scale, result: LinearPass) -> Tensor:
    """Turn logits into their gradient in place, as many rows at a time as stay in the caches."""
    step = rows_in_block(z.shape[1], z.device)
    losses = []
    for start in range(0, len(z), step):
        here = slice(start, start + step)
        some = z[here]
        losses.append(block(some, target[here], part_of(scale, here), some))
        if result.bias is not None:
            result.bias += some.sum(0)
    return torch.cat(losses)
