"""How accurate predictions are: on the labels given and, as far as can be told, on true ones."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.noise import TransitionMatrix, stream

Floats = NDArray[np.float64]

ITERATIONS = 200
DRAWS = 100
METHOD = (
    "from how often held-out predictions agree with the noisy labels and from the estimated noise, "
    "taking the noise to depend on the true class alone; 95 % interval from a bootstrap over the "
    "rows, which leaves out that this may not be so"
)


@dataclass(frozen=True)
class Accuracy:
    """A share of predictions that are right, with its interval.

    Args:
        value: the share.
        low: the lower end of the interval of 95 %.
        high: the upper end.
        method: how it was found.
    """

    value: float
    low: float
    high: float
    method: str

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)


def measured(right: NDArray[np.bool_], method: str) -> Accuracy:
    """Return the share of right predictions, with Wilson's interval.

    >>> print(measured(np.array([True] * 90 + [False] * 10), "measured"))
    90.0% (82.6% to 94.5%)
    """
    n, p, z = len(right), float(right.mean()), 1.96
    centre, width = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = (centre - width) / (1 + z**2 / n), (centre + width) / (1 + z**2 / n)
    return Accuracy(p, float(low), float(high), method)


def estimated(
    predicted: NDArray[np.int64], labels: NDArray[np.int64], noise: TransitionMatrix, seed: int
) -> Accuracy:
    """Estimate the accuracy on true labels of predictions for rows with noisy ones.

    P(predicted p, noisy j) = sum over i of P(predicted p, true i) T_ij, where the noise depends on
    the true class alone. The most likely P(predicted, true) is found by expectation-maximisation;
    its trace is the accuracy.

    Args:
        predicted: (N,) classes, each by a model that did not see the row.
        labels: (N,) the noisy labels.
        noise: T, as estimated; where it has ``matrix_interval``, it varies in the bootstrap.
        seed: of the bootstrap.

    >>> true = np.repeat([0, 1], 5000)
    >>> T = TransitionMatrix([[0.7, 0.3], [0.2, 0.8]])
    >>> predicted = np.where(np.arange(10000) % 10 == 0, 1 - true, true)  # nine in ten are right
    >>> noisy = T.corrupt(true, seed=1).labels
    >>> print(f"{(predicted == noisy).mean():.2f}", estimated(predicted, noisy, T, 0))
    0.70 90.6% (89.0% to 92.1%)
    """
    classes, rows = len(noise), len(labels)
    joint = np.zeros((classes, classes))
    np.add.at(joint, (predicted, labels), 1 / rows)
    value = _true_share(joint, noise.matrix)
    numbers = stream(seed, "accuracy")
    weight = _concentration(noise)
    draws = []
    for _ in range(DRAWS if classes <= 200 else 20):
        again = numbers.multinomial(rows, joint.reshape(-1)).reshape(joint.shape) / rows
        drawn = [
            row if np.isinf(w) else numbers.dirichlet(w * row + 1e-6)
            for row, w in zip(noise.matrix, weight, strict=True)
        ]
        draws.append(_true_share(again, np.array(drawn)))
    # A T that does not quite fit always costs agreement: the draws lie low, and are moved back.
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975])
    lower, upper = max(0.0, value + low - middle), min(1.0, value + high - middle)
    return Accuracy(value, float(lower), float(upper), METHOD)


def gain_on_true(gain: float, noise: TransitionMatrix, prior: Sequence[float] | Floats) -> float:
    """Return about how much a gain on noisy labels is worth on true ones.

    A prediction set right gains T_ii and loses T_ij of a noisy label.

    >>> round(gain_on_true(0.05, TransitionMatrix([[0.7, 0.3], [0.3, 0.7]]), [0.5, 0.5]), 3)
    0.125
    """
    weights = np.asarray(prior, dtype=np.float64) / np.sum(prior)
    kept = float(weights @ np.diag(noise.matrix))
    slope = kept - (1 - kept) / (len(noise) - 1)
    return gain / slope if slope > 0.05 else gain


def _true_share(joint: Floats, T: Floats) -> float:
    """Return the trace of the most likely M with M T = ``joint``."""
    M = np.where(joint.sum(1, keepdims=True) > 0, 0.5 * np.eye(len(T)) + 0.5 / len(T), 0.0)
    M *= joint.sum(1, keepdims=True)
    for _ in range(ITERATIONS):
        mixed = M @ T
        ratio = np.divide(joint, mixed, out=np.zeros_like(joint), where=mixed > 0)
        new = M * (ratio @ T.T)
        done = float(np.abs(new - M).sum()) < 1e-7
        M = new
        if done:
            break
    return float(np.trace(M) / M.sum())


def _concentration(noise: TransitionMatrix) -> Floats:
    """Return (K,): of the Dirichlet distribution of each row of T, infinite where it is certain.

    Its variance is that of the interval of T_ii.
    """
    interval = getattr(noise, "matrix_interval", None)
    if interval is None:
        return np.full(len(noise), np.inf)
    low, high = (np.diag(np.asarray(end, dtype=np.float64)) for end in interval)
    kept = np.diag(noise.matrix)
    variance = ((high - low) / (2 * 1.96)) ** 2
    certain = (variance <= 0) | (kept * (1 - kept) <= 0)
    found = np.divide(kept * (1 - kept), variance, out=np.full(len(noise), np.inf), where=~certain)
    return np.asarray(np.maximum(found - 1, 1.0))
