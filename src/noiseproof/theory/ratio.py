"""The asymmetry ratio of any loss that has one: in closed form, measured, or bounded."""

from noiseproof.errors import TheoryError
from noiseproof.losses import Loss, Pointwise, WeightedSum
from noiseproof.losses.combine import weighted_sum
from noiseproof.losses.parameter import check_flag
from noiseproof.theory.conditions import is_completely_asymmetric, is_symmetric
from noiseproof.theory.interval import as_loss, as_pointwise, is_pointwise
from noiseproof.theory.mass import pointwise_ratio
from noiseproof.theory.surroundings import undisturbed


@undisturbed()
def asymmetry_ratio(loss: Loss | str, strict: bool = False) -> float:
    """Return r: the loss is asymmetric wherever w_m / w_n >= 1 / r (Theorem 6).

    For a pointwise loss r is the infimum over u1 + u2 <= 1 of

        (l(u1) - l(u1 + u2)) / (l(0) - l(u2)),

    the whole mass u2 moved from one class to another, as the corollaries have it. Definition 3
    as printed moves any part of it, and is smaller for concave losses: ``strict=True``. Either is
    the loss's own closed form where it has one, else
    :func:`~noiseproof.theory.numeric_asymmetry_ratio`.

    Of the others, a loss that is completely asymmetric for 10 classes, such as NCE, has r = 1, and
    so does not lower that of a sum: for "NCE + AGCE(a=1, q=0.5)" r is that of the pointwise
    terms. Theorem 5 makes it sufficient there, not necessary.

    Args:
        loss: a loss or its text.
        strict: move any part of the mass; for pointwise losses alone.

    Example:
        >>> concave = "AGCE(a=1.8, q=3)"
        >>> asymmetry_ratio(concave), round(asymmetry_ratio(concave, strict=True), 3)
        (1.0, 0.413)
        >>> asymmetry_ratio("NCE + 2*AUL(a=2, p=2)")
        0.5

    Reference:
        Definition 3, Theorems 5 and 6.
    """
    loss = as_loss(loss)
    if check_flag("strict", strict):
        return pointwise_ratio(as_pointwise(loss, "the strict asymmetry ratio"), strict)
    terms, pointwise = split(loss)
    for term in terms:
        if not is_completely_asymmetric(term):
            kind = (
                "symmetric, but not on all weights asymmetric"
                if is_symmetric(term)
                else "not pointwise"
            )
            raise TheoryError(f"no asymmetry ratio: {term} is {kind}; ask is_asymmetric")
    return 1.0 if pointwise is None else pointwise_ratio(pointwise)


def split(loss: Loss) -> tuple[list[Loss], Pointwise | None]:
    """Return the terms of ``loss`` that are not pointwise, and the sum of those that are."""
    if is_pointwise(loss):
        return [], loss
    if not isinstance(loss, WeightedSum):
        return [loss], None
    pairs = list(zip(loss.factors, loss.losses, strict=True))
    others = [term for _, term in pairs if not is_pointwise(term)]
    rest = [(factor, term) for factor, term in pairs if is_pointwise(term)]
    whole = weighted_sum(rest) if rest else None
    return others, whole if isinstance(whole, Pointwise) else None
