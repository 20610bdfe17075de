"""A transition matrix that was estimated: intervals, doubtful labels, warnings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noiseproof.errors import NoiseError
from noiseproof.noise import predicted
from noiseproof.noise.difficulty import FEW
from noiseproof.noise.given import read_given, read_neighbours
from noiseproof.noise.labels import Integers
from noiseproof.noise.matrix import Doubles, largest_flips, ratio
from noiseproof.noise.transition import TransitionMatrix

Interval = tuple[float, float]

_WIDE = 0.3  # of the interval of T_ii
_LINES = 4  # of warnings of one kind; the rest are counted
#: A rate is called low if it is below the first, and below the second times the share of all
#: classes but the largest. Where hardly anybody repays late, a rate of 10 % may be all who do.
SMALL, RARE = 0.1, 0.2
#: A lower end that is at most this share of the upper one is too near to 0 to rule it out.
NEAR_ZERO = 0.2
#: A label that is wrong with at least this probability is doubtful. In 28 fits, such rows were as
#: many as cleanlab lists, and the list had more of the wrong labels nearer to its top in 25.
DOUBTFUL = 0.25
_BLOCK = 4_000_000  # numbers


@dataclass(frozen=True)
class Calibration:
    """How probabilities become those of the true class: q = softmax(sharpness * log p).

    Args:
        sharpness: as the labels bear it out.
        power: of the probabilities and of the neighbours' votes in p.
        seen: the share of the noise that shows where the classifier is sure. The rest lies on rows
            that are hard to tell, and says nothing against a label on others.
        noisy: how likely it is that what shows is noise, and not difficulty.
        floor: what a smaller probability is taken for.
    """

    sharpness: float = 1.0
    power: tuple[float, float] = (1.0, 0.0)
    seen: float = 1.0
    noisy: float = 1.0
    floor: float = predicted.LEAST

    @property
    def hard(self) -> bool:
        """Whether all there is are probabilities of 0 or 1, so that no difficulty shows."""
        return self.floor == predicted.HARD and self.power[1] == 0


@dataclass(frozen=True, eq=False, repr=False, init=False)
class EstimatedTransition(TransitionMatrix):
    """A transition matrix that was estimated, with 95 % intervals. Made by :func:`estimate`.

    Attributes:
        prior: (K,) how frequent each true class is.
        rate_interval: of ``rate``, the share of wrong labels in these data.
        kept_interval: (2, K), of T_ii: the lower ends and the upper.
        clean_level_interval: of ``clean_level``.
        draws: (M, 2) equally likely pairs of the rate and of the classifier's accuracy on true
            labels.
        agreement: how often the classifier predicts the given label.
        rows: N.
        warnings: what the estimate cannot tell, or what no loss can mend, in words.
        calibration: from the classifier's probabilities to those of the true class.
    """

    prior: Doubles
    rate_interval: Interval
    kept_interval: Doubles
    clean_level_interval: Interval
    draws: Doubles
    agreement: float
    rows: int
    warnings: tuple[str, ...]
    calibration: Calibration

    def __init__(
        self,
        matrix: Doubles,
        prior: Doubles,
        rate_interval: Interval,
        draws: Doubles,
        agreement: float,
        rows: int,
        classes: Sequence[str] | None = None,
        calibration: Calibration = Calibration(),  # noqa: B008 - frozen
    ) -> None:
        """Keep what :func:`estimate` found."""
        super().__init__(matrix, classes)
        rate = float(prior @ (1 - np.diag(matrix)))
        worst = largest_flips(matrix)
        kept = _kept_interval(np.diag(matrix), prior * rows, rate, rate_interval)
        values = {
            "prior": prior,
            "rate_interval": rate_interval,
            "kept_interval": kept,
            "clean_level_interval": _level_interval(np.diag(matrix), worst, rate, rate_interval),
            "draws": draws,
            "agreement": agreement,
            "rows": rows,
            "calibration": calibration,
        }
        for array in (prior, kept, draws):
            array.flags.writeable = False
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "warnings", tuple(_warnings(self)))

    @property
    def joint(self) -> Doubles:
        """(K, K), P(true label i, given label j); it sums to one."""
        return np.asarray(self.prior[:, None] * self.matrix)

    @property
    def rate(self) -> float:
        """The share of wrong labels in these data."""
        return float(self.prior @ (1 - np.diag(self.matrix)))

    @property
    def decisive(self) -> bool:
        """Whether noise could be told from difficulty: the rate is low for sure, or surely not 0.

        Where it could not, do not act on single suspects. Probabilities of 0 or 1 single none out.
        """
        return told_apart(self.rate_interval, self.calibration, self.prior)

    def __repr__(self) -> str:
        low, high = self.rate_interval
        verdict = "dominant" if self.dominant else "not dominant"
        if not self.decisive:
            verdict = "cannot tell noise from difficulty"
        return (
            f"{type(self).__name__}({len(self)} classes, rate {self.rate:.4g} "
            f"({low:.2g} to {high:.2g}), clean level {self.clean_level:.4g}, {verdict})"
        )

    def true_class(
        self, labels: ArrayLike, probabilities: ArrayLike, neighbours: ArrayLike | None = None
    ) -> NDArray[np.floating]:
        """Return (N, K): how likely each true class is, given the inputs and the label.

        Args:
            labels: (N,) as given, names or 0 to K-1.
            probabilities: (N, K) of the classifier whose probabilities the noise was found from.
            neighbours: (N, k) where the noise was found with them.
        """
        given, p, votes = self._read(labels, probabilities, neighbours)
        found = np.empty_like(p)
        for block, likely in self._true_blocks(given, p, votes):
            found[block] = likely
        return found

    def doubt(
        self, labels: ArrayLike, probabilities: ArrayLike, neighbours: ArrayLike | None = None
    ) -> tuple[Doubles, Integers]:
        """Return how likely each label is to be wrong, and the class to propose for the row.

        For a :data:`DOUBTFUL` label, where what shows is likely to be noise, that is the most
        likely other class; else the most likely class. Without a second array of the size of
        ``probabilities``.
        """
        given, p, votes = self._read(labels, probabilities, neighbours)
        wrong, proposed = np.empty(len(p)), np.empty(len(p), dtype=np.int64)
        for block, likely in self._true_blocks(given, p, votes):
            rows = np.arange(len(likely))
            wrong[block] = 1 - likely[rows, given[block]]
            if self.calibration.noisy >= 0.5:
                doubtful = np.flatnonzero(wrong[block] >= DOUBTFUL)
                likely[doubtful, given[block][doubtful]] = 0
            proposed[block] = likely.argmax(axis=1)
        return wrong, proposed

    def _read(
        self, labels: Any, probabilities: Any, neighbours: Any
    ) -> tuple[Integers, NDArray[np.floating], Integers | None]:
        """Return labels, probabilities and the neighbours' labels, checked against the matrix."""
        _, given, p = read_given(labels, probabilities, self.classes or None)
        if p.shape[1] != len(self):
            raise NoiseError(f"probabilities of {p.shape[1]} classes for noise of {len(self)}")
        return given, p, None if neighbours is None else given[read_neighbours(neighbours, len(p))]

    def _true_blocks(
        self, labels: Integers, p: NDArray[Any], votes: Integers | None
    ) -> Iterator[tuple[slice, Doubles]]:
        made = self.calibration
        step = max(1, _BLOCK // len(self))
        for start in range(0, len(p), step):
            block = slice(start, start + step)
            z = made.power[0] * predicted.log_probabilities(p[block], made.floor)
            if votes is not None:
                z += made.power[1] * predicted.log_votes(votes[block], len(self))
            z *= made.sharpness
            z -= z.max(axis=1, keepdims=True)
            likely = np.exp(z, out=z)
            rows = np.arange(len(likely))
            right = likely[rows, labels[block]]
            column = made.seen * self.matrix.T[labels[block]]
            likely *= column
            likely[rows, labels[block]] += (1 - made.seen) * right
            likely *= made.noisy / np.maximum(likely.sum(axis=1, keepdims=True), 1e-300)
            likely[rows, labels[block]] += 1 - made.noisy
            yield block, likely

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        kept = (self.matrix, self.prior, self.rate_interval, self.draws, self.agreement, self.rows)
        return EstimatedTransition, (*kept, self.classes, self.calibration)


def told_apart(ends: Interval, calibration: Calibration, prior: Doubles) -> bool:
    """Return whether noise is told from difficulty, by the interval of the rate."""
    low, high = ends
    is_low = high < min(SMALL, RARE * (1 - float(prior.max())))
    return low > NEAR_ZERO * high or (is_low and not calibration.hard)


def _kept_interval(kept: Doubles, rows: Doubles, rate: float, ends: Interval) -> Doubles:
    """Return (2, K), the interval of T_ii: of the rate's interval and of so few rows."""
    chance = 1.96 * np.sqrt((kept * (1 - kept) + 0.25 / (rows + 4)) / (rows + 4))
    low, high = (1 - (1 - kept) * end / max(rate, 1e-12) for end in reversed(ends))
    return np.clip(
        [kept - np.hypot(kept - low, chance), kept + np.hypot(high - kept, chance)], 0, 1
    )


def _level_interval(kept: Doubles, worst: Doubles, rate: float, ends: Interval) -> Interval:
    """Return the interval of c: that of the same flips at either end of the rate's interval."""
    found = []
    for end in (ends[1], rate, ends[0]):
        factor = end / max(rate, 1e-12)
        right = np.maximum(1 - factor * (1 - kept), 0)
        found.append(float(ratio(right, factor * worst).min()))
    return min(found), max(found)


def _warnings(T: EstimatedTransition) -> Iterator[str]:
    low, high = T.rate_interval
    if not T.decisive and T.calibration.hard:
        yield (
            "cannot tell noise from difficulty: the probabilities are all 0 or 1, which does not "
            f"show what is difficult, and between {low:.0%} and {high:.0%} of the labels may be "
            "wrong; give probabilities in between, or review some rows"
        )
    elif not T.decisive:
        yield (
            f"cannot tell noise from difficulty: the classifier predicts {T.agreement:.0%} of the "
            f"labels, and between {low:.0%} and {high:.0%} of them may be wrong; review some rows"
        )
    rows = T.prior * T.rows
    low_kept, high_kept = T.kept_interval
    small = np.flatnonzero((rows < FEW) | (T.decisive & (high_kept - low_kept > _WIDE)))
    lines = [
        f"class {T.name(i)!r} is too small to tell: it has about {rows[i]:.0f} rows, and between "
        f"{low_kept[i]:.0%} and {high_kept[i]:.0%} of its labels are right"
        if rows[i] >= 0.5
        else f"class {T.name(i)!r} is too small to tell: no row of it can be judged"
        for i in small[:_LINES]
    ]
    yield from _some(lines, len(small), "classes are too small to tell")
    even = T.confusions(at_most=1.0)
    lines = [
        f"class {T.name(i)!r} is labelled {T.name(j)!r} at least as often as {T.name(i)!r} "
        f"(c = {level:.2f}): no loss can tell these two apart"
        for i, j, level in even[:_LINES]
    ]
    yield from _some(lines, len(even), "pairs of classes are labelled alike")
    if T.decisive and T.dominant and T.clean_level_interval[0] <= 1:
        i, j, level = T.confusions(at_most=T.clean_level)[0]
        yield (
            f"class {T.name(i)!r} may be labelled {T.name(j)!r} at least as often as {T.name(i)!r} "
            f"(c = {level:.2f}, interval from {T.clean_level_interval[0]:.2f})"
        )


def _some(lines: list[str], number: int, what: str) -> Iterator[str]:
    yield from lines
    if number > len(lines):
        yield f"{number - len(lines):,} more {what}"
