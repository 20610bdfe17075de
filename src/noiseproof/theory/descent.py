"""Two minimisers, kept here because ``torch.optim`` takes a second to import its compiler."""

from collections.abc import Callable

import torch
from torch import Tensor

_STEPS = 150
_RATE = 0.5
_LONGEST = 2.0


def adam(objective: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    """Return where each row of ``start`` comes to, descending its entry of ``objective``."""
    z = start.clone()
    mean, square = torch.zeros_like(z), torch.zeros_like(z)
    for step in range(1, _STEPS + 1):
        gradient = _gradient(lambda z: objective(z).sum(), z)
        mean.lerp_(gradient, 0.1)
        square.lerp_(gradient.square(), 0.01)
        unbiased = (square / (1 - 0.99**step)).sqrt_().add_(1e-30)
        rate = _RATE * (1.02 - step / _STEPS) / (1 - 0.9**step)
        z = z - rate * mean / unbiased
    return z


def newton(objective: Callable[[Tensor], Tensor], start: Tensor, steps: int = 30) -> Tensor:
    """Return the minimum near ``start`` (n,), by Newton steps that lead downhill at saddles too."""
    z, value = start.clone(), float(objective(start))
    for _ in range(steps):
        gradient = _gradient(objective, z)
        hessian = torch.autograd.functional.hessian(objective, z)  # type: ignore[no-untyped-call]
        if not (gradient.isfinite().all() and hessian.isfinite().all()):
            break
        curvature, axes = torch.linalg.eigh(hessian)
        size = curvature.abs()
        step = axes @ ((axes.T @ gradient) / size.clamp_min(1e-10 * float(size.max()) + 1e-300))
        step *= min(1.0, _LONGEST / max(float(step.norm()), 1e-300))
        for _ in range(20):
            lower = float(objective(z - step))
            if lower < value:
                break
            step = step / 2
        else:
            break
        z, value = z - step, lower
    return z


def _gradient(objective: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
    leaf = z.detach().requires_grad_()
    value = objective(leaf)
    if not value.requires_grad:  # a step function: flat wherever it can be differentiated
        return torch.zeros_like(z)
    (gradient,) = torch.autograd.grad(value, leaf)
    return gradient
