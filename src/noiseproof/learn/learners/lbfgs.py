"""L-BFGS for many problems of one shape at once; one call evaluates all unfinished problems."""

from collections.abc import Callable

import torch
from torch import Tensor

#: Maps points (h, P) and their problems' indices (h,) to values (h,) and gradients (h, P).
Evaluate = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]

#: A problem is finished after so many steps, or when its largest gradient entry is this small.
STEPS, TOLERANCE = 100, 1e-4
MEMORY = 8
HALVINGS = 12
#: Armijo's constant: the share of the decrease predicted by the slope that suffices.
SUFFICIENT = 1e-4
#: Work on this many entries at a time: fetching pages for long temporaries costs more than the sum.
BLOCK = 2**18


def minimise(evaluate: Evaluate, start: Tensor) -> Tensor:
    """Return (H, P): for each start, a nearby point with a small gradient.

    Args:
        evaluate: computes values and gradients.
        start: (H, P) starting points.
    """
    best = start.clone()
    which = torch.arange(len(start))
    x = start
    f, g = evaluate(x, which)
    history: list[tuple[Tensor, Tensor, Tensor]] = []
    for step in range(STEPS):
        moving = g.abs().amax(1) > TOLERANCE
        if not bool(moving.all()):
            best[which] = x
            which, x, f, g = which[moving], x[moving], f[moving], g[moving]
            history = [(s[moving], y[moving], r[moving]) for s, y, r in history]
        if len(which) == 0:
            return best
        d = _direction(g, history)
        slope = dot(g, d)
        uphill = slope >= 0
        if bool(uphill.any()):  # from rounding, or a loss that is not convex
            d = torch.where(uphill[:, None], -g, d)
            slope = torch.where(uphill, -dot(g, g), slope)
        if step == 0:
            shrink = 1 / g.norm(dim=1).clamp_min(1.0)
            d, slope = d.mul_(shrink[:, None]), slope * shrink
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
        alpha = rho * dot(s, q)
        add(q, -alpha, y)
        alphas.append(alpha)
    if history:
        s, y, rho = history[-1]
        scale = torch.where(rho > 0, 1 / (rho * dot(y, y)).clamp_min(1e-30), 1.0)
        q *= scale[:, None]
    for (s, y, rho), alpha in zip(history, reversed(alphas), strict=True):
        beta = rho * dot(y, q)
        add(q, alpha - beta, s)
    return q.neg_()


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Return the inner products (h,) of the rows."""
    if a.shape[1] <= BLOCK:
        return (a * b).sum(1)
    parts = zip(torch.split(a, BLOCK, 1), torch.split(b, BLOCK, 1), strict=True)
    return torch.stack([(x * y).sum(1) for x, y in parts]).sum(0)


def add(to: Tensor, factor: Tensor, rows: Tensor) -> None:
    """Add each row, times its factor, to the same row of ``to``."""
    if to.shape[1] <= BLOCK:
        to += factor[:, None] * rows
        return
    for x, y in zip(torch.split(to, BLOCK, 1), torch.split(rows, BLOCK, 1), strict=True):
        x += factor[:, None] * y


def _pair(s: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    curvature = dot(s, y)
    enough = curvature > 1e-10 * dot(y, y).clamp_min(1e-30)
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
    new_x, new_f, new_g = x, f, g
    todo = torch.arange(len(which))
    length = torch.ones_like(f)
    # A change below the precision of the numbers does not count as a rise.
    dust = 10 * torch.finfo(f.dtype).eps * f.abs()
    for _ in range(HALVINGS):
        every = len(todo) == len(which)
        start, step = (x, d) if every else (x[todo], d[todo])
        trial = torch.addcmul(start, length[todo, None], step)
        value, gradient = evaluate(trial, which[todo])
        bound = f[todo] + SUFFICIENT * length[todo] * slope[todo] + dust[todo]
        good = value <= bound
        if every and bool(good.all()):  # as is usual, and then nothing long is copied
            return trial, value, gradient, good
        if new_x is x:
            new_x, new_f, new_g = x.clone(), f.clone(), g.clone()
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
