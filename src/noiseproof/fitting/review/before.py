"""What a review changed: the same learners on the labels as given, and after the review."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noiseproof.fitting import evaluate
from noiseproof.fitting.evaluate import Accuracy
from noiseproof.fitting.review.reviewed import Reviewed
from noiseproof.learn.learn import Learned, learn
from noiseproof.prepare.classes import Codes

RANDOM = "measured on the reviewed rows of the random list, held out; exact 95% interval"


@dataclass(frozen=True)
class Figures:
    """What is said about data and model.

    Args:
        rate: the estimated share of wrong labels, with its interval.
        true: the estimated accuracy on true labels.
        random: the accuracy measured on the reviewed rows of the random list; None without any.
        suspects: how many rows are doubtful.
    """

    rate: tuple[float, float, float]
    true: Accuracy
    random: Accuracy | None
    suspects: int

    @classmethod
    def of(cls, learned: Learned, right: Any, units: Codes | None) -> "Figures":
        """Collect the figures.

        Args:
            learned: the model.
            right: of each row of the random list, if it is predicted.
            units: of each a number, equal for rows that belong together; None without such.
        """
        found = learned.estimate
        return cls(
            (found.rate, *found.rate_interval),
            evaluate.estimated(learned.predicted, learned.labels, found, learned.units),
            evaluate.exact(right, RANDOM, units) if right is not None and len(right) else None,
            len(learned.suspects().rows),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class BeforeAndAfter:
    """What was reviewed, and the figures without the review and with it."""

    reviewed: Reviewed
    before: Figures
    after: Figures

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict for JSON."""
        return self.reviewed.to_dict() | {
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }


def compare_with_given(
    matrix: Any, codes: Codes, classes: int, reviewed: Reviewed, learned: Learned, **options: Any
) -> BeforeAndAfter:
    """Train the learners of the chosen model on the labels as given, and compare.

    Args:
        matrix: (N, D) the features.
        codes: (N,) the labels as given.
        classes: K.
        reviewed: the decisions.
        learned: what was learned with them.
        options: of :func:`~noiseproof.learn.learn.learn`.
    """
    names = sorted({member.learner.name for member in learned.model.members})
    plain = learn(matrix, codes, classes, **options | {"learners": names, "search": 0})
    judges = reviewed.rows[reviewed.random]
    right = plain.probabilities[judges].argmax(axis=1) == reviewed.true[reviewed.random]
    after = learned.checked
    if after is None:  # too few rows to choose by: nothing was chosen, and all are held out
        after = learned.probabilities[judges].argmax(axis=1) == reviewed.true[reviewed.random]
    units = None if reviewed.units is None else reviewed.units[reviewed.random]
    return BeforeAndAfter(
        reviewed, Figures.of(plain, right, units), Figures.of(learned, np.asarray(after), units)
    )
