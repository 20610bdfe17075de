"""Losses that see a row only through ``log u`` and a few sums over its classes."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from noiseproof.kernels.blocked import Scale, lowest
from noiseproof.kernels.statistics import LogSum

Sums = tuple[Tensor, ...]
#: How many classes a row has; a tensor (rows, 1) where some of them are masked.
Classes = Tensor | int
# (log_u, sums, classes) -> (row losses, their slope in log_u, their slopes in the sums)
ValueAndSlopes = Callable[[Tensor, Sums, Classes], tuple[Tensor, Tensor, Sums]]


class Summand(Protocol):
    """What a statistic sums: f and its slope, as functions of log p."""

    def value(self, log_p: Tensor) -> Tensor:
        """Return f."""

    def with_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and df / dlog p."""


def row_block(
    z: Tensor,
    target: Tensor,
    scale: Scale,
    out: Tensor,
    value_and_slopes: ValueAndSlopes,
    statistics: Sequence[Summand],
    infinite: bool = False,
) -> Tensor:
    """Block function of L = l(log_u, s_1, s_2, ...) with s_i = sum_k f_i(log p_k).

    Classes are dimension 1 of ``z``, (n, K) or (n, K, d). With c = dl/dlog_u, d_i = dl/ds_i and
    F_i = sum_k f_i'(log p_k), from dlog_u/dz_j = 1[j = y] - p_j and
    ds_i/dz_j = f_i'(log p_j) - p_j F_i:

        dL/dz_j = c 1[j = y] + sum_i d_i f_i'(log p_j) - (c + sum_i d_i F_i) p_j.

    For s = sum_k log p_k, f' = 1 and F = K: p is then the only thing as large as z. A class whose
    logit is -inf has no part in the sums, unless it is the label; such a label has log_u = -inf
    if ``infinite``, else the lowest number.
    """
    index, classes = target.unsqueeze(1), z.shape[1]
    masked = _masked(z, index) if statistics else None
    z_y = z.gather(1, index) if infinite else z  # before ``out``, which may be z, is written
    curved = [f for f in statistics if not isinstance(f, LogSum)]
    if curved or masked is not None:
        log_u, sums, slopes, count = _curved(z, index, out, statistics, masked)
        total = None
    else:
        log_u, log_sum, total = _exponentials(z, index, out, bool(statistics))
        sums = () if log_sum is None else (log_sum,) * len(statistics)
        slopes, count = [None] * len(statistics), classes
    if infinite:
        log_u = torch.where(z_y == -torch.inf, -torch.inf, log_u)
    rows, c, ds = value_and_slopes(log_u, sums, count)
    if not isinstance(scale, float):
        scale = scale.unsqueeze(1)
    c = c * scale
    factor, flat, curves = c, None, []
    for d, slope in zip(ds, slopes, strict=True):
        d = d * scale
        if slope is None:
            factor = torch.add(factor, d, alpha=classes)
            flat = d if flat is None else flat + d
        else:
            factor = factor.addcmul(d, slope.sum(1, keepdim=True))
            curves.append((d, slope))
    factor = factor.neg() if total is None else factor.neg().div_(total)
    if flat is None:
        out.mul_(factor)
    else:
        torch.addcmul(flat, out, factor, out=out)
    for d, slope in curves:
        out.addcmul_(d, slope)
    out.scatter_add_(1, index, c)
    return rows.squeeze(1)


def _masked(z: Tensor, index: Tensor) -> Tensor | None:
    """Return which classes are masked, the label never; ``None`` where that is known to be none."""
    if z.device.type == "cpu" and z.numel() and float(z.min()) > -torch.inf:
        return None
    return (z == -torch.inf).scatter_(1, index, False)


def _exponentials(
    z: Tensor, index: Tensor, out: Tensor, needs_sum: bool
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Write p times ``total`` to ``out``; return log_u, sum_k log p_k and ``total``."""
    floor = lowest(z.dtype)
    # Differences from the largest logit: exact where it matters, and exp cannot overflow.
    torch.sub(z, z.amax(1, keepdim=True), out=out)
    log_u = out.gather(1, index)
    log_sum = out.sum(1, keepdim=True) if needs_sum else None
    total = out.exp_().sum(1, keepdim=True)
    log_total = total.log()
    if log_sum is not None:
        log_sum.sub_(log_total, alpha=z.shape[1]).clamp_min_(floor)
    return log_u.sub_(log_total).clamp_min_(floor), log_sum, total


def _curved(
    z: Tensor,
    index: Tensor,
    out: Tensor,
    statistics: Sequence[Summand],
    masked: Tensor | None,
) -> tuple[Tensor, Sums, list[Tensor | None], Classes]:
    """Write p to ``out``; return log_u, the sums, the slopes of their terms, and the classes."""
    if z.dim() == 2:
        torch.log_softmax(z, 1, out=out)
    else:  # torch would copy what is not contiguous
        torch.sub(z, z.amax(1, keepdim=True), out=out)
        out.sub_(out.exp().sum(1, keepdim=True).log_())
    log_p = out.clamp_min_(lowest(z.dtype))
    log_u = log_p.gather(1, index)
    sums: list[Tensor] = []
    slopes: list[Tensor | None] = []
    for f in statistics:
        if isinstance(f, LogSum) and masked is None:
            sums.append(log_p.sum(1, keepdim=True))
            slopes.append(None)
            continue
        value, slope = f.with_slope(log_p)
        if masked is not None:
            value, slope = value.masked_fill(masked, 0), slope.masked_fill_(masked, 0)
        sums.append(value.sum(1, keepdim=True))
        slopes.append(slope)
    out.exp_()
    classes: Classes = z.shape[1]
    if masked is not None:
        classes = classes - masked.sum(1, keepdim=True)
    return log_u, tuple(sums), slopes, classes
