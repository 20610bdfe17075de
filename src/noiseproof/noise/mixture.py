"""Given labels as a mixture of true classes that a classifier's probabilities tell apart.

    P(given label j | x) = sum_i q_i(x) T_ij,    q(x) = softmax(sharpness * log p(x) + offsets)

p(x) are out-of-sample probabilities, however over- or under-confident; the sharpness and one
offset a class calibrate them to the given labels while T is found. Both by maximum likelihood.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noiseproof.noise.labels import Integers
from noiseproof.noise.matrix import Floats, off_diagonal

_FIRST, _STEPS = 10, 200
_ENOUGH = 1e-7  # in the mean log-likelihood
_FLOOR = -40.0  # for log p, relative to the row's largest
_RIDGE = 1.0  # on the offsets, as if one row spoke for 0
_TINY = 1e-300


@dataclass(frozen=True)
class Calibration:
    """How probabilities become those of the true class; see the formula of this module."""

    sharpness: float
    offsets: Floats

    def __call__(self, log_p: Floats) -> Floats:
        """Return q, (N, K)."""
        z = self.sharpness * log_p + self.offsets
        z -= z.max(axis=1, keepdims=True)
        q = np.exp(z, out=z)
        q /= q.sum(axis=1, keepdims=True)
        return q


def rows_to_calibrate(classes: int) -> int:
    """Return how many rows the calibration is found from; for the matrix all rows count."""
    return int(np.clip(200_000 // classes, 8_000, 20_000))


def log_odds(probabilities: Floats) -> Floats:
    """Return log p less the row's largest, no lower than a floor that exact zeros need."""
    with np.errstate(divide="ignore"):
        log_p = np.log(probabilities)
    log_p -= log_p.max(axis=1, keepdims=True)
    return np.maximum(log_p, _FLOOR, out=log_p)


def calibrate(
    given: Integers, log_p: Floats, start: tuple[Calibration, Floats] | None = None
) -> tuple[Calibration, Floats]:
    """Return the calibration and T of the largest likelihood, from ``start`` where it is known.

    Expectation-maximisation: responsibilities of the true classes, then T from their sums and a
    Newton step for the calibration, which is a logistic regression on them.
    """
    K = log_p.shape[1]
    order = np.argsort(given, kind="stable")
    log_p = log_p[order]
    ends = np.searchsorted(given[order], np.arange(K + 1))
    blocks = [slice(ends[j], ends[j + 1]) for j in range(K)]
    calibration, T = start or (Calibration(1.0, np.zeros(K)), _start(log_p, blocks))
    before = -np.inf
    for step in range(_STEPS):
        q = calibration(log_p)
        share = q.copy()
        for j, block in enumerate(blocks):
            share[block] *= T[:, j]
        total = np.maximum(share.sum(axis=1, keepdims=True), _TINY)
        share /= total
        joint = np.stack([share[block].sum(axis=0) for block in blocks], axis=1)
        T = rows_to_one(evened(joint, evenness(joint)))
        likelihood = float(np.log(total).mean())
        if step > _FIRST and likelihood - before < _ENOUGH:
            break
        before = likelihood
        calibration = _newton(calibration, q, share, log_p)
    return calibration, T


def _start(log_p: Floats, blocks: list[slice]) -> Floats:
    K = log_p.shape[1]
    predicted = log_p.argmax(axis=1)
    counts = np.stack([np.bincount(predicted[b], minlength=K) for b in blocks], axis=1)
    # Away from zeros, which the multiplicative steps would keep.
    spread: Floats = 0.8 * rows_to_one(counts.astype(np.float64)) + 0.1 * np.eye(K) + 0.1 / K
    return spread


def _newton(now: Calibration, q: Floats, share: Floats, log_p: Floats) -> Calibration:
    K = q.shape[1]
    error = share - q
    gradient = np.append(error.sum(axis=0) - _RIDGE * now.offsets, (error * log_p).sum())
    slope = q * (log_p - (q * log_p).sum(axis=1, keepdims=True))
    curvature = np.empty((K + 1, K + 1))
    curvature[:K, :K] = np.diag(q.sum(axis=0) + _RIDGE) - q.T @ q
    curvature[K, :K] = curvature[:K, K] = slope.sum(axis=0)
    curvature[K, K] = (slope * log_p).sum() + 1e-9
    step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
    sharpness = now.sharpness + np.clip(step[K], -now.sharpness / 2, now.sharpness)
    return Calibration(float(np.clip(sharpness, 0.05, 50)), now.offsets + np.clip(step[:K], -1, 1))


def cells(given: Integers, q: Floats, most: int = 1000) -> tuple[Floats, Floats]:
    """Return the rows put together: (M, K) the mean q of each cell, (M, K) its label counts.

    A cell has rows of one most likely class and about the same confidence. The label counts of a
    cell follow its mean q through T exactly, so what is lost is precision, and little of it.
    """
    K = q.shape[1]
    top, likely = q.max(axis=1), q.argmax(axis=1)
    sizes = np.bincount(likely, minlength=K)
    bins = int(np.clip(most // K, 4, 20))
    order = np.lexsort((top, likely))
    place = np.arange(len(q)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    cell = np.empty(len(q), dtype=np.int64)
    cell[order] = np.repeat(np.arange(K), sizes) * bins + place * bins // np.repeat(sizes, sizes)
    counts = np.bincount(cell * K + given, minlength=K * bins * K).reshape(-1, K)
    weights = [np.bincount(cell, q[:, i], minlength=K * bins) for i in range(K)]
    filled = counts.sum(axis=1) > 0
    kept = counts[filled].astype(np.float64)
    return np.stack(weights, axis=1)[filled] / kept.sum(axis=1, keepdims=True), kept


def joint_of_cells(q: Floats, counts: Floats, T: Floats, steps: int) -> Floats:
    """Return (..., K, K), the rows of true class i and given label j, after ``steps`` from T.

    Args:
        q: (M, K).
        counts: (..., M, K), many draws of them at once.
        T: (K, K) to start from.
        steps: of expectation-maximisation.
    """
    joint = np.broadcast_to(T, (*counts.shape[:-2], *T.shape))
    for _ in range(steps):
        T = rows_to_one(joint)
        joint = T * (q.T @ (counts / np.maximum(q @ T, _TINY)))
    return joint


def rows_to_one(joint: NDArray[np.float64]) -> Floats:
    """Return the rows scaled to sum to one; an empty one becomes that of the identity."""
    sums = joint.sum(axis=-1, keepdims=True)
    shares = np.where(sums > 1e-12, joint / np.maximum(sums, 1e-12), np.eye(joint.shape[-1]))
    # What dwindles from step to step is 0 in the end, and slow to compute with on the way there.
    shares[shares < 1e-12] = 0
    return shares


def evenness(joint: Floats) -> float:
    """Return how far to trust that flips to one class differ from those to another, 0 to 1.

    The shrinkage of James and Stein: flips that differ no more than counts do by chance are
    evened out, or the least of K (K - 1) ratios would be the unluckiest and not the smallest.
    """
    K = len(joint)
    flips = off_diagonal(joint)
    even = flips.sum(axis=1, keepdims=True) / (K - 1)
    spread = np.where(np.eye(K, dtype=bool), 0, flips - even) ** 2
    chi_square = (spread / np.maximum(even, 1e-12))[even[:, 0] > 0].sum()
    freedom = (K - 2) * int((even > 0).sum())
    return max(0.0, 1 - freedom / chi_square) if chi_square > 0 else 1.0


def evened(joint: Floats, keep: float) -> Floats:
    """Return the joint with the flips of each row drawn together, but for ``keep`` of it."""
    diagonal = np.eye(joint.shape[-1], dtype=bool)
    flips = np.where(diagonal, 0, joint)
    even = flips.sum(axis=-1, keepdims=True) / (len(diagonal) - 1)
    return np.where(diagonal, joint, even + keep * (flips - even))
