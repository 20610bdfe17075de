"""Losses that see a row only through ``log u`` and a few sums over its classes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from noiseproof.kernels.blocked import Scale, lowest
from noiseproof.kernels.statistics import LogSum

Sums = tuple[Tensor, ...]
#: How many classes a row has; a tensor (rows, 1) where some of them are masked.
Classes = Tensor | int
# (log_u, sums, classes) -> (row losses, their slope in log_u, their slopes in the sums)
ValueAndSlopes = Callable[[Tensor, Sums, Classes], tuple[Tensor, Tensor, Sums]]

# Below this probability, log p is not taken from p: a float32 loses digits on the way to 0.
_LEAST = 1e-30
# Beyond this log sum_k e^z_k, sum_k log p_k is not taken from sum_k z_k, whose digits it would eat.
_LARGE = 64.0


class Summand(Protocol):
    """What a statistic sums: f and its slope, as functions of log p."""

    def value(self, log_p: Tensor) -> Tensor:
        """Return f."""

    def with_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and df / dlog p."""

    def summed(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Return sum_k f, dimension 1 kept, and -df / dlog p; may overwrite log_p, not p."""


class _Row(NamedTuple):
    """What the kernels below find in the rows, having written p times ``total`` to ``out``."""

    log_u: Tensor
    sums: Sums
    falls: list[Tensor | None]  # -f' of each sum; None: f' is 1 everywhere
    total: Tensor | None  # None: 1
    classes: Classes


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
    index = target.unsqueeze(1)
    if all(isinstance(f, LogSum) for f in statistics):
        row = _near(z, index, out, len(statistics)) or _flat(z, index, out, statistics, infinite)
    else:
        row = _curved(z, index, out, statistics, infinite)
    rows, c, ds = value_and_slopes(row.log_u, row.sums, row.classes)
    if not isinstance(scale, float):
        scale = scale.unsqueeze(1)
    c = c * scale
    factor, flat, curves = c, None, []
    for d, fall in zip(ds, row.falls, strict=True):
        d = d * scale
        if fall is None:
            factor = torch.add(factor, d, alpha=z.shape[1])
            flat = d if flat is None else flat + d
        else:
            factor = factor.addcmul(d, fall.sum(1, keepdim=True), value=-1)
            curves.append(fall.mul_(d))
    # addcmul would be one pass, but with (n, 1) beside (n, K) it takes as long as four.
    out.mul_(factor.neg() if row.total is None else factor.neg().div_(row.total))
    if flat is not None:
        out.add_(flat)
    for curve in curves:
        out.sub_(curve)
    out.scatter_add_(1, index, c)
    return rows.squeeze(1)


def _near(z: Tensor, index: Tensor, out: Tensor, log_sums: int) -> _Row | None:
    """The quickest: torch's softmax, a row at a time, where no probability is too small for it.

    ``None``, with ``z`` as it was, for all others.
    """
    if z.dim() > 2 or z.device.type != "cpu" or out.data_ptr() == z.data_ptr() or not z.numel():
        return None
    u = torch.softmax(z, 1, out=out).gather(1, index)
    if not _all_above(u, _LEAST):
        return None
    log_u = u.log_()
    if log_sums == 0:
        return _Row(log_u, (), [], None, z.shape[1])
    # sum_k log p_k = sum_k z_k - K log sum_k e^z_k, and the last term is z_y - log u.
    offset = z.gather(1, index).sub_(log_u)
    log_sum = z.sum(1, keepdim=True).sub_(offset, alpha=z.shape[1])
    # A sum of -inf has a masked class in it.
    if not (_all_above(offset.abs().neg_(), -_LARGE) and _all_above(log_sum, lowest(z.dtype))):
        return None
    return _Row(log_u, (log_sum,) * log_sums, [None] * log_sums, None, z.shape[1])


def _flat(
    z: Tensor, index: Tensor, out: Tensor, statistics: Sequence[Summand], infinite: bool
) -> _Row:
    """Any logits, (n, K) or (n, K, d), with no sums but sum_k log p_k."""
    if statistics and _masked(z, index) is not None:
        return _curved(z, index, out, statistics, infinite)
    floor = lowest(z.dtype)
    z_y = z.gather(1, index) if infinite else z  # before ``out``, which may be z, is written
    # Differences from the largest logit: exact where it matters, and exp cannot overflow.
    torch.sub(z, z.amax(1, keepdim=True), out=out)
    log_u = out.gather(1, index)
    log_sum = out.sum(1, keepdim=True) if statistics else None
    if log_sum is not None and not (z.device.type == "cpu" and _all_above(log_sum, floor)):
        log_sum = out.clamp_min_(floor).sum(1, keepdim=True)  # each class at the floor, as log u
    total = out.exp_().sum(1, keepdim=True)
    log_total = total.log()
    log_u.sub_(log_total).clamp_min_(floor)
    if infinite:
        log_u = torch.where(z_y == -torch.inf, -torch.inf, log_u)
    if log_sum is None:
        return _Row(log_u, (), [], total, z.shape[1])
    log_sum.sub_(log_total, alpha=z.shape[1])
    count = len(statistics)
    return _Row(log_u, (log_sum,) * count, [None] * count, total, z.shape[1])


def _curved(
    z: Tensor, index: Tensor, out: Tensor, statistics: Sequence[Summand], infinite: bool
) -> _Row:
    """Any logits and any sums, masked classes too."""
    z_y = z.gather(1, index) if infinite else z
    masked, floor = None, lowest(z.dtype)
    if z.dim() == 2:
        log_p = torch.log_softmax(z, 1)
        log_sum = log_p.sum(1, keepdim=True)
        if not (z.device.type == "cpu" and _all_above(log_sum, floor)):
            masked = _masked(z, index)
            log_sum = log_p.clamp_min_(floor).sum(1, keepdim=True)
        torch.exp(log_p, out=out)
    else:  # torch would copy what is not contiguous
        masked = _masked(z, index)
        log_p = z - z.amax(1, keepdim=True)
        total = torch.exp(log_p, out=out).sum(1, keepdim=True)
        out.div_(total)
        log_sum = log_p.sub_(total.log_()).clamp_min_(floor).sum(1, keepdim=True)
    log_u = log_p.gather(1, index)
    if infinite:
        log_u = torch.where(z_y == -torch.inf, -torch.inf, log_u)
    sums: list[Tensor] = []
    falls: list[Tensor | None] = []
    for f in statistics:
        fall: Tensor | None = None
        if masked is not None:
            value, slope = f.with_slope(log_p)
            found = value.masked_fill(masked, 0).sum(1, keepdim=True)
            fall = slope.neg().masked_fill_(masked, 0)
        elif isinstance(f, LogSum):
            found = log_sum
        else:
            found, fall = f.summed(log_p if f is statistics[-1] else log_p.clone(), out)
        sums.append(found)
        falls.append(fall)
    classes: Classes = z.shape[1]
    if masked is not None:
        classes = classes - masked.sum(1, keepdim=True)
    return _Row(log_u, tuple(sums), falls, None, classes)


def _masked(z: Tensor, index: Tensor) -> Tensor | None:
    """Return which classes are masked, the label never; ``None`` where that is known to be none."""
    if z.device.type == "cpu" and _all_above(z, -torch.inf):
        return None
    return (z == -torch.inf).scatter_(1, index, False)


def _all_above(x: Tensor, bound: float) -> bool:
    return x.numel() > 0 and float(x.min()) > bound
