"""The seeds of one cell as the paper prints them: mean and standard deviation."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """The results of the seeds of one cell.

    Args:
        values: one per seed, at least one.

    >>> print(Summary((0.9, 0.92, 0.91)))
    91.00 ± 0.82
    >>> print(Summary((0.9,)))
    90.00
    """

    values: tuple[float, ...]

    @property
    def count(self) -> int:
        """How many seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean."""
        return statistics.fmean(self.values)

    @property
    def std(self) -> float | None:
        """The standard deviation of the population, numpy's default; None for one value.

        The paper does not say which it prints.
        """
        return statistics.pstdev(self.values) if self.count > 1 else None

    def __str__(self) -> str:
        """Write it in per cent."""
        spread = "" if self.std is None else f" ± {100 * self.std:.2f}"
        return f"{100 * self.mean:.2f}{spread}"
