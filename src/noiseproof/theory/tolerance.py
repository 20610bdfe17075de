"""Which noise a loss tolerates: the largest symmetric rate, and class by class."""

import math
from dataclasses import dataclass

import numpy as np

from noiseproof.errors import TheoryError
from noiseproof.losses import Loss
from noiseproof.noise import TransitionMatrix
from noiseproof.noise.matrix import ratio as quotient
from noiseproof.theory.conditions import is_asymmetric, is_symmetric
from noiseproof.theory.mass import pointwise_ratio
from noiseproof.theory.options import class_weights, effective, without_options
from noiseproof.theory.ratio import split
from noiseproof.theory.surroundings import undisturbed

_BISECTIONS = 10
# Minimising the risk of a row takes a tenth of a second; rows beyond these are left undecided.
_MEASURED = 24


@dataclass(frozen=True)
class ClassMargin:
    """How a loss stands against the noise of one class.

    Attributes:
        index: the class i.
        name: its name, or number.
        confusion: the name of the class j it is most often labelled as; None where never.
        clean_level: c_i = T_ii / T_ij, each as the class weights and the label smoothing of the
            loss weigh it; infinite where nothing flips.
        margin: c_i * r; None where r is not known.
        tolerated: whether the loss is asymmetric on row i; None where that was not decided.
    """

    index: int
    name: str
    confusion: str | None
    clean_level: float
    margin: float | None
    tolerated: bool | None

    @property
    def dominant(self) -> bool:
        """Whether the clean label is the most frequent: if not, no loss can help."""
        return self.clean_level > 1


def symmetric_rate(ratio: float, classes: int) -> float:
    """Return the largest rate e with c = (1 - e)(K - 1) / e >= 1 / r (Theorem 6).

    >>> round(symmetric_rate(0.6755, classes=10), 3)
    0.859
    """
    return (classes - 1) * ratio / (1 + (classes - 1) * ratio)


def symmetric_rate_of(loss: Loss, ratio: float, classes: int) -> float:
    """Return the largest symmetric rate on which the options of ``loss`` leave it c * r >= 1.

    The hardest class is that of the least class weight, against that of the largest: their ratio
    lowers r. Smoothing by s is symmetric noise of rate s (K - 1) / K on top.
    """
    v, s = class_weights(loss, classes), loss.label_smoothing
    if s == 1 or v.max() == 0:
        return 0.0
    ratio *= float(v.min() / v.max())
    bound = symmetric_rate(ratio, classes)
    # (1 - s) e + s (K - 1) / K = bound, where the bound is below (K - 1) / K
    return min(bound, max(0.0, (bound - s * (classes - 1) / classes) / (1 - s)))


def largest_symmetric_rate(loss: Loss, classes: int, completely: bool) -> float:
    """Return the largest symmetric noise rate on which ``loss`` is asymmetric.

    By the asymmetry ratio of its pointwise terms, since on symmetric noise a symmetric term that
    is asymmetric at all is so whatever the rate below (K-1)/K; for other losses by bisection, to
    1e-3, for a class of each class weight (for 24 of them where there are more).

    Args:
        loss: any loss, with its options.
        classes: K.
        completely: whether its formula is completely asymmetric.
    """
    if completely:
        return symmetric_rate_of(loss, 1.0, classes)
    others, pointwise = split(without_options(loss))
    even = np.full(classes, 1.0)
    even[0] = 2.0
    weighed = class_weights(loss, classes)
    try:
        if (not others or np.ptp(weighed) == 0) and all(
            is_symmetric(term, classes) and is_asymmetric(term, even) for term in others
        ):
            ratio = pointwise_ratio(pointwise) if pointwise else 1.0
            return symmetric_rate_of(loss, ratio, classes)
    except TheoryError:  # a pointwise loss that does not decrease
        pass
    rate = (classes - 1) / classes
    # Which class is the hardest depends on the loss: NGCE fails where the others are not alike.
    _, one_of_each = np.unique(weighed, return_index=True)
    some = np.linspace(0, len(one_of_each) - 1, min(len(one_of_each), _MEASURED))
    for i in one_of_each[some.astype(int)]:
        if i == one_of_each[0] or not _is_asymmetric_at(rate, loss, int(i), classes):
            rate = _largest_rate(loss, int(i), classes, rate)
    return rate


def _largest_rate(loss: Loss, i: int, classes: int, high: float) -> float:
    """Return the largest symmetric rate below ``high`` on which class i is learnt."""
    low = 0.0
    for _ in range(_BISECTIONS):
        rate = (low + high) / 2
        low, high = (rate, high) if _is_asymmetric_at(rate, loss, i, classes) else (low, rate)
    return low


def _is_asymmetric_at(rate: float, loss: Loss, i: int, classes: int) -> bool:
    weights = np.full(classes, rate / (classes - 1))
    weights[i] = 1 - rate
    return is_asymmetric(loss, weights)


@undisturbed()
def margins(loss: Loss, ratio: float | None, T: TransitionMatrix) -> tuple[ClassMargin, ...]:
    """Hold ``loss`` against every row of ``T``, as its options weigh the labels.

    Where c_i * r >= 1, Theorem 6 decides. Elsewhere the bound may not be sharp (a sum, a loss
    that is not pointwise), and the risk of the row is minimised.
    """
    decided: dict[tuple[float, ...], bool] = {}
    weighed, formula = effective(loss, np.asarray(T.matrix)), without_options(loss)
    rows = []
    for i in range(len(weighed)):
        others = np.where(np.arange(len(weighed)) == i, 0.0, weighed[i])
        j = int(others.argmax()) if others.max() > 0 else None
        level = float(quotient(weighed[i, i], others.max()))
        # Where nothing flips the vertex minimises any loss, one with r = 0 too.
        margin = math.inf if math.isinf(level) else None if ratio is None else level * ratio
        tolerated: bool | None = level > 1
        if tolerated and not (margin is not None and margin >= 1 - 1e-12):
            tolerated = _is_asymmetric_on(formula, weighed[i], i, decided)
        rows.append(
            ClassMargin(i, T.name(i), None if j is None else T.name(j), level, margin, tolerated)
        )
    return tuple(rows)


def _is_asymmetric_on(
    formula: Loss, weighed: np.ndarray, i: int, decided: dict[tuple[float, ...], bool]
) -> bool | None:
    # Which wrong class has which weight makes no difference to a loss.
    others = np.delete(weighed, i)
    key = (round(float(weighed[i]), 12), *sorted(round(float(w), 12) for w in others))
    if key not in decided:
        if len(decided) >= _MEASURED:
            return None
        decided[key] = is_asymmetric(formula, weighed)
    return decided[key]
