"""Who answered what."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: With this many answers, all of them the same, an annotator is taken to know one answer only.
REPEATED = 5


@dataclass(frozen=True, eq=False)
class Answers:
    """A answers of W annotators about N items of K classes; every item has at least one.

    Args:
        item: (A,) the item of each answer, 0 to N-1.
        annotator: (A,) who gave it, 0 to W-1.
        code: (A,) the class it names, 0 to K-1.
        names: the names of the W annotators.
        classes: K.

    >>> asked = Answers(
    ...     np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 0]), ("ann", "bob"), 2
    ... )
    >>> asked.votes.tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    item: Codes
    annotator: Codes
    code: Codes
    names: tuple[str, ...]
    classes: int

    def __post_init__(self) -> None:
        if not len(self.item) == len(self.annotator) == len(self.code):
            raise DataError("answers: expected an item, an annotator and a class for each")
        if len(self.item) == 0:
            raise DataError("answers: there are none")
        if (np.bincount(self.item) == 0).any():
            raise DataError("answers: expected at least one for each item")

    @property
    def items(self) -> int:
        """The number of items, N."""
        return int(self.item.max()) + 1

    @cached_property
    def votes(self) -> Floats:
        """How many annotators named each class, (N, K)."""
        found = np.zeros((self.items, self.classes))
        np.add.at(found, (self.item, self.code), 1.0)
        return found

    @property
    def per_item(self) -> float:
        """The mean number of answers about an item."""
        return len(self.item) / self.items

    @cached_property
    def one_sided(self) -> bool:
        """Whether most answers come from annotators who know one answer only, as rules do."""
        given = np.zeros((len(self.names), self.classes))
        np.add.at(given, (self.annotator, self.code), 1.0)
        count = given.sum(axis=1)
        always = (count >= REPEATED) & (given.max(axis=1) == count)
        return bool(2 * count[always].sum() > len(self.item))

    def start(self) -> Floats:
        """Return first soft labels (N, K): the share of the votes of an item.

        A rule that speaks for one class says nothing by its choice of answer, and the rules that
        fire everywhere would decide every vote; so votes of rules are balanced until every class
        has the same total.
        """
        votes = normalised(self.votes + DOUBT)
        if self.one_sided:
            for _ in range(ROUNDS):
                votes = normalised(votes / votes.mean(axis=0))
        return votes


#: Part of a vote that every class gets, so that no class is ruled out from the start.
DOUBT = 0.05
#: Rounds of balancing; the totals settle to three digits.
ROUNDS = 100


def normalised(values: Floats) -> Floats:
    """Return values (..., K) that sum to 1 in each row."""
    return np.asarray(values / np.maximum(values.sum(axis=-1, keepdims=True), 1e-300))
