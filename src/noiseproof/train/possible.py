"""What an epoch can be, in a record or in a checkpoint: of the right types, and possible."""

from collections.abc import Callable, Mapping
from typing import Any

from noiseproof.errors import DataError

#: No number of a record is larger; NaN is in no range.
_MOST = 1e300
#: Three centuries, in seconds.
_CENTURIES = 1e10

Checks = Mapping[str, Callable[[Any], bool]]


def is_number(value: Any) -> bool:
    """Return whether this is a number that JSON can hold."""
    return type(value) in (int, float) and -_MOST <= value <= _MOST


def is_count(value: Any) -> bool:
    """Return whether this is a whole number from 0."""
    return type(value) is int and 0 <= value <= _MOST


def is_positive(value: Any) -> bool:
    """Return whether this is a whole number from 1."""
    return is_count(value) and value >= 1


def is_amount(value: Any) -> bool:
    """Return whether this is a number from 0."""
    return is_number(value) and value >= 0


def is_time(value: Any) -> bool:
    """Return whether this is a possible time in seconds."""
    return is_number(value) and 0 <= value < _CENTURIES


def is_share(value: Any) -> bool:
    """Return whether this is a number from 0 to 1."""
    return is_number(value) and 0 <= value <= 1


def is_share_or_none(value: Any) -> bool:
    """Return whether this is a share, or nothing."""
    return value is None or is_share(value)


_EPOCH: Checks = {
    "number": is_positive,
    "lr": is_amount,
    "loss": is_number,
    "train_accuracy": is_share_or_none,
    "clean_part": is_share_or_none,
    "corrupted_part": is_share_or_none,
    "recovered": is_share_or_none,
    "test_accuracy": is_share,
    "seconds": is_time,
}


def check_epoch(row: Any, number: int) -> None:
    """Raise DataError for an epoch with a field that is missing, of another type or impossible.

    Args:
        row: the epoch as plain values.
        number: its place among the epochs, from 1.
    """
    if not isinstance(row, dict):
        raise DataError(f"epoch {number} is no table of numbers")
    check_fields(row, _EPOCH, f" in epoch {number}")
    if not is_share_or_none(row.get("held_out")):
        raise DataError(f"held_out is {short(row['held_out'])} in epoch {number}")


def check_fields(values: Mapping[str, Any], checks: Checks, where: str = "") -> None:
    """Raise DataError for a field that is missing, or for which its check does not hold."""
    for name, holds in checks.items():
        if name not in values:
            raise DataError(f"no {name}{where}")
        if not holds(values[name]):
            raise DataError(f"{name} is {short(values[name])}{where}")


def short(value: Any) -> str:
    """Return a value for a message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
