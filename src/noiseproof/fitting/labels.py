"""The labels to learn from: as given, as a crowd agrees, or as a review decided."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noiseproof.fitting.crowd_result import Crowd
from noiseproof.fitting.reviewed import Reviewed, match
from noiseproof.fitting.rows import Rows
from noiseproof.prepare.classes import Codes


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known about the label of each row.

    Args:
        codes: (N,) the labels.
        trusted: (rows, labels) that a person has checked; None without any.
        crowd: what several answers a row say; None if rows had one label each.
        reviewed: what was decided in a review; None without one.
    """

    codes: Codes
    trusted: Any = None
    crowd: Crowd | None = None
    reviewed: Reviewed | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The soft labels and the judge of :func:`~noiseproof.learn.learn.learn`."""
        return {} if self.crowd is None else {"soft": self.crowd.soft, "judge": self.crowd.judge}

    def right(self, predicted: Codes) -> Any:
        """Return how far each prediction agrees with the label, or with the answers."""
        return predicted == self.codes if self.crowd is None else self.crowd.right(predicted)


def settle(rows: Rows, trusted: Any, heard: Crowd | None, reviewed: str | Path | None) -> Labels:
    """Return the labels to learn from.

    Args:
        rows: the rows.
        trusted: (rows, labels) that a person has checked; None without any.
        heard: what a crowd agrees on; None without one.
        reviewed: the ``reviewed.csv`` of a review; None without one.
    """
    codes = rows.codes if heard is None else heard.labels
    if reviewed is None:
        return Labels(codes, trusted, heard)
    names, classes = rows.names, rows.classes
    decided = match(reviewed, names, codes, classes, rows.samples.name, rows.fingerprint)
    return Labels(decided.as_given(codes), decided.trusted, heard, decided)
