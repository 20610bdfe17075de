"""The asymmetry ratio of a pointwise loss by numbers: mass moved from one class to another."""

import math
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from noiseproof.errors import ParameterError
from noiseproof.losses import Loss, Pointwise, WeightedSum
from noiseproof.losses.parameter import check_flag
from noiseproof.theory.interval import (
    DEEP,
    as_pointwise,
    check_decreasing,
    depth,
    is_linear,
    log_slope,
    log_slope_at_zero,
)
from noiseproof.theory.surroundings import undisturbed
from noiseproof.theory.triangle import Masses, infimum

_PANELS = 6
_RANGE = 36.0
# A difference of two values of l this much smaller than l is taken as an integral instead.
_CANCELLED = 1e-6
_UNDERFLOWN = -650.0


@undisturbed()
def numeric_asymmetry_ratio(loss: Loss | str, strict: bool = False) -> float:
    """Return the asymmetry ratio of a decreasing pointwise loss, measured.

    With s = -dl/du, both readings of Definition 3 are infima over u1 + u2 <= 1 of a function of
    u1 and u2. Moving the whole mass it is, as written, (l(u1) - l(u1 + u2)) / (l(0) - l(u2)).
    Moving any part du it is s(u1) / s(u2): numerator and denominator are the integrals over t in
    (0, du) of s(u1 + t) and s(u2 - t), whose arguments keep the sum u1 + u2 <= 1, so their
    ratio is never below the least s / s, and comes to it as du -> 0.

    Either is 0 where s(0+) is infinite: a first bit of mass given to a class then counts more
    than any later one.

    For the losses of the package it is right to 1e-4 or better. A formula that bends sharply, such
    as a step over less than a hundredth of the interval, may be measured too high.

    Args:
        loss: a pointwise loss or its text, decreasing.
        strict: move any part of the mass, as Definition 3 is printed.

    Example:
        >>> round(numeric_asymmetry_ratio("AGCE(a=1, q=0.5)"), 6)
        0.707107
        >>> numeric_asymmetry_ratio("GCE(q=0.9)")
        0.0

    Reference:
        Definition 3.
    """
    strict, loss = check_flag("strict", strict), as_pointwise(loss, "the asymmetry ratio")
    check_decreasing(loss)
    at_zero = log_slope_at_zero(loss)
    if at_zero == math.inf:
        return 0.0
    at_one = float(log_slope(loss, torch.zeros(1, dtype=torch.float64)))
    # u1 -> 1 and u2 -> 0 on the way to the corner of the triangle, and strictly also the reverse.
    corners = [at_one - at_zero, at_zero - at_one] if strict else [at_one - at_zero]
    ways = [lambda m: _log_whole(loss, m)]
    if strict:  # the whole is a part too, and all that a step function has
        ways.append(lambda m: log_slope(loss, m.log_u1) - log_slope(loss, m.log_u2))
    inside = min(infimum(way, reach=min(500.0, depth(loss))) for way in ways)
    ratio = math.exp(min([0.0, inside, *(c for c in corners if not math.isnan(c))]))
    return 1.0 if ratio > 1 - 1e-7 else ratio


def pointwise_ratio(loss: Pointwise, strict: bool = False) -> float:
    """Return the asymmetry ratio, in closed form where the loss, or its one term, has it."""
    if isinstance(loss, WeightedSum) and len(loss.losses) == 1:
        return pointwise_ratio(loss.losses[0], strict)
    if loss.symmetric and is_linear(loss):
        check_decreasing(loss)
        return 1.0  # sum_k l(u_k) constant for three classes makes l linear
    closed = getattr(loss, "strict_asymmetry_ratio" if strict else "asymmetry_ratio", None)
    if not callable(closed):
        return numeric_asymmetry_ratio(loss, strict)
    said = float(closed())
    if not closed.__module__.startswith("noiseproof."):  # a user's own, which no test has seen
        _check_said(loss, said, numeric_asymmetry_ratio(loss, strict))
    return said


def _check_said(loss: Pointwise, said: float, measured: float) -> None:
    if not abs(said - measured) <= 1e-3:
        raise ParameterError(
            f"{loss} says that its asymmetry ratio is {said:.4g}, but it is {measured:.4g}: "
            "mend its closed form or leave it out"
        )


def _log_whole(loss: Pointwise, m: Masses) -> Tensor:
    """Return the log of (l(u1) - l(u1 + u2)) / (l(0) - l(u2))."""
    value = loss.value
    l0, l1 = value(torch.tensor([-DEEP, 0.0], dtype=torch.float64))
    gained, lost = value(m.log_u1) - value(m.log_sum), l0 - value(m.log_u2)
    small = _CANCELLED * torch.maximum(l0.abs(), l1.abs())
    logs = []
    for difference, integral in ((gained, _log_gained), (lost, _log_lost)):
        found, fine = difference.log(), difference <= small
        found[fine] = integral(loss, Masses(m.alpha[fine], m.beta[fine]))
        logs.append(found)
    return logs[0] - logs[1]


def _log_gained(loss: Pointwise, m: Masses) -> Tensor:
    """Return log of the integral of s from u1 to u1 + u2, over the logit of u."""
    low, length = m.logit_u1, m.logit_step
    # du = u (1 - u) dlogit falls off on both sides of logit 0: beyond the range nothing is left.
    middle = torch.zeros_like(low).maximum(low).minimum(low + length)
    start = torch.where(length <= _RANGE, low, torch.maximum(low, middle - _RANGE))
    length = torch.where(
        length <= _RANGE, length, torch.minimum(low + length, middle + _RANGE) - start
    )
    result = torch.empty_like(low)
    for some, panels in ((length <= 1, 1), (length > 1, 2 * _PANELS)):
        nodes, log_weights = _rule(panels)
        logit = start[some, None] + length[some, None] * nodes
        log_u = logsigmoid(logit)
        density = log_slope(loss, log_u) + log_u + logsigmoid(-logit) + log_weights
        result[some] = density.logsumexp(-1)
    return result + length.log()


def _log_lost(loss: Pointwise, m: Masses) -> Tensor:
    """Return log of the integral of s from 0 to u2, over log u."""
    nodes, log_weights = _rule(_PANELS)
    log_u = m.log_u2[:, None] - _RANGE * (1 - nodes)
    log_lost = (log_slope(loss, log_u) + log_u + log_weights).logsumexp(-1) + math.log(_RANGE)
    return torch.where(log_lost > _UNDERFLOWN, log_lost, torch.nan)


@cache
def _rule(panels: int) -> tuple[Tensor, Tensor]:
    """Return the nodes on [0, 1] of Gauss and Legendre's rule, in panels, and log weights."""
    x, w = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(12))
    starts = torch.arange(panels, dtype=torch.float64)
    nodes = (starts[:, None] + (x + 1) / 2).flatten() / panels
    return nodes, (w / 2 / panels).log().repeat(panels)
