"""The audit of a loss: every property, the noise it tolerates, and a verdict in words."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from noiseproof.errors import TheoryError
from noiseproof.losses import Loss, expression
from noiseproof.noise import Noise, TransitionMatrix, parse
from noiseproof.theory.calibration import calibration
from noiseproof.theory.conditions import (
    at_least_two,
    is_bounded,
    is_completely_asymmetric,
    is_symmetric,
    sees_labels,
)
from noiseproof.theory.excess_risk import excess_risk_constant
from noiseproof.theory.interval import as_loss, check_alike, is_pointwise
from noiseproof.theory.options import without_options
from noiseproof.theory.ratio import asymmetry_ratio
from noiseproof.theory.statement import table, verdict
from noiseproof.theory.surroundings import undisturbed
from noiseproof.theory.tolerance import ClassMargin, largest_symmetric_rate, margins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Audit:
    """What is known of a loss; ``None`` is what cannot be said of it. Print it for a table.

    Attributes:
        text: the loss as text.
        classes: K.
        sees_labels: whether L(u, i) differs between the labels i; if not, nothing can be learnt
            from it, whatever the noise, and it is not said to tolerate any.
        pointwise: whether L(u, i) = l(u_i).
        symmetric: whether sum_k L(u, k) is constant.
        bounded: whether L stays finite as probabilities go to 0.
        ratio: the asymmetry ratio r; for sums with terms such as NCE, a bound (Theorem 5).
        strict_ratio: r with any part of the mass moved, as Definition 3 is printed.
        completely_asymmetric: whether it is asymmetric on all weights with one largest.
        calibrated: whether H- > H for all eta != 1/2, in the binary case.
        excess_risk_constant: 2 / (l(0) - l(1)); a bound where completely asymmetric (Theorem 2).
        max_symmetric_rate: the largest symmetric noise rate tolerated, (K-1) r / (1 + (K-1) r);
            (K-1)/K itself is not. Measured to 1e-3 where r is not known. Where the slope of l is
            not least at u = 1 and largest at u = 0, as with some sums, there may be more.
        noise: the noise as text, or what its matrix says of itself.
        clean_level: c, the least over classes, as the options below weigh the labels.
        class_weights: the loss's own. They make the noise seem worse for light classes: with a
            weight of 20 on one class, its labels outvote any that is less than 20 times as clean.
        label_smoothing: the loss's own: s of it acts as symmetric noise of rate s (K - 1) / K.
        margin: c * r; at 1 and above Theorem 6 proves the loss asymmetric on the noise.
        margins: the same class by class.
        tolerant: whether the loss is asymmetric on every row of the noise.
        loss: the loss itself.
    """

    text: str
    classes: int
    sees_labels: bool
    pointwise: bool
    symmetric: bool
    bounded: bool
    ratio: float | None
    strict_ratio: float | None
    completely_asymmetric: bool
    calibrated: bool | None
    excess_risk_constant: float | None
    max_symmetric_rate: float
    noise: str | None
    clean_level: float | None
    class_weights: tuple[float, ...] | None
    label_smoothing: float
    margin: float | None
    margins: tuple[ClassMargin, ...]
    tolerant: bool | None
    loss: Loss = field(repr=False, compare=False)

    @property
    def failing(self) -> tuple[ClassMargin, ...]:
        """The classes on whose noise the loss is not, or not known to be, asymmetric."""
        return tuple(m for m in self.margins if not m.tolerated)

    @property
    def verdict(self) -> str:
        """What it comes to, in words."""
        return verdict(self)

    def __str__(self) -> str:
        return table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the values and the verdict for JSON: infinity is "inf", the unknown ``None``."""
        names = [f.name for f in dataclasses.fields(self) if f.name != "loss"]
        plain = {name: getattr(self, name) for name in names}
        plain["margins"] = [dataclasses.asdict(m) for m in self.margins]
        plain["failing"] = [m.name for m in self.failing]
        return {name: _finite(value) for name, value in plain.items()} | {"verdict": self.verdict}

    def plot(self) -> "Figure":
        """Draw the loss, its slope, H and H-, and the margins."""
        from noiseproof.theory.picture import draw

        return draw(self)


@undisturbed()
def audit(
    loss: Loss | str,
    classes: int | None = None,
    noise: TransitionMatrix | Noise | str | None = None,
) -> Audit:
    """Ask of a loss everything the theory can answer.

    The properties are those of the formula; the noise tolerated, the clean levels and the margins
    account for the class weights and the label smoothing of the loss as well.

    Args:
        loss: any loss that treats all classes alike, a user's too, or its text.
        classes: K; by default that of the noise, else 10.
        noise: a transition matrix, or text such as ``"symmetric:0.8"``.

    Example:
        >>> print(audit("AGCE(a=0.6, q=0.6)", classes=10).verdict)
        tolerates symmetric noise up to 0.859 with 10 classes; not completely asymmetric;
        calibrated where the bound holds
        >>> print(audit("AEL(a=2.5)", noise="pair-flip:0.45", classes=3))
        loss                                    AEL(a=2.5)
        classes                                 3
        pointwise                               yes
        symmetric                               no
        bounded                                 yes
        asymmetry ratio r                       0.6703
        completely asymmetric                   no
        calibrated in the binary case           yes
        excess-risk constant 2 / (l(0) - l(1))  6.066
        largest symmetric noise rate            0.573
        noise                                   pair-flip:0.45
        clean level c                           1.222
        margin c*r                              0.8193
          class 0 as 1                          0.8193, fails
          class 1 as 2                          0.8193, fails
          class 2 as 0                          0.8193, fails
        tolerates symmetric noise up to 0.573 with 3 classes; not completely asymmetric;
        calibrated where the bound holds; does not tolerate this noise: class 0 labelled 1 fails
        (c*r = 0.8193), and 2 other classes

    Reference:
        Theorems 1 to 8.
    """
    loss = expression.as_loss(loss)
    if classes is None and noise is None and loss.weight is not None:
        classes = len(loss.weight)
    T, noise_text, K = _noise(noise, classes)
    loss = as_loss(loss, K)
    check_alike(loss, K)
    formula = without_options(loss)
    pointwise = is_pointwise(formula)
    sees = sees_labels(formula, K)
    ratio = _or_none(asymmetry_ratio, formula) if sees else None
    completely = sees and is_completely_asymmetric(formula, K)
    rows = margins(loss, ratio, T) if T is not None else ()
    if not sees:
        rows = tuple(dataclasses.replace(m, margin=None, tolerated=False) for m in rows)
    tolerated = [m.tolerated for m in rows]
    tolerant = False if False in tolerated else None if None in tolerated else True
    return Audit(
        text=str(loss),
        classes=K,
        sees_labels=sees,
        pointwise=pointwise,
        symmetric=is_symmetric(formula, K),
        bounded=is_bounded(formula, K),
        ratio=ratio,
        strict_ratio=_or_none(lambda loss: asymmetry_ratio(loss, strict=True), formula),
        completely_asymmetric=completely,
        calibrated=calibration(formula).calibrated if pointwise else None,
        excess_risk_constant=excess_risk_constant(formula) if pointwise else None,
        max_symmetric_rate=largest_symmetric_rate(loss, K, completely) if sees else 0.0,
        noise=noise_text,
        clean_level=min((m.clean_level for m in rows), default=None),
        class_weights=None if loss.weight is None else tuple(loss.weight.tolist()),
        label_smoothing=loss.label_smoothing,
        margin=_least([m.margin for m in rows]),
        margins=rows,
        tolerant=tolerant if rows else None,
        loss=loss,
    )


def _noise(
    noise: TransitionMatrix | Noise | str | None, classes: int | None
) -> tuple[TransitionMatrix | None, str | None, int]:
    if noise is None:
        return None, None, at_least_two(10 if classes is None else classes)
    if isinstance(noise, str):
        own = noise.startswith("matrix:")  # says itself how many classes it has
        K = None if own and classes is None else at_least_two(10 if classes is None else classes)
        noise = parse(noise, classes=K)
    if not isinstance(noise, (TransitionMatrix, Noise)):
        raise TheoryError(
            "expected `noise` as a noise.TransitionMatrix or text such as 'symmetric:0.4', got "
            f"{type(noise).__name__}"
        )
    T = noise if isinstance(noise, TransitionMatrix) else noise.transition
    if T is None:
        raise TheoryError(f"noise {noise} has no transition matrix to hold a loss against")
    if classes is not None and at_least_two(classes) != len(T):
        raise TheoryError(f"noise of {len(T)} classes, but `classes` is {classes}")
    return T, repr(noise) if noise is T else str(noise), len(T)


def _least(margins: list[float | None]) -> float | None:
    known = [m for m in margins if m is not None]
    return min(known) if known and len(known) == len(margins) else None


def _or_none(question: Any, loss: Loss) -> float | None:
    try:
        return float(question(loss))
    except TheoryError:
        return None


def _finite(x: Any) -> Any:
    if isinstance(x, dict):
        return {key: _finite(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_finite(value) for value in x]
    return str(x) if isinstance(x, float) and not math.isfinite(x) else x
