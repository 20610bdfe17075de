"""L-BFGS for many problems of one shape at once; one call evaluates all unfinished problems."""

from collections.abc import Callable

import torch
from torch import Tensor

#: Maps points (h, P) and their problems' indices (h,) to values (h,) and gradients (h, P).
Evaluate = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]

MEMORY = 8
HALVINGS = 12
#: Armijo's constant: the share of the decrease predicted by the slope that suffices.
SUFFICIENT = 1e-4


def minimise(
    evaluate: Evaluate, start: Tensor, steps: int = 100, tolerance: float = 1e-4
) -> Tensor:
    """Return (H, P): for each start, a nearby point with a small gradient.

    Args:
        evaluate: computes values and gradients.
        start: (H, P) starting points.
        steps: the largest number of steps.
        tolerance: a problem is finished when its largest gradient entry is below this.
    """
    best = start.clone()
    which = torch.arange(len(start))
    x = start
    f, g = evaluate(x, which)
    history: list[tuple[Tensor, Tensor, Tensor]] = []
    for step in range(steps):
        moving = g.abs().amax(1) > tolerance
        if not bool(moving.all()):
            best[which] = x
            which, x, f, g = which[moving], x[moving], f[moving], g[moving]
            history = [(s[moving], y[moving], r[moving]) for s, y, r in history]
        if len(which) == 0:
            return best
        d = _direction(g, history)
        slope = (g * d).sum(1)
        uphill = slope >= 0
        if bool(uphill.any()):  # from rounding, or a loss that is not convex
            d = torch.where(uphill[:, None], -g, d)
            slope = torch.where(uphill, -(g * g).sum(1), slope)
        if step == 0:
            shrink = 1 / g.norm(dim=1).clamp_min(1.0)
            d, slope = d * shrink[:, None], slope * shrink
        new_x, new_f, new_g, moved = _search(evaluate, x, f, g, d, slope, which)
        history = [*history[-MEMORY + 1 :], _pair(new_x - x, new_g - g)]
        x, f, g = new_x, new_f, new_g
        if not bool(moved.all()):
            best[which] = x
            which, x, f, g = which[moved], x[moved], f[moved], g[moved]
            history = [(s[moved], y[moved], r[moved]) for s, y, r in history]
    best[which] = x
    return best


def _direction(g: Tensor, history: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """Return -H g by the two-loop recursion; pairs with rho = 0 are ignored."""
    q, alphas = g.clone(), []
    for s, y, rho in reversed(history):
        alpha = rho * (s * q).sum(1)
        q -= alpha[:, None] * y
        alphas.append(alpha)
    if history:
        s, y, rho = history[-1]
        scale = torch.where(rho > 0, 1 / (rho * (y * y).sum(1)).clamp_min(1e-30), 1.0)
        q *= scale[:, None]
    for (s, y, rho), alpha in zip(history, reversed(alphas), strict=True):
        beta = rho * (y * q).sum(1)
        q += (alpha - beta)[:, None] * s
    return -q


def _pair(s: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    curvature = (s * y).sum(1)
    enough = curvature > 1e-10 * (y * y).sum(1).clamp_min(1e-30)
    return s, y, torch.where(enough, 1 / curvature.clamp_min(1e-30), 0.0)


def _search(
    evaluate: Evaluate,
    x: Tensor,
    f: Tensor,
    g: Tensor,
    d: Tensor,
    slope: Tensor,
    which: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Shorten each problem's step until its value falls; also return which problems moved."""
    new_x, new_f, new_g = x.clone(), f.clone(), g.clone()
    todo = torch.arange(len(which))
    length = torch.ones_like(f)
    # A change below the precision of the numbers does not count as a rise.
    dust = 10 * torch.finfo(f.dtype).eps * f.abs()
    for _ in range(HALVINGS):
        trial = x[todo] + length[todo, None] * d[todo]
        value, gradient = evaluate(trial, which[todo])
        bound = f[todo] + SUFFICIENT * length[todo] * slope[todo] + dust[todo]
        good = value <= bound
        at = todo[good]
        new_x[at], new_f[at], new_g[at] = trial[good], value[good], gradient[good]
        failed = ~good
        if not bool(failed.any()):
            return new_x, new_f, new_g, torch.ones(len(which), dtype=torch.bool)
        todo, value = todo[failed], value[failed]
        # Go to the minimum of the interpolating parabola, between a tenth and half of the step.
        t, m = length[todo], slope[todo]
        parabola = -m * t * t / (2 * (value - f[todo] - m * t)).clamp_min(1e-30)
        length[todo] = torch.minimum(torch.maximum(parabola, t / 10), t / 2)
    moved = torch.ones(len(which), dtype=torch.bool)
    moved[todo] = False
    return new_x, new_f, new_g, moved
