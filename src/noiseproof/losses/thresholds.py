"""What the corollaries ask of a loss, given how clean the labels are."""

from noiseproof.errors import ParameterError
from noiseproof.losses.parameter import as_number


def ratio_needed(clean_level: float) -> float:
    """Return the asymmetry ratio r with clean_level * r = 1 (Theorem 6); 0 for clean labels."""
    clean_level = as_number("clean_level", clean_level)
    if not clean_level > 1:
        raise ParameterError(
            f"expected `clean_level` > 1, got {clean_level:g}: at 1 or below, a wrong label is as "
            "likely as the right one and no loss can tell them apart"
        )
    return 1 / clean_level
