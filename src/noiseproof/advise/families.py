"""The families of asymmetric losses, each ordered from mild to strict by its ratio r."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from noiseproof.losses import AEL, AGCE, AMSE, AUL, NCE, NNCE, Loss

Make = Callable[[float], Loss]

#: No noise needs a lower ratio; below it, the losses behave like cross entropy.
LOWEST = 0.05
#: Ratios above this become r = 1, which AEL cannot reach.
HIGHEST = 0.98
#: With more classes than this, use the paper's weights for CIFAR-100, otherwise for CIFAR-10.
MANY = 50


@dataclass(frozen=True)
class Family:
    """Losses that differ only in their asymmetry ratio.

    Args:
        name: the name in the paper's tables.
        at: returns the loss of ratio r, LOWEST <= r <= 1.
        with_nce: whether NCE is added, which keeps the ratio (Theorem 5).
    """

    name: str
    at: Make
    with_nce: bool = False

    def loss(self, ratio: float, classes: int) -> Loss:
        """Return the member with this ratio, or the nearest one.

        >>> print(families()[0].loss(0.5, classes=10))
        AGCE(a=0.215, q=0.6)
        """
        term = self.at(min(1.0, max(LOWEST, ratio)))
        if not self.with_nce:
            return term
        return 10 * NCE() + 0.1 * term if classes > MANY else NCE() + 4 * term


def agce(ratio: float) -> Loss:
    """AGCE with q = 0.6 as in the paper's CIFAR-10 row; q = 1, which is MAE, for r = 1."""
    if ratio > HIGHEST:
        return AGCE(a=1, q=1)
    return AGCE(a=_up(_odds(ratio ** (1 / 0.4))), q=0.6)


def aul(ratio: float) -> Loss:
    """AUL with p = 2, divided by a so that its slope is near 1; p = 1, which is MAE, for r = 1."""
    if ratio > HIGHEST:
        return AUL(a=2, p=1)
    a = float(f"{1 + _up(_odds(ratio)):.10g}")  # 1 / (1 - r), without rounding errors of the sum
    return _scaled(AUL(a=a, p=2), 1 / a)


def ael(ratio: float) -> Loss:
    """AEL times a, so that its slope is near 1; it approaches r = 1 but does not reach it."""
    a = _up(-1 / math.log(min(ratio, HIGHEST)))
    return _scaled(AEL(a=a), a)


def families() -> tuple[Family, ...]:
    """Return the six families, in the order of the paper's tables."""
    single = (Family("AGCE", agce), Family("AUL", aul), Family("AEL", ael))
    return (*single, *(Family(f"NCE+{f.name}", f.at, with_nce=True) for f in single))


def active_negative(classes: int) -> Loss:
    """Return ANL-CE, with the weights its authors use for CIFAR-10 or CIFAR-100.

    Both terms are symmetric, so r = 1 whatever the weights, and yet it fits.

    >>> print(active_negative(classes=10))
    5*NCE + 5*NNCE(p_min=1e-07)
    """
    return 10 * NCE() + NNCE() if classes > MANY else 5 * NCE() + 5 * NNCE()


def joint(a: float, classes: int) -> tuple[Loss, float]:
    """Return JAL-CE, with the weights its authors use for CIFAR-10 or CIFAR-100, and its a.

    >>> print(*joint(18, classes=10))
    NCE + AMSE(a=18) 18.0
    """
    a = max(1.01, _up(a))  # AMSE is not asymmetric for a = 1
    return (5 if classes > MANY else 1) * NCE() + AMSE(a=a), a


def _scaled(loss: AUL | AEL, factor: float) -> Loss:
    # With a large a, the slopes of the plain loss do not suit usual learning rates.
    return float(f"{factor:.3g}") * loss if loss.a > 2 else loss


def _odds(share: float) -> float:
    return share / (1 - share)


def _up(value: float) -> float:
    """Round up to three digits; every family's ratio grows with a, so the margin is kept."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.3g}")
