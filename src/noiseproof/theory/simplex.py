"""Points of the probability simplex where a weighted risk may be least, as rows of log p."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from noiseproof.losses import Loss
from noiseproof.theory.interval import ZERO, losses_at, spread

_MANY = 12
_RANDOM = 150


def log_softmax(z: Tensor) -> Tensor:
    """Return log p; torch's own wakes every thread for a handful of rows."""
    z = z - z.amax(-1, keepdim=True).detach()
    return z - z.logsumexp(-1, keepdim=True)


def zero_for(loss: Loss, classes: int) -> float:
    """Return the log p that stands for p = 0: as far down as ``loss`` still is a number."""
    for zero in (ZERO, -1e9):
        rows = at_vertex(0, torch.ones(classes, dtype=torch.float64), zero)
        if losses_at(loss, rows).isfinite().all():
            return zero
    return -1e3


def at_vertex(m: int, weights: Tensor, zero: float) -> Tensor:
    """Return the vertex e_m, approached from several sides.

    First with all the other probabilities alike, then with one of them, n, vanishing faster: log
    p_n = -(zero)^2. A loss with no limit at the vertex (NCE) has a value for each side.
    """
    K = len(weights)
    order = weights.argsort().tolist()
    faster = [n for n in {*order[:_MANY], *order[-_MANY:]} if n != m]
    rows = torch.full((1 + len(faster), K), zero, dtype=torch.float64)
    for row, n in enumerate(faster, start=1):
        rows[row, n] = -(zero**2)
    rows[:, m] = 0.0
    return rows


def beside_vertex(m: int, classes: int) -> Tensor:
    """Return rows at even steps from e_m, all of them within 1e-13 of it."""
    left = torch.linspace(1e-15, 1e-13, 65, dtype=torch.float64)
    rows = (left / (classes - 1)).log()[:, None].repeat(1, classes)
    rows[:, m] = -left
    return rows


def around(m: int, weights: Tensor, zero: float) -> Iterator[Tensor]:
    """Yield rows all over the simplex, dense towards e_m on the ways mass would leave it.

    The other vertices; the edges from e_m to the heaviest other classes, in steps down to e^-100;
    rays from e_m to mixtures of the others; random points. Each with the class of the least
    weight absent, too: on that face NCE has its infimum.
    """
    K = len(weights)
    least = int(torch.where(torch.arange(K) == m, torch.inf, weights).argmin())
    heavy = [n for n in weights.argsort(descending=True).tolist() if n != m][:_MANY]
    for rows in _families(m, heavy, weights, zero):
        yield rows
        without = rows.clone()
        without[:, least] = -(zero**2)
        if least not in heavy[:1]:
            yield log_softmax(without)


def _families(m: int, heavy: list[int], weights: Tensor, zero: float) -> Iterator[Tensor]:
    K = len(weights)
    yield torch.cat([at_vertex(n, weights, zero)[:1] for n in heavy])
    away = spread(100, 401)
    left, stayed = logsigmoid(away)[:, None], logsigmoid(-away)
    for direction in _directions(m, heavy, weights, zero):
        rows = left + direction
        rows[:, m] = stayed
        yield rows
    generator = torch.Generator().manual_seed(0)
    for sharpness in (1.0, 3.0, 10.0):
        logits = torch.randn(_RANDOM, K, generator=generator, dtype=torch.float64)
        yield log_softmax(logits * sharpness)
    yield log_softmax(torch.zeros(1, K, dtype=torch.float64))
    yield log_softmax(weights.log().clamp_min(zero))[None]


def _directions(m: int, heavy: list[int], weights: Tensor, zero: float) -> Iterator[Tensor]:
    """Yield log q, a distribution over the classes other than m, to move from e_m towards."""
    K = len(weights)
    supports = [[n] for n in heavy] + [heavy[:j] for j in range(2, len(heavy) + 1)]
    supports.append([n for n in range(K) if n != m])
    for support in supports:
        log_q = torch.full((K,), zero, dtype=torch.float64)
        log_q[support] = 0.0
        yield log_softmax(log_q)
    yield log_softmax(torch.where(torch.arange(K) == m, 0.0, weights).log().clamp_min(zero))
