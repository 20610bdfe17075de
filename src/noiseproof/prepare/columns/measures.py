"""Middle and width of a column of numbers, far values and rounding considered."""

import numpy as np
from numpy.typing import NDArray

from noiseproof.prepare.forms import LARGEST

#: A column with values further out than this many inter-quartile ranges is squashed.
FAR = 20.0
#: 0.3 and 0.1 + 0.2 differ by rounding: by less than this part of them.
ROUNDING = 4 * float(np.finfo(np.float64).eps)
#: Values further from the mean than this many deviations are out of the range of the fit. Learners
#: clip dense rows there, and so are numbers clipped that stand beside the sparse words of a text.
FURTHEST = 10.0


def squashing(present: NDArray[np.float64]) -> tuple[float, float]:
    """Return the median of values, and by what to squash them; 0 where none is far out."""
    low, median, high = np.quantile(present, [0.25, 0.5, 0.75])
    furthest = float(np.abs(present - median).max())
    # Where the quartiles all but touch, quotients would be too large for a float.
    far = furthest > FAR * (high - low) > furthest / LARGEST
    return float(median), float(high - low) if far else 0.0


def squashed(values: NDArray[np.float64], median: float, spread: float) -> NDArray[np.float64]:
    """Return values whose far ones are drawn nearer; all as they are where none is far out."""
    return np.arcsinh((values - median) / spread) if spread else values


def measured(
    present: NDArray[np.float64], median: float, spread: float
) -> tuple[float, float, float, float]:
    """Return mean and deviation, squashed or not, and the ends of the range that is not far out.

    It reaches as far again as the values do, and as :data:`FURTHEST` deviations where none is far.
    """
    values = squashed(present, median, spread)
    mean, std = _mean(values), _deviation(values)
    least, most = present.min(), present.max()
    low, high = 2 * least - most, 2 * most - least
    if not spread:
        low, high = min(low, mean - FURTHEST * std), max(high, mean + FURTHEST * std)
    return mean, std, float(max(low, -LARGEST)), float(min(high, LARGEST))


def _mean(values: NDArray[np.float64]) -> float:
    """Return the mean; of equal large values, rounding would leave it beside all of them."""
    return float(np.clip(values.mean(), values.min(), values.max()))


def _deviation(values: NDArray[np.float64]) -> float:
    """Return the standard deviation, where the squares are too small for a float as well.

    Of values that differ by no more than rounding it is 1, not what is left of 0: divided by that,
    any other value would outweigh all other columns.
    """
    largest = float(np.abs(values).max())
    if np.ptp(values) <= ROUNDING * largest:
        return 1.0
    return float(values.std()) or largest * float((values / largest).std()) or 1.0
