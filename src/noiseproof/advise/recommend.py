"""Recommend losses, with their parameters, for a known or estimated noise."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from noiseproof.advise.families import LOWEST, MANY, active_negative, families, joint
from noiseproof.errors import NoiseError, ParameterError, TheoryError
from noiseproof.known import known
from noiseproof.losses import Loss
from noiseproof.losses.parameter import Interval, checked
from noiseproof.noise import EstimatedTransition, Noise, TransitionMatrix, estimate, parse
from noiseproof.noise.generate import split_classes
from noiseproof.theory import asymmetry_ratio
from noiseproof.theory.tolerance import symmetric_rate

#: The margin c*r to keep: on digits, the smallest one measured with about 90 % of the best gain
#: over CE (``benchmarks/margin.py``, docs/recommend.md).
MARGIN = 2.0
#: From this accuracy on true labels, data are easy: the strictest loss is the best (the same page).
EASY = 0.7


@dataclass(frozen=True)
class Advice:
    """A loss for a noise.

    Attributes:
        loss: the loss, ready to train with.
        family: the family, such as ``"NCE+AGCE"``.
        clean_level: c of the noise; for an estimated noise, the lower end of its interval.
        ratio: the asymmetry ratio r of the loss; None for JAL-CE, which has none.
        margin: c * r; from 1 on, Theorem 6 proves the loss tolerant. For JAL-CE, a times the least
            T_ii - T_ij: from 1 on, its own condition does.
        tolerates: the largest symmetric noise rate that it withstands with this many classes.
        why: the reason, in one sentence.
    """

    loss: Loss
    family: str
    clean_level: float
    ratio: float | None
    margin: float
    tolerates: float
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; infinity is "inf"."""
        plain = {
            "loss": str(self.loss),
            "family": self.family,
            "clean_level": self.clean_level,
            "ratio": self.ratio,
            "margin": self.margin,
            "tolerates": self.tolerates,
            "why": self.why,
        }
        return {name: "inf" if value == math.inf else value for name, value in plain.items()}


@dataclass(frozen=True)
class Recommendation(Sequence[Advice]):
    """Losses for a noise, the best first: a sequence of :class:`Advice`. Print it for a table.

    Attributes:
        noise: the matrix that the advice is for.
        wanted: the margin c*r that was asked for.
        advice: one loss per family.
        warnings: what to know about the noise, in words.
    """

    noise: TransitionMatrix
    wanted: float
    advice: tuple[Advice, ...]
    warnings: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Advice: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Advice, ...]: ...
    def __getitem__(self, index: int | slice) -> Advice | tuple[Advice, ...]:
        return self.advice[index]

    def __len__(self) -> int:
        return len(self.advice)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; infinity is "inf"."""
        level = self.noise.clean_level
        return {
            "classes": len(self.noise),
            "rate": self.noise.rate,
            "clean_level": "inf" if level == math.inf else level,
            "margin": self.wanted,
            "losses": [advice.to_dict() for advice in self.advice],
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        rows = [("loss", "c", "r", "c*r", "tolerates")]
        for a in self.advice:
            numbers = (
                "-" if x is None else f"{x:.3g}"
                for x in (a.clean_level, a.ratio, a.margin, a.tolerates)
            )
            rows.append((str(a.loss), *numbers))  # type: ignore[arg-type]
        wide = max(len(row[0]) for row in rows)
        lines = [f"{row[0]:<{wide}}" + "".join(f"{cell:>11}" for cell in row[1:]) for row in rows]
        lines.append(f"Take {self.advice[0].loss}: {self.advice[0].why}")
        return "\n".join([*lines, *(f"Note: {warning}" for warning in self.warnings)])


def recommend(
    noise: TransitionMatrix | Noise | str | Any,
    classes: int | Sequence[str] | None = None,
    *,
    margin: float = MARGIN,
    probabilities: Any = None,
    dataset: str | None = None,
    accuracy: float | None = None,
) -> Recommendation:
    """Return losses that tolerate a noise with a margin, and are no stricter than that.

    A higher ratio means more tolerance and less fitting (the paper's rule), so each family gets
    the lowest ratio r with c * r >= ``margin``, or r near 1 if c is below the margin. The order
    follows the paper's practice: single losses first, or, with more than 50 classes, those with
    NCE. On digits the families were within half a point of each other, too close to rank them.
    The last is JAL-CE, from a later paper: it has no ratio but a condition of its own, and gets
    ``margin`` times the smallest a that meets it.

    Where the labels are noisy and the data easy, the first of all is ANL-CE, also from a later
    paper. It has r = 1, so its margin is c itself, and it still fits (docs/recommend.md). On hard
    data, which a model gets right in less than 70 %, it fits too little and comes last.

    Args:
        noise: a transition matrix, text such as ``"symmetric:0.4"``, or labels.
        classes: K or the names of the classes, if ``noise`` does not say.
        margin: c * r to keep, from 1 to 1e9. For an estimated matrix, c is the lower end of its
            interval.
        probabilities: (N, K) out-of-sample predictions if ``noise`` is labels, whose noise is then
            estimated.
        dataset: the data set whose confusions ``"asymmetric:0.3"`` refers to.
        accuracy: the share of true labels that a model gets right, if you know it; below 0.7 the
            data count as hard. By default it is taken from an estimated noise; without one, the
            data count as easy.

    Raises:
        TheoryError: if clean labels do not dominate, c <= 1; it names the two classes.

    >>> advice = recommend("symmetric:0.8", classes=10)[0]
    >>> round(advice.clean_level, 3), advice.ratio, round(advice.margin, 3)
    (2.25, 1.0, 2.25)
    >>> recommend(TransitionMatrix([[0.4, 0.6], [0, 1]], classes=["ham", "spam"]))
    Traceback (most recent call last):
    noiseproof.errors.TheoryError: 'ham' is labelled 'spam' at least as often as 'ham' (c = 0.667):
    no loss can tell these two apart; get cleaner labels for them, or join the two classes

    Reference:
        Theorem 6, Corollaries 1 to 3.
    """
    margin = checked("margin", margin, Interval(at_least=1, at_most=1e9))
    if accuracy is not None:
        accuracy = checked("accuracy", accuracy, Interval(at_least=0, at_most=1))
    T = _transition(noise, classes, probabilities, dataset)
    _check_dominance(T)
    warnings = list(T.warnings) if isinstance(T, EstimatedTransition) else []
    c = T.clean_level
    if isinstance(T, EstimatedTransition) and T.clean_level_interval[0] > 1:
        c = min(c, T.clean_level_interval[0])
    if c < margin:
        warnings.append(f"c = {c:.3g} leaves no room for a margin of {margin:g}: r is near 1")
    advice = (*_ranked(T, c, margin), _joint(T, c, margin))
    if accuracy is None:
        accuracy = float(np.median(T.draws[:, 1])) if isinstance(T, EstimatedTransition) else 1.0
    strict = _active_negative(T, c)
    first = c < math.inf and accuracy >= EASY
    ordered = (strict, *advice) if first else (*advice, strict)
    return Recommendation(T, margin, ordered, tuple(warnings))


def _transition(
    noise: Any, classes: Any, probabilities: Any, dataset: str | None
) -> TransitionMatrix:
    K, names = split_classes(classes)
    if dataset is not None and (own := len(known(dataset).classes)) != (K or own):
        raise NoiseError(f"{dataset} has {own} classes, but `classes` has {K}")
    if probabilities is not None:
        if isinstance(noise, (TransitionMatrix, str)):
            raise ParameterError("`probabilities` are for labels; a known noise needs none")
        noise = estimate(noise, probabilities, names)
    if isinstance(noise, str):
        noise = parse(noise, classes, dataset)
    T = noise if isinstance(noise, TransitionMatrix) else getattr(noise, "transition", None)
    if T is None:
        if isinstance(noise, Noise):
            raise NoiseError(f"noise {noise} has no transition matrix to check a loss against")
        raise NoiseError("labels alone do not say how noisy they are: give `probabilities` too")
    if K not in (None, len(T)):
        raise NoiseError(f"noise of {len(T)} classes, but `classes` has {K}")
    if names and T.classes and names != T.classes:
        raise NoiseError("`classes` has other names, or another order, than those of the noise")
    return T


def _check_dominance(T: TransitionMatrix) -> None:
    worst = T.confusions(at_most=1.0)
    if not worst:
        return
    i, j, level = worst[0]
    if len(T) > 2 and len({true for true, _, _ in worst}) == len(T):
        raise TheoryError(
            "in every class a wrong label is at least as frequent as the right one "
            f"(c = {level:.3g}): no loss can help; get cleaner labels"
        )
    some = f"{T.name(i)!r} is labelled {T.name(j)!r} at least as often as {T.name(i)!r}"
    if len(worst) > 1:
        raise TheoryError(
            f"{some} (c = {level:.3g}), the worst of {len(worst)} such pairs: no loss can tell "
            "the two classes of a pair apart; get cleaner labels for them, or join them"
        )
    raise TheoryError(
        f"{some} (c = {level:.3g}): no loss can tell these two apart; get cleaner labels for them, "
        "or join the two classes"
    )


def _ranked(T: TransitionMatrix, c: float, margin: float) -> Iterator[Advice]:
    for family in sorted(families(), key=lambda f: f.with_nce == (len(T) <= MANY)):
        loss = family.loss(margin / c, len(T))
        r = asymmetry_ratio(loss)
        yield Advice(
            loss=loss,
            family=family.name,
            clean_level=c,
            ratio=r,
            margin=c * r,
            tolerates=symmetric_rate(r, len(T)),
            why=_why(family.with_nce, c, r, margin),
        )


def _active_negative(T: TransitionMatrix, c: float) -> Advice:
    """Return ANL-CE. It is symmetric, so r = 1: measuring that takes seconds."""
    return Advice(
        loss=active_negative(len(T)),
        family="ANL-CE",
        clean_level=c,
        ratio=1.0,
        margin=c,
        tolerates=symmetric_rate(1.0, len(T)),
        why=f"r = 1, so c*r = {c:.3g} is the most that this noise allows, and it still fits",
    )


def _joint(T: TransitionMatrix, c: float, margin: float) -> Advice:
    """Return JAL-CE: asymmetric on row i iff a (T_ii - max_j T_ij) >= 1 (:class:`AMSE`)."""
    right = T.matrix.diagonal()
    wrong = (T.matrix - np.diag(right)).max(axis=1)
    # c may be the lower end of an interval: then the confusions may be as frequent as it says.
    gap = float(np.minimum(right - wrong, right * (1 - 1 / c)).min())
    loss, a = joint(margin / gap, len(T))
    return Advice(
        loss=loss,
        family="JAL-CE",
        clean_level=c,
        ratio=None,
        margin=a * gap,
        tolerates=(1 - 1 / a) * (len(T) - 1) / len(T),
        why=f"a is {a * gap:.3g} times the smallest that tolerates this noise",
    )


def _why(with_nce: bool, c: float, r: float, margin: float) -> str:
    if c == math.inf:
        kept = "the labels are clean, so it has almost no asymmetry and fits like cross entropy"
    elif r <= LOWEST * 1.2:
        kept = f"the noise is so slight (c = {c:.3g}) that almost no asymmetry is enough"
    elif c * r < margin * 0.999:
        kept = f"c = {c:.3g} requires nearly the largest possible asymmetry"
    else:
        kept = f"c*r = {c * r:.3g} keeps the margin of {margin:g} with the lowest r that does"
    return f"{kept}; NCE is added at the paper's weights" if with_nce else kept
