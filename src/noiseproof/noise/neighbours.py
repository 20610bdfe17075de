"""The nearest rows of each row, and how far to trust a classifier and its neighbours' labels."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from noiseproof.errors import NoiseError, ParameterError
from noiseproof.losses.parameter import is_whole
from noiseproof.noise.labels import Integers, as_numbers, to_array
from noiseproof.noise.matrix import Doubles
from noiseproof.noise.predicted import LEAST, floors, log_probabilities, log_votes

_BLOCK = 1024  # rows
_NUMBERS = 2_000_000  # probabilities that the trust is found from
_STEPS = 20


def nearest(features: Any, k: int = 10, metric: str = "cosine") -> Integers:
    """Return (N, k), the numbers of the rows nearest to each row, itself left out.

    Args:
        features: (N, d) numbers.
        k: how many.
        metric: ``"cosine"`` or ``"euclidean"``.

    >>> nearest([[0.0], [1.0], [1.1], [5.0]], k=1, metric="euclidean").ravel()
    array([1, 2, 1, 2])
    """
    array = as_numbers(to_array(features))
    if array.ndim != 2 or len(array) < 2:
        raise NoiseError(f"expected dense features of shape (N, d), N >= 2, got {array.shape}")
    if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
        raise NoiseError("expected features to be finite numbers")
    if not isinstance(metric, str) or metric not in ("cosine", "euclidean"):
        raise ParameterError(f'expected metric "cosine" or "euclidean", got {metric!r}')
    if not is_whole(k) or k < 1:
        raise ParameterError(f"expected k >= 1, got {k!r}")
    # Neither unit nor origin of the features, nor a row far from all others, may drown distances in
    # rounding; and sums depend on how an array lies in memory.
    x = torch.from_numpy(np.array(array, dtype=np.float64, order="C"))
    x /= x.abs().max().clamp_min(1e-300) if x.numel() else 1
    if metric == "cosine":
        length = x.norm(dim=1, keepdim=True)
        x /= torch.where(length > 0, length, 1)
    else:
        x -= x.median(0).values
    half = x.square().sum(1) / 2
    k = min(int(k), len(x) - 1)
    found = np.empty((len(x), k), dtype=np.int64)
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK]
        close = block @ x.T - half  # minus half the squared distance, but for the row's own norm
        rows = torch.arange(len(block), device="cpu")
        close[rows, start + rows] = -torch.inf
        found[start : start + _BLOCK] = close.topk(k, dim=1).indices.numpy()
    return found


def trust(
    given: Integers, probabilities: NDArray[np.floating], votes: Integers | None
) -> tuple[Doubles, float]:
    """Return (a, b) and the floor of p, for which p^a votes^b predicts the labels best.

    Args:
        given: (N,) labels.
        probabilities: (N, K) held out.
        votes: (N, k) the labels of each row's neighbours; without them b is 0.
    """
    N, K = probabilities.shape
    rows = np.linspace(0, N - 1, min(N, max(200, _NUMBERS // K))).astype(np.int64)
    p, labels = probabilities[rows], given[rows]
    others = [] if votes is None else [log_votes(votes[rows], K)]
    found = [
        (*_regression(labels, np.stack([log_probabilities(p, floor), *others])), floor)
        for floor in floors(p)
    ]
    _, power, floor = max(found, key=lambda one: one[0])
    return np.append(power, np.zeros(2 - len(power))), floor


def _regression(labels: Integers, sources: Doubles) -> tuple[float, Doubles]:
    """Return the log-likelihood of the labels, and the powers of (m, N, K) sources that it takes.

    Newton's method.
    """
    power, ridge = np.full(len(sources), 1 / len(sources)), 1e-3
    every = np.arange(len(labels))
    for _ in range(_STEPS):
        q = np.tensordot(power, sources, 1)
        q = np.exp(q - q.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        centred = sources - (sources * q).sum(axis=2, keepdims=True)
        gradient = centred[:, every, labels].sum(axis=1) - ridge * power
        curvature = np.einsum("ank,bnk,nk->ab", centred, centred, q) + ridge * np.eye(len(power))
        step = np.linalg.solve(curvature, gradient)
        power = np.clip(power + np.clip(step, -power / 2, power + 0.1), 0.01, 20)
    return float(np.log(np.maximum(q[every, labels], LEAST)).sum()), power
