"""Who answered what."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataError
from noiseproof.noise import stream
from noiseproof.noise.matrix import Doubles

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
        groups: (N,) a number for each item, equal for items that belong together; None without
            such.

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
    groups: Codes | None = None

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
    def votes(self) -> Doubles:
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

    def copies(self) -> Codes:
        """Return (N,) a number for each item, equal for items that may be copies of one.

        Copies of an item, such as turned and cropped versions of a photo, have the same answers
        of the same people. Were one trained on while another is held out, wrong answers would be
        predicted and taken for right ones. Items with the same answers that make up more than a
        tenth of their class are too many to be copies, and rules answer alike by design.
        """
        if self.one_sided:
            return np.arange(self.items)
        key = self.annotator * self.classes + self.code
        of = _hashed_sums(self.item, key, self.items)
        _, first, group, size = np.unique(
            of, return_index=True, return_inverse=True, return_counts=True
        )
        share = normalised(self.votes)
        alone = size[group] > COPIED * (share @ share.sum(axis=0)) + 1e-9
        return np.where(alone, np.arange(self.items), first[group])

    def parts(self) -> Codes:
        """Return (N,) a part of the items for each, 0 to :data:`PARTS` - 1.

        Copies share one, and items that belong together.
        """
        draws = stream(0, "parts of the items")
        if self.groups is None or np.ptp(self.groups) == 0:  # one group leaves no other part
            return draws.permutation(self.items)[self.copies()] % PARTS
        groups, group = np.unique(self.groups, return_inverse=True)
        return draws.permutation(len(groups))[group] % PARTS

    def start(self) -> Doubles:
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


#: Parts of the items.
PARTS = 5
#: The largest share of a class that copies of one item may have.
COPIED = 0.1
#: Part of a vote that every class gets, so that no class is ruled out from the start.
DOUBT = 0.05
#: Rounds of balancing; the totals settle to three digits.
ROUNDS = 100


def normalised(values: Doubles) -> Doubles:
    """Return values (..., K) that sum to 1 in each row."""
    return np.asarray(values / np.maximum(values.sum(axis=-1, keepdims=True), 1e-300))


def _hashed_sums(group: Codes, keys: Codes, groups: int) -> Codes:
    """Return (G,) a hash of the keys of each group, whatever their order."""
    random = stream(0, "copies").integers(1 << 62, size=int(keys.max()) + 1)
    found = np.zeros(groups, dtype=np.int64)
    np.add.at(found, group, random[keys])  # wraps around, as a hash may
    return found
