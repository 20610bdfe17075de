"""What epochs can be, in a record or in a checkpoint: of the right types, and possible."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noiseproof.errors import DataError
from noiseproof.train.recipe import Recipe
from noiseproof.train.schedule import learning_rate

#: No number of a record is larger; NaN is in no range.
_MOST = 1e300
#: Three centuries, in seconds.
_CENTURIES = 1e10
#: Of a share or a learning rate, at most.
_ROUNDING = 1e-9

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


@dataclass(frozen=True)
class Run:
    """What decides which epochs a run can have.

    Args:
        recipe: how it is trained.
        train_samples: how many samples it is trained with.
        test_samples: how many it is tested with.
        noise_rate: the share of labels that are wrong.
    """

    recipe: Recipe
    train_samples: int
    test_samples: int
    noise_rate: float


def check_history(rows: Sequence[Mapping[str, Any]], run: Run, whole: bool) -> None:
    """Raise DataError for epochs that the run cannot have.

    Args:
        rows: epochs that :func:`check_epoch` accepted.
        run: what they are epochs of.
        whole: whether all of its epochs have to be there.
    """
    recipe = run.recipe
    # A run that held samples back is measured after its last epoch alone.
    expected = range(recipe.epochs if recipe.held_out else 1, recipe.epochs + 1)
    for place, (row, number) in enumerate(zip(rows, expected, strict=False), start=1):
        if row["number"] != number:
            raise DataError(f"epoch {place} is called {row['number']}")
    if len(rows) > len(expected) or (whole and len(rows) < len(expected)):
        raise DataError(f"{len(rows)} epochs of {recipe.epochs}")
    if rows and bool(recipe.held_out) != any(row.get("held_out") is not None for row in rows):
        raise DataError("a share of held-out labels, but none were held out, or the reverse")
    for row in rows:
        _check_rate(row, recipe)
        _check_shares(row, run)


def _check_rate(row: Mapping[str, Any], recipe: Recipe) -> None:
    rate = learning_rate(recipe, row["number"] - 1)
    # The cosine of the last epochs is small: other processors may round it otherwise.
    if not math.isclose(row["lr"], rate, rel_tol=_ROUNDING, abs_tol=_ROUNDING * recipe.lr):
        raise DataError(f"lr is {row['lr']} in epoch {row['number']}, and by the recipe {rate}")


def _check_shares(row: Mapping[str, Any], run: Run) -> None:
    """Raise DataError for shares of an epoch that no count of samples gives."""
    where = f" in epoch {row['number']}"
    check_count("test_accuracy", row["test_accuracy"], run.test_samples, where)
    check_count("held_out", row.get("held_out") or 0, run.recipe.held_out, where)
    right, wrong, recovered = (row[n] for n in ("clean_part", "corrupted_part", "recovered"))
    if (wrong is None) != (recovered is None) or (wrong is not None and not run.noise_rate):
        raise DataError(f"shares of wrong labels where there are none{where}, or the reverse")
    parts = [part for part in (right, wrong) if part is not None]
    mean = row["train_accuracy"]
    if (mean is None) != (not parts) or (
        parts and not min(parts) - _ROUNDING <= mean <= max(parts) + _ROUNDING
    ):
        raise DataError(f"train_accuracy is {mean}{where}, which is not between its parts")
    rest = run.train_samples % run.recipe.batch  # the last batch may be too small to train on
    if mean is not None:
        together = (1 - run.noise_rate) * (right or 0) + run.noise_rate * (wrong or 0)
        if abs(mean - together) > rest / run.train_samples + _ROUNDING:
            raise DataError(f"train_accuracy is {mean}{where}, and by its parts {together}")
    if (wrong or 0) + (recovered or 0) > 1 + _ROUNDING:
        raise DataError(f"corrupted_part and recovered are more than all{where}")


def check_count(name: str, share: float, samples: int, where: str = "") -> None:
    """Raise DataError for a share that no count of samples gives."""
    count = share * samples
    if abs(count - round(count)) > _ROUNDING * max(1, samples):
        raise DataError(f"{name} is {share}{where}, which is no share of {samples} samples")
