"""Run a block function over all rows, a cache-sized block at a time."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Scale = Tensor | float
Block = Callable[[Tensor, Tensor, Scale, Tensor], Tensor]

# Elements in a block. On a CPU logits and gradient of a block should stay in the caches, and the
# temporaries be small enough for the allocator to keep: larger ones are returned to the system and
# faulted in again, page by page, at every step. On an accelerator the number of launches counts
# and a block only bounds the float32 copy.
CPU_BLOCK = 2**18
DEVICE_BLOCK = 2**26


def lowest(dtype: torch.dtype) -> float:
    """Return what stands for log 0: finite logits can be further apart than any float.

    Far enough from the end of the floats for a sum over a billion classes.
    """
    return torch.finfo(dtype).min * 2.0**-30


def least_divisor(dtype: torch.dtype) -> float:
    """Return what a sum of losses is kept above: its reciprocal can still be multiplied."""
    return float(torch.finfo(dtype).tiny ** 0.5)


def rows_in_block(classes: int, device: torch.device) -> int:
    """How many rows of ``classes`` logits make a block on ``device``."""
    elements = CPU_BLOCK if device.type == "cpu" else DEVICE_BLOCK
    return max(1, elements // max(1, classes))


def by_blocks(block: Block, logits: Tensor, target: Tensor, scale: Scale) -> tuple[Tensor, Tensor]:
    """Return the row losses and the gradient of their scaled sum with respect to ``logits``.

    Logits are (M, K) or, as segmentation has them, (N, K, d): there a block is a part of d.
    Half-precision logits are widened to float32 a block at a time. The gradient has the dtype of
    the logits, but for float16: there it stays float32 until a gradient scaler has had its say.
    """
    half = logits.dtype in (torch.float16, torch.bfloat16)
    if not half and logits.numel() <= CPU_BLOCK:
        gradient = torch.empty_like(logits)
        return block(logits, target, scale, gradient), gradient
    dtype = torch.float32 if logits.dtype == torch.float16 else logits.dtype
    gradient = torch.empty_like(logits, dtype=dtype)
    losses = target.new_empty(target.shape, dtype=torch.float32 if half else logits.dtype)
    for here, there in _blocks(logits):
        part = scale if isinstance(scale, float) else scale[there]
        z, out = logits[here], gradient[here]
        if half:
            wide = z.float()
            found = torch.empty_like(wide)
            losses[there] = block(wide, target[there], part, found)
            out.copy_(found)
        else:
            losses[there] = block(z, target[there], part, out)
    return losses, gradient


def _blocks(logits: Tensor) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Yield the blocks, as slices of the logits and of the rows."""
    step = rows_in_block(logits.shape[1], logits.device)
    if logits.dim() == 2:
        for start in range(0, len(logits), step):
            here = (slice(start, start + step),)
            yield here, here
        return
    depth = logits.shape[2]
    images = max(1, step // max(1, depth))
    for first in range(0, len(logits), images):
        some = slice(first, first + images)
        for start in range(0, depth, step):
            part = slice(start, start + step)
            yield (some, slice(None), part), (some, part)
