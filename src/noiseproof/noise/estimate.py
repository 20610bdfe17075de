"""How noisy are these labels? The transition matrix, from out-of-sample probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from noiseproof.errors import NoiseError, ParameterError, did_you_mean
from noiseproof.noise import mixture
from noiseproof.noise.labels import Integers, as_labels, to_array
from noiseproof.noise.matrix import Floats, levels, off_diagonal
from noiseproof.noise.streams import stream
from noiseproof.noise.transition import TransitionMatrix

Interval = tuple[float, float]

_LEVEL = 95  # per cent, of every interval
_STEPS = 50  # from the matrix of the calibration to that of all rows
_FEW = 20  # rows
_WIDE = 0.3  # of the interval of T_ii
_UNSURE = 0.6  # the mean calibrated probability of the most likely class
_ANEW, _ANEW_ROWS = 10, 2_000  # resamplings that are calibrated anew, and their rows
_AT_ONCE = 20_000_000  # numbers in the working arrays of the bootstrap


@dataclass(frozen=True, eq=False, repr=False, init=False)
class EstimatedTransition(TransitionMatrix):
    """A transition matrix that was estimated, with 95 % bootstrap intervals. Made by ``estimate``.

    Attributes:
        joint: (K, K), P(true label i, given label j); it sums to one.
        rate_interval: of ``rate``, which is the share of wrong labels in these data.
        matrix_interval: (2, K, K), the lower ends and the upper.
        clean_level_interval: of ``clean_level``.
        warnings: what the estimate cannot tell, or what no loss can mend, in words.
        calibration: from the classifier's probabilities to those of the true class.
    """

    joint: Floats
    rate_interval: Interval
    matrix_interval: Floats
    clean_level_interval: Interval
    warnings: tuple[str, ...]
    calibration: mixture.Calibration

    def __init__(
        self,
        joint: Floats,
        rate_interval: Interval,
        matrix_interval: Floats,
        clean_level_interval: Interval,
        warnings: tuple[str, ...] = (),
        classes: Sequence[str] | None = None,
        calibration: mixture.Calibration | None = None,
    ) -> None:
        """Keep what ``estimate`` found."""
        super().__init__(mixture.rows_to_one(joint), classes)
        for array in (joint, matrix_interval):
            array.flags.writeable = False
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "rate_interval", rate_interval)
        object.__setattr__(self, "matrix_interval", matrix_interval)
        object.__setattr__(self, "clean_level_interval", clean_level_interval)
        object.__setattr__(self, "warnings", warnings)
        plain = mixture.Calibration(1.0, np.zeros(len(joint)))
        object.__setattr__(self, "calibration", calibration or plain)

    def true_class(self, labels: Integers, probabilities: ArrayLike) -> Floats:
        """Return (N, K): how likely each true class is, given the inputs and the label.

        Args:
            labels: (N,) as given, 0 to K-1.
            probabilities: (N, K) of the classifier whose probabilities the noise was found from.
        """
        p = np.asarray(probabilities, dtype=np.float64)
        joint = self.calibration(mixture.log_odds(p)) * self.matrix.T[labels]
        likely: Floats = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        return likely

    @property
    def prior(self) -> Floats:
        """(K,): how frequent each true class is."""
        sums: Floats = self.joint.sum(axis=1)
        return sums

    @property
    def rate(self) -> float:
        """The share of wrong labels in these data."""
        return float(off_diagonal(self.joint).sum())

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        kept = (self.joint, self.rate_interval, self.matrix_interval, self.clean_level_interval)
        return EstimatedTransition, (*kept, self.warnings, self.classes, self.calibration)


def estimate(
    labels: ArrayLike | Tensor,
    probabilities: ArrayLike | Tensor,
    classes: Sequence[str] | None = None,
    *,
    bootstrap: int = 200,
    seed: int = 0,
) -> EstimatedTransition:
    """Estimate how labels go wrong from what a classifier that never saw them says.

    A confident joint whose class thresholds and confidence are calibrated by maximum likelihood:
    see :mod:`noiseproof.noise.mixture`. So a classifier's own mistakes, which lie where it is
    unsure, are not taken for noise. Measured (benchmarks/results/estimate_noise.md): within 3
    points of the true rate up to symmetric 0.6 and asymmetric 0.3 on digits and MNIST, with heads
    right 86 % of the time or more, where cleanlab's confident joint is up to 5 off. With heads
    right 68 to 74 % of the time it is 0 to 9 off, either way (cleanlab 10 to 28, upwards), and
    the interval does not always hold the truth; with heads right 40 to 44 %, too high by 9 to
    17, and it warns.

    The probabilities should come from a robust loss: cross entropy learns an asymmetric noise as
    part of the classes, and hides up to half of it. From labels alone nobody can see a class most
    of whose labels are those of one other.

    Args:
        labels: (N,) the given labels, numbers from 0 to K-1 or names of classes.
        probabilities: (N, K) out-of-sample, as from cross-validation; their confidence is free.
        classes: the K names; without them, those of labels given as names, in order.
        bootstrap: how many draws the intervals come from.
        seed: of the draws.

    >>> true = np.arange(3000) % 3
    >>> noisy = TransitionMatrix([[0.8, 0.2, 0], [0, 1, 0], [0, 0.1, 0.9]]).corrupt(true, seed=1)
    >>> T = estimate(noisy, np.eye(3)[true] * 0.7 + 0.1, classes=["cat", "dog", "frog"])
    >>> print(T)
    EstimatedTransition(3 classes, rate 0.1023, clean level 4.038, dominant)
      true \\ given     cat     dog    frog
               cat   0.801   0.198   0.001
               dog       .   1.000       .
              frog   0.000   0.108   0.892
    >>> low, high = T.rate_interval
    >>> low < noisy.rate < high
    True
    """
    p = _check_probabilities(probabilities)
    names, given = _read_labels(labels, p.shape[1], classes)
    if len(given) != len(p):
        raise NoiseError(f"{len(given)} labels, but {len(p)} rows of probabilities")
    if bootstrap < 2:
        raise ParameterError(f"expected `bootstrap` >= 2, got {bootstrap}")
    log_p = mixture.log_odds(p)
    some = stream(seed, "calibration").permutation(len(given))
    some = some[: mixture.rows_to_calibrate(p.shape[1])]
    calibration, T = mixture.calibrate(given[some], log_p[some])
    q = calibration(log_p)
    sure = float(q.max(axis=1).mean())
    q, counts = mixture.cells(given, q)
    joint = mixture.joint_of_cells(q, counts, T, _STEPS)
    keep = mixture.evenness(joint)
    draws = _draws(q, counts, mixture.rows_to_one(joint), bootstrap, seed)
    draws = mixture.evened(draws, keep) / counts.sum()
    joint = mixture.evened(joint, keep) / counts.sum()
    draws = _widened(draws, joint, _spread(given, log_p, (calibration, T), seed))
    ends = (50 - _LEVEL / 2, 50 + _LEVEL / 2)
    matrices = mixture.rows_to_one(draws)
    rates = 1 - np.trace(draws, axis1=1, axis2=2)
    matrix_interval = np.percentile(matrices, ends, axis=0)
    level = levels(mixture.rows_to_one(joint)).min()
    level_interval = _centred([float(levels(matrix).min()) for matrix in matrices], level, ends)
    found = EstimatedTransition(
        joint,
        _pair(np.percentile(rates, ends)),
        matrix_interval,
        level_interval,
        (),
        names,
        calibration,
    )
    warnings = tuple(_warnings(found, np.bincount(given, minlength=len(found)), sure))
    object.__setattr__(found, "warnings", warnings)
    return found


def _check_probabilities(probabilities: Any) -> Floats:
    p = to_array(probabilities)
    if p.ndim != 2 or p.shape[1] < 2 or not len(p):
        raise NoiseError(f"expected probabilities of shape (N, K), K >= 2, got {p.shape}")
    if p.dtype.kind not in "fiub":
        raise NoiseError("expected probabilities to be numbers")
    p = p.astype(np.float64)
    wrong = ~(np.isfinite(p) & (p >= 0)).all(axis=1)
    wrong |= ~(np.abs(p.sum(axis=1) - 1) <= 0.01)  # as far as half precision may be off
    if wrong.any():
        row = int(wrong.argmax())
        raise NoiseError(f"row {row} of the probabilities is not one of probabilities: {p[row]}")
    return p


def _read_labels(
    labels: Any, K: int, classes: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, Integers]:
    array = to_array(labels)
    names = None if classes is None else tuple(str(name) for name in classes)
    if names is not None and len(names) != K:
        raise NoiseError(f"{len(names)} class names for probabilities of {K} classes")
    if array.dtype.kind not in "OUS":
        return names, as_labels(array, K)
    words = array.astype(str)
    if names is None:
        names = tuple(np.unique(words).tolist())
        if len(names) != K:
            raise NoiseError(
                f"labels of {len(names)} names for probabilities of {K} classes: give `classes`"
            )
    place = {name: i for i, name in enumerate(names)}
    for word in words:
        if word not in place:
            raise NoiseError(f"unknown label {str(word)!r}{did_you_mean(str(word), names)}")
    return names, np.array([place[word] for word in words], dtype=np.int64)


def _draws(q: Floats, counts: Floats, T: Floats, draws: int, seed: int) -> Floats:
    """Return (draws, K, K), the joint of each resampling of the rows."""
    chance = counts.ravel() / counts.sum()
    numbers = stream(seed, "bootstrap")
    size = max(1, min(draws, _AT_ONCE // counts.size))
    steps = 20 if len(T) <= 20 else 5
    parts = []
    for start in range(0, draws, size):
        n = min(size, draws - start)
        drawn = numbers.multinomial(int(counts.sum()), chance, size=n).reshape(n, *counts.shape)
        parts.append(mixture.joint_of_cells(q, drawn.astype(np.float64), T, steps))
    return np.concatenate(parts)


def _spread(
    given: Integers, log_p: Floats, start: tuple[mixture.Calibration, Floats], seed: int
) -> float:
    """Return the standard deviation of the rate over resamplings that are calibrated anew.

    With few rows each, and so scaled: the calibration is the slow part.
    """
    numbers = stream(seed, "calibration anew")
    n = min(len(given), _ANEW_ROWS)
    rates = []
    for _ in range(_ANEW):
        rows = numbers.integers(len(given), size=n)
        calibration, T = mixture.calibrate(given[rows], log_p[rows], start)
        q = calibration(log_p[rows])
        rates.append(1 - float(q.mean(axis=0) @ np.diag(T)))
    return float(np.std(rates, ddof=1) * np.sqrt(n / len(given)))


def _widened(draws: Floats, joint: Floats, spread: float) -> Floats:
    """Return the draws as far from their mean as ``spread`` says of the rate; none comes nearer."""
    rates = 1 - np.trace(draws, axis1=1, axis2=2)
    factor = max(1.0, spread / max(float(rates.std()), 1e-12))
    wide = np.maximum(joint + factor * (draws - draws.mean(axis=0)), 0)
    return np.asarray(wide / wide.sum(axis=(1, 2), keepdims=True))


def _centred(draws: list[float], found: float, ends: Interval) -> Interval:
    """Return the interval of c: the draws', moved so that their median is the estimate.

    c is the least of many ratios, and so less in a draw of a draw. Infinite ones are not moved.
    """
    low, middle, high = np.percentile(draws, (ends[0], 50, ends[1]), method="nearest")
    move = found / middle if np.isfinite(found) and 0 < middle < np.inf else 1.0
    return float(low * move), float(high * move)


def _pair(ends: Any) -> Interval:
    return float(ends[0]), float(ends[1])


def _warnings(T: EstimatedTransition, given: Integers, sure: float) -> list[str]:
    found = []
    if sure < _UNSURE:
        found.append(
            f"the classifier is right about {sure:.0%} of the time: some of its own mistakes are "
            "counted as noise, and the rate may be too high"
        )
    low, high = T.matrix_interval
    width = np.diag(high - low)
    for i in range(len(T)):
        rows = int(given[i])
        if rows < _FEW or width[i] > _WIDE:
            found.append(
                f"class {T.name(i)!r} is too small to tell: {rows} rows are labelled so, and "
                f"between {low[i, i]:.0%} and {high[i, i]:.0%} of its labels are right"
            )
    for i, j, level in T.confusions(at_most=1.0):
        found.append(
            f"class {T.name(i)!r} is labelled {T.name(j)!r} as often as {T.name(i)!r} "
            f"(c = {level:.2f}): no loss can tell these two apart"
        )
    if T.dominant and T.clean_level_interval[0] <= 1:
        i, j, level = T.confusions(at_most=T.clean_level)[0]
        found.append(
            f"class {T.name(i)!r} may be labelled {T.name(j)!r} as often as {T.name(i)!r} "
            f"(c = {level:.2f}, interval from {T.clean_level_interval[0]:.2f})"
        )
    return found
