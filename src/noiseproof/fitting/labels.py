"""The labels to learn from: as given, as a crowd agrees, or as a review decided."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof.crowd.with_features import Checked
from noiseproof.fitting.crowd_result import Crowd
from noiseproof.fitting.review.reviewed import Reviewed, label_print, match
from noiseproof.fitting.rows import Rows
from noiseproof.prepare.classes import Codes

#: The warning if labels have changed that no decision of the review is about.
CHANGED = (
    "labels of rows that nobody reviewed have changed since the review, so its random list no "
    "longer tells how many are wrong; for that, fit the file that was reviewed"
)


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
    def checked(self) -> Checked | None:
        """The checked rows, for a crowd to go by; None without any."""
        if self.trusted is None:
            return None
        rows, codes = self.trusted
        every = np.ones(len(rows), dtype=bool)
        return Checked(rows, codes, every if self.reviewed is None else self.reviewed.random)

    @property
    def options(self) -> dict[str, Any]:
        """What a crowd adds to the options of :func:`~noiseproof.learn.learn.learn`."""
        heard = self.crowd
        if heard is None:
            return {}
        # As if nothing had been checked: learn() puts checked rows right itself.
        return {"soft": heard.consensus.free, "judge": heard.judge, "copies": heard.copies}

    def after(self, heard: Crowd | None) -> "Labels":
        """Return the labels that a crowd's answers suggest; unchanged without a crowd."""
        if heard is None:
            return self
        codes = heard.labels
        if self.reviewed is not None:
            codes = self.reviewed.as_given(codes)
        return replace(self, codes=codes, crowd=heard)


def settle(rows: Rows, trusted: Any, reviewed: str | Path | None) -> Labels:
    """Return the labels as given, and what was checked of them.

    Args:
        rows: the rows.
        trusted: (rows, labels) that a person has checked; None without any.
        reviewed: the ``reviewed.csv`` of a review; None without one.
    """
    if reviewed is None:
        return Labels(rows.codes, trusted)
    names, classes = rows.names, rows.classes
    # Labels that a crowd agrees on are estimates, and another one after a review.
    codes = rows.codes if rows.asked is None or len(rows.asked.names) == 1 else None
    decided = match(reviewed, names, codes, classes, rows.samples.name, rows.fingerprint)
    given = decided.as_given(rows.codes)
    if decided.labels and decided.labels != label_print(given, classes.names):
        rows.samples.doubts += (CHANGED,)
        given, decided = rows.codes, decided.without_sample(rows.codes)
    return Labels(given, decided.trusted, reviewed=decided)
