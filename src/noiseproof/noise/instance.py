"""Instance-dependent noise: the features of a sample decide what it is mistaken for."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from noiseproof.errors import NoiseError
from noiseproof.noise.corruption import Corruption, receipt
from noiseproof.noise.generate import check_rate
from noiseproof.noise.labels import (
    Integers,
    Labels,
    as_labels,
    as_numbers,
    check_classes,
    count_classes,
    to_array,
)
from noiseproof.noise.matrix import Doubles
from noiseproof.noise.streams import stream

SPREAD = 0.1
BLOCK = 1024


def instance_dependent(
    features: Any, labels: Labels, rate: float, seed: int, classes: int | None = None
) -> Corruption[Labels]:
    """Return labels flipped by a noise that depends on each sample's features.

    Sample n with features x and class y flips with probability q_n, drawn from a normal
    distribution with mean ``rate`` and standard deviation 0.1, truncated to [0, 1]. It goes to
    class j != y with probability softmax(x W_y)_j over those j, where W_y is a random (d, K)
    projection for each class. Features are first centred and divided by their overall standard
    deviation, so their unit does not matter. As in the literature, the truncation raises the
    realised rate if ``rate`` is within about 0.2 of 0 (0.1 gives 0.129) and lowers it near 1; a
    rate of 0 means no noise.

    Args:
        features: (N, ...) numbers, such as pixels; a tensor or an array.
        labels: (N,) true labels; the noisy ones come back in the same container.
        rate: the mean flip rate, from 0 to 1.
        seed: the noise is drawn from the stream "noise" of this seed.
        classes: K; by default one more than the largest label.

    Reference: Xia et al., Part-dependent label noise, NeurIPS 2020.

    >>> x, y = np.arange(3000).reshape(1000, 3) % 7, np.arange(1000) % 4
    >>> instance_dependent(x, y, 0.3, seed=1)
    Corruption(1000 labels, 318 changed, rate 0.318, hash ...)
    """
    true = as_labels(labels, classes)
    K = check_classes(classes or count_classes(true))
    rows = _as_rows(features, len(true))
    generator = stream(seed, "noise")
    flips = generator.random(len(true)) < _flip_rates(check_rate(rate), len(true), generator)
    uniform = generator.random(len(true))
    centre, scale = _moments(rows)
    noisy = true.copy()
    for y in range(K):
        # Uniform entries of variance one: a projection sums so many that normal entries would
        # give the same, and uniform ones need no transcendental function.
        projection = (generator.random((rows.shape[1], K)) - 0.5) * math.sqrt(12)
        members = np.flatnonzero(flips & (true == y))
        for start in range(0, len(members), BLOCK):
            block = members[start : start + BLOCK]
            scores = (rows[block] - centre) @ projection / scale
            noisy[block] = _softmax_draw(scores, y, uniform[block])
    return receipt(true, noisy, K, labels)


def _flip_rates(rate: float, count: int, generator: np.random.Generator) -> Doubles:
    """Draw flip rates with the inverse distribution function of the truncated normal."""
    uniform = torch.from_numpy(generator.random(count))
    if rate == 0:
        return np.zeros(count)
    ends = torch.from_numpy((np.array([0.0, 1.0]) - rate) / SPREAD)
    low, high = torch.special.ndtr(ends)
    rates = rate + SPREAD * torch.special.ndtri(low + uniform * (high - low))
    return np.asarray(rates.clamp(0, 1))


def _softmax_draw(scores: Doubles, own: int, uniform: Doubles) -> Integers:
    """Draw a class for each row from the softmax of its ``scores`` without the column ``own``."""
    scores[:, own] = -np.inf
    edges = np.cumsum(np.exp(scores - scores.max(axis=1, keepdims=True)), axis=1)
    drawn: Integers = np.argmax(edges > uniform[:, None] * edges[:, -1:], axis=1)
    return drawn


def _as_rows(features: Any, count: int) -> NDArray[Any]:
    array = as_numbers(to_array(features))
    if array.ndim < 1 or len(array) != count:
        raise NoiseError(f"{count} labels, but features of shape {array.shape}")
    if array.dtype.kind not in "fiub":
        raise NoiseError(f"expected features to be numbers, got {array.dtype}")
    return array.reshape(count, math.prod(array.shape[1:]))


def _moments(rows: NDArray[Any]) -> tuple[Doubles, float]:
    """Return the mean of each column and the standard deviation of all entries around them."""
    count, width = rows.shape
    if not rows.size:
        return np.zeros(width), 1.0
    centre = rows.mean(axis=0, dtype=np.float64)
    blocks = (rows[start : start + BLOCK] - centre for start in range(0, count, BLOCK))
    scale = math.sqrt(sum(float(np.square(block).sum()) for block in blocks) / rows.size)
    if not math.isfinite(scale):
        raise NoiseError("features contain values that are not finite")
    return centre, scale or 1.0
