"""Classification calibration: is a wrong prediction always worse, whatever the true odds?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from noiseproof.errors import TheoryError
from noiseproof.losses import Loss, Pointwise
from noiseproof.noise.matrix import Doubles
from noiseproof.theory.interval import ZERO, as_pointwise
from noiseproof.theory.surroundings import undisturbed

_REACH = math.asinh(500.0)
_NODES = 401
_ZOOMS = 6


@dataclass(frozen=True, eq=False)
class Calibration:
    """H and H- of a pointwise loss on a grid of eta, and the verdict.

    Attributes:
        eta: the probabilities of class 1.
        H: the least conditional risk over all predictions alpha.
        H_minus: the least over those on the wrong side of 1/2; never below ``H``.
        calibrated: whether H- > H for every eta != 1/2 tried, a finer grid about 1/2 included.
        fails_at: the first eta where it is not; None where there is none.
    """

    eta: Doubles
    H: Doubles
    H_minus: Doubles
    calibrated: bool
    fails_at: float | None


@undisturbed()
def calibration(loss: Loss | str, eta: Sequence[float] | Doubles | None = None) -> Calibration:
    """Measure H and H- of a pointwise loss, and say whether it is classification-calibrated.

        H(eta)  = inf over alpha in [0, 1] of eta l(alpha) + (1 - eta) l(1 - alpha)
        H-(eta) = the same over alpha with (alpha - 1/2)(eta - 1/2) <= 0

    Args:
        loss: a pointwise loss or its text.
        eta: where to measure; by default 0, 0.01, ..., 1.

    Example:
        >>> found = calibration("MAE", eta=[0.25, 0.5, 1.0])
        >>> found.H, found.H_minus, found.calibrated
        (array([0.5, 1. , 0. ]), array([1., 1., 1.]), True)

    Reference:
        Theorem 1; supplement B, equations for H and H-.
    """
    loss = as_pointwise(loss, "calibration")
    try:
        asked = np.linspace(0, 1, 101) if eta is None else np.asarray(eta, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TheoryError(f"expected `eta` as a list of probabilities, got {eta!r}") from None
    if asked.ndim != 1 or not ((asked >= 0) & (asked <= 1)).all():
        raise TheoryError("expected `eta` as a list of probabilities")
    near = 0.5 + np.outer([-1, 1], [1e-4, 1e-3, 5e-3]).ravel()
    tried = np.unique(np.concatenate([asked, np.linspace(0, 1, 101), near]))
    H, H_minus = conditional_risks(loss, tried)
    if np.isnan(H).any() or np.isnan(H_minus).any():
        raise TheoryError(f"{loss} is not a number somewhere between u = 0 and u = 1")
    same = (H_minus - H <= 1e-12 * np.abs(H_minus)) & (tried != 0.5)
    where = np.searchsorted(tried, asked)
    return Calibration(
        eta=asked,
        H=H[where],
        H_minus=H_minus[where],
        calibrated=not same.any(),
        fails_at=float(tried[same.argmax()]) if same.any() else None,
    )


def conditional_risks(loss: Pointwise, eta: Doubles) -> tuple[Doubles, Doubles]:
    """Return H and H- at each ``eta``."""
    t = torch.as_tensor(eta)
    # The wrong side is alpha <= 1/2, logit(alpha) <= 0, for eta >= 1/2, and mirrored below.
    larger = torch.maximum(t, 1 - t)
    wrong = _least(loss, larger, -_REACH, 0.0)
    right = _least(loss, larger, 0.0, _REACH)
    return torch.minimum(wrong, right).numpy(), wrong.numpy()


def conditional_risk(loss: Pointwise, eta: Tensor, logit: Tensor) -> Tensor:
    """Return eta l(alpha) + (1 - eta) l(1 - alpha) for alpha = sigmoid(logit)."""
    return eta * loss.value(logsigmoid(logit)) + (1 - eta) * loss.value(logsigmoid(-logit))


def _least(loss: Pointwise, eta: Tensor, low: float, high: float) -> Tensor:
    """Return the least conditional risk over asinh(logit alpha) in [low, high] and the end."""
    tau = torch.linspace(low, high, _NODES, dtype=torch.float64)
    risks = conditional_risk(loss, eta[:, None], torch.sinh(tau))
    best, where = risks.min(1)
    centre, half = tau[where], float(tau[1] - tau[0])
    window = torch.linspace(-1, 1, 11, dtype=torch.float64)
    for _ in range(_ZOOMS):
        points = (centre[:, None] + half * window).clamp(low, high)
        least, where = conditional_risk(loss, eta[:, None], torch.sinh(points)).min(1)
        centre = points.gather(1, where[:, None])[:, 0]
        best = torch.minimum(best, least)
        half /= 4
    end = loss.value(torch.tensor([ZERO, 0.0], dtype=torch.float64))
    certain = end.flip(0) if high > 0 else end
    return torch.minimum(best, eta * certain[0] + (1 - eta) * certain[1])
