"""Results, durations and names in a few words."""

from collections import Counter
from collections.abc import Iterable

from noiseproof.results import Record


def result(record: Record) -> str:
    """Return the result of a record in a few words."""
    if record.accuracy is None:
        return f"failed, {record.failure}"
    return f"{record.accuracy:.2%} in {duration(record.seconds)}"


def duration(seconds: float) -> str:
    """Return a duration as people say it.

    >>> duration(12.3), duration(200), duration(8000), duration(200_000)
    ('12 s', '3 min', '2.2 h', '56 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36_000 else f"{seconds / 3600:.0f} h"


def count(number: int, what: str) -> str:
    """Return a number with its noun.

    >>> count(1, "cell"), count(1234, "cell")
    ('1 cell', '1,234 cells')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def doubled(names: Iterable[str]) -> str | None:
    """Return a name that comes twice; None where all are different.

    >>> doubled(["CE", "MAE", "CE"])
    'CE'
    """
    return next((name for name, number in Counter(names).items() if number > 1), None)
