"""Symmetric, asymmetric, completely asymmetric: the definitions, for any loss."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from noiseproof.errors import TheoryError
from noiseproof.losses import AMSE, Loss, Normalized, WeightedSum
from noiseproof.losses.parameter import is_whole
from noiseproof.theory.interval import (
    ZERO,
    as_loss,
    check_alike,
    check_decreasing,
    ends,
    is_pointwise,
    losses_at,
)
from noiseproof.theory.mass import pointwise_ratio
from noiseproof.theory.options import without_options
from noiseproof.theory.risk import RiskSearch, Weights, as_weights
from noiseproof.theory.simplex import at_vertex, log_softmax
from noiseproof.theory.surroundings import undisturbed

# How near to a tie the weights come on which complete asymmetry is tried.
_TIE = 1e-6
#: More classes would take hours, or more memory than there is.
MOST_CLASSES = 100_000


@undisturbed()
def is_symmetric(loss: Loss | str, classes: int = 10) -> bool:
    """Return whether sum_k L(u, k) is the same for every u, by trying many, extreme ones too.

    Args:
        loss: any loss or its text.
        classes: K; with 2, more losses are symmetric than with 3.

    Example:
        >>> is_symmetric("MAE"), is_symmetric("NCE"), is_symmetric("SCE(alpha=1, beta=1)")
        (True, True, False)
    """
    K = at_least_two(classes)
    losses = _at_many(as_loss(loss, K), K)
    total, size = losses.sum(-1), losses.abs().sum(-1)
    return bool((total - total[0]).abs().max() <= 1e-9 * size.min())


def sees_labels(loss: Loss, classes: int) -> bool:
    """Return whether the loss depends on the label at all."""
    losses = _at_many(loss, classes)
    return not torch.allclose(losses, losses[:, :1].expand_as(losses), rtol=1e-13, atol=0)


def _at_many(loss: Loss, classes: int) -> Tensor:
    """Return L(u, k) for every k, at many u, extreme ones too."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(400, classes, generator=generator, dtype=torch.float64)
    z = z * torch.logspace(-1, 2.5, 400, dtype=torch.float64)[:, None]
    return losses_at(loss, log_softmax(z))


@undisturbed()
def is_asymmetric(loss: Loss | str, weights: Weights) -> bool:
    """Return whether sum_i w_i L(u, i) is least at the vertex e_m of the largest weight.

    "Least" means that the vertex attains the infimum: this is what Theorems 3 and 5 need and give.
    Whether it is alone to do so is ``minimise_risk(loss, weights).unique``. The two differ:
    the values of NCE are not negative and have the sum 1, so its risk is never below the least
    weight w_n; the vertex has this risk where u_n vanishes fastest on the way there, but so
    has every other u with u_n -> 0. NCE added to a pointwise loss has one minimum again.

    Args:
        loss: any loss or its text.
        weights: (K,) not negative, with one largest.

    Example:
        >>> is_asymmetric("AEL(a=2.5)", [0.6, 0.39, 0.01])  # 1 / r = exp(1 / 2.5) = 1.49
        True
        >>> is_asymmetric("AEL(a=2.5)", [0.6, 0.41, 0.01])
        False

    Reference:
        Definition 2.
    """
    checked = as_weights(weights)
    search = RiskSearch(as_loss(loss, len(checked)), checked)
    if search.m == int(search.weights.argmax()) and _is_proved_on(search.loss, search.weights):
        return True
    search.look_around()
    if search.attained:
        search.descend()
    return search.attained


def _is_proved_on(loss: Loss, weights: Tensor) -> bool:
    """Whether the loss has a condition in closed form that ``weights`` meet (AMSE, and JAL)."""
    if isinstance(loss, WeightedSum):  # Theorem 5
        terms = loss.losses
        return any(isinstance(term, AMSE) for term in terms) and all(
            _is_proved_on(term, weights) or _is_proved(term, len(weights)) for term in terms
        )
    if not isinstance(loss, AMSE) or type(loss).from_row is not AMSE.from_row:
        return False
    return loss.asymmetric_on(weights.tolist())


@undisturbed()
def is_completely_asymmetric(loss: Loss | str, classes: int = 10) -> bool:
    """Return whether the formula of ``loss`` is asymmetric on all weights with one largest.

    A pointwise loss is, if its asymmetry ratio is 1 (Theorem 6); a normalised loss of an unbounded
    l, by the argument of :func:`is_asymmetric`; a sum, if its terms are (Theorem 5). Anything else
    is tried on weights that nearly tie, where it is hardest.

    Being symmetric is not enough, whatever Theorem 3 says: its proof takes the largest sum of
    the losses of the wrong classes for the largest weighted sum, which holds where no L(u, i)
    exceeds its value at the other vertices, C / (K - 1). MAE and RCE keep to that. NGCE does not,
    and its risk for w = (1.01, 1, 0) is lower at (1/2, 1/2, 0) than at the vertex. On symmetric
    noise, all w_i but one alike, a symmetric loss is asymmetric if L(u, i) is least at e_i.

    Args:
        loss: any loss or its text.
        classes: K.

    Example:
        >>> is_completely_asymmetric("AGCE(a=6, q=1.5)"), is_completely_asymmetric("AEL(a=2.5)")
        (True, False)
        >>> is_completely_asymmetric("NCE"), is_completely_asymmetric("NGCE(q=0.7)")
        (True, False)

    Reference:
        Definition 2, Theorems 3, 5 and 6.
    """
    K = at_least_two(classes)
    loss = without_options(as_loss(loss, K))
    check_alike(loss, K)
    if is_pointwise(loss):
        try:
            check_decreasing(loss)
        except TheoryError:
            return False  # the definition is one of losses, which decrease in u
    if _is_proved(loss, K):
        return True
    searches = [RiskSearch(loss, w) for w in _nearly_tied(K)]
    for search in searches:
        search.look_around()
        if not search.attained:
            return False
    for search in searches:
        search.descend()
        if not search.attained:
            return False
    return True


def _is_proved(loss: Loss, K: int) -> bool:
    if is_pointwise(loss):
        try:
            return pointwise_ratio(loss) >= 1
        except TheoryError:
            return False
    if isinstance(loss, WeightedSum):
        return all(is_completely_asymmetric(term, K) for term in loss.losses)
    if isinstance(loss, Normalized) and is_pointwise(loss.base) and is_symmetric(loss, K):
        return ends(loss.base)[0] == math.inf
    return False


def _nearly_tied(K: int) -> Iterator[Tensor]:
    """Yield weights with a largest one, others just below it, and the rest nothing or at random."""
    generator = torch.Generator().manual_seed(2)
    for tied in sorted({2, 3, 5, K // 2, K - 1, K} & set(range(2, K + 1))):
        w = torch.zeros(K, dtype=torch.float64)
        w[:tied] = 1 - _TIE
        w[0] = 1
        yield w
    w = torch.rand(K, generator=generator, dtype=torch.float64)
    w[:2] = torch.tensor([1, 1 - _TIE])
    yield w


def is_bounded(loss: Loss, classes: int) -> bool:
    """Return whether L stays finite as probabilities go to 0; as declared where it is no number."""
    if is_pointwise(loss):
        return math.isfinite(ends(loss)[0])
    even = torch.ones(classes, dtype=torch.float64)
    rows = [at_vertex(0, even, zero) for zero in (ZERO, -1e30)]
    far, near = (float(losses_at(loss, log_p).abs().max()) for log_p in rows)
    return loss.bounded if math.isnan(far) or math.isnan(near) else far <= near * (1 + 1e-6)


def at_least_two(classes: int) -> int:
    """Return the number of classes, or say that it is none."""
    if not is_whole(classes) or classes < 2:
        raise TheoryError(f"expected `classes` >= 2, got {classes!r}")
    if classes > MOST_CLASSES:
        raise TheoryError(f"expected at most {MOST_CLASSES:,} classes, got {classes:,}")
    return int(classes)
