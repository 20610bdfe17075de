"""Losses that see a row only through ``log u`` and, some of them, the sum of all ``log p``."""

from collections.abc import Callable

import torch
from torch import Tensor

from noiseproof.kernels.blocked import SMALL, Scale, lowest

# (log_u, sum_log_p or None) -> (row losses, their slope in log_u, their slope in sum_log_p or None)
ValueAndSlopes = Callable[[Tensor, Tensor | None], tuple[Tensor, Tensor, Tensor | None]]


def row_block(
    z: Tensor,
    target: Tensor,
    scale: Scale,
    out: Tensor,
    value_and_slopes: ValueAndSlopes,
    needs_sum: bool,
) -> Tensor:
    """Block function of L = l(log_u, s) with s = sum_k log p_k.

    With c = dl/dlog_u and d = dl/ds, from dlog_u/dz_j = 1[j = y] - p_j and ds/dz_j = 1 - K p_j:
    dL/dz_j = c 1[j = y] - (c + K d) p_j + d, so p is the only thing that is ever as large as z.
    """
    index, classes = target.unsqueeze(1), z.shape[1]
    log_u, sum_log_p, total = _exponentials(z, index, out, needs_sum)
    rows, c, d = value_and_slopes(log_u, sum_log_p)
    if not isinstance(scale, float):
        scale = scale.unsqueeze(1)
    c = c * scale
    if d is None:
        out.mul_(-c if total is None else c.neg().div_(total))
    else:
        d = d * scale
        factor = torch.add(c, d, alpha=classes).neg_()
        torch.addcmul(d, out, factor if total is None else factor.div_(total), out=out)
    out.scatter_add_(1, index, c)
    return rows.squeeze(1)


def _exponentials(
    z: Tensor, index: Tensor, out: Tensor, needs_sum: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Write p times ``total`` to ``out`` (``None``: p); return log_u, sum_k log p_k, ``total``."""
    floor = lowest(z.dtype)
    if z.numel() <= SMALL:  # fewer operations, for twice the exponentials
        torch.log_softmax(z, 1, out=out)
        log_u = out.gather(1, index).clamp_min_(floor)
        sum_log_p = out.sum(1, keepdim=True).clamp_min_(floor) if needs_sum else None
        out.exp_()
        return log_u, sum_log_p, None
    # Differences from the largest logit: exact where it matters, and exp cannot overflow.
    torch.sub(z, z.amax(1, keepdim=True), out=out)
    log_u = out.gather(1, index)
    sum_log_p = out.sum(1, keepdim=True) if needs_sum else None
    total = out.exp_().sum(1, keepdim=True)
    log_total = total.log()
    if sum_log_p is not None:
        sum_log_p.sub_(log_total, alpha=z.shape[1]).clamp_min_(floor)
    return log_u.sub_(log_total).clamp_min_(floor), sum_log_p, total
