"""What a run gives back: a row an epoch, the last of them the result."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Epoch:
    """What was measured of one epoch. Accuracies are shares, 0 to 1.

    Those of the training set are of the predictions made while training, each before the step it
    was made for: they cost nothing, and no sample was seen more often than another. None stands
    where there is no such sample.

    Args:
        number: the epoch, from 1.
        lr: its learning rate.
        loss: the mean training loss.
        train_accuracy: agreement with the labels given, right or wrong.
        clean_part: the same on samples whose label is right.
        corrupted_part: the same on samples whose label is wrong: what was memorised.
        recovered: on samples whose label is wrong, agreement with the true one.
        test_accuracy: on the test set, after the epoch.
        seconds: of training and testing.
        held_out: agreement with the noisy labels that were held back, where any were.
    """

    number: int
    lr: float
    loss: float
    train_accuracy: float | None
    clean_part: float | None
    corrupted_part: float | None
    recovered: float | None
    test_accuracy: float
    seconds: float
    held_out: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        values = dict(vars(self))
        if self.held_out is None:
            del values["held_out"]
        return values


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Args:
        history: the epochs, in order.
        failure: one line where it failed, empty where it did not.
    """

    history: tuple[Epoch, ...]
    failure: str = ""

    @property
    def status(self) -> str:
        """``"done"`` or ``"failed"``."""
        return "failed" if self.failure else "done"

    @property
    def last(self) -> Epoch | None:
        """The last epoch: its test accuracy is the result."""
        return self.history[-1] if self.history else None

    @property
    def best(self) -> Epoch | None:
        """The first epoch of the highest test accuracy: for the curious, never the result."""
        return max(self.history, key=lambda row: row.test_accuracy, default=None)

    @property
    def seconds(self) -> float:
        """The time all epochs took."""
        return sum(row.seconds for row in self.history)


def shares(predicted: Tensor, given: Tensor, true: Tensor, seen: Tensor) -> dict[str, float | None]:
    """Return the accuracies of an epoch's predictions on the training set.

    Args:
        predicted: (N,) classes.
        given: (N,) labels trained with.
        true: (N,) labels.
        seen: (N,) bool, which samples the epoch had.

    >>> from torch import tensor as y
    >>> found = shares(y([0, 1, 1, 0]), y([0, 1, 1, 1]), y([0, 1, 0, 0]), y([True] * 4))
    >>> found["train_accuracy"], found["corrupted_part"], found["recovered"]
    (0.75, 0.5, 0.5)
    """
    changed, agreed = given != true, predicted == given
    return {
        "train_accuracy": _mean(agreed, seen),
        "clean_part": _mean(agreed, seen & ~changed),
        "corrupted_part": _mean(agreed, seen & changed),
        "recovered": _mean(predicted == true, seen & changed),
    }


def _mean(hits: Tensor, among: Tensor) -> float | None:
    count = int(among.sum())
    return int((hits & among).sum()) / count if count else None
