"""What there is to say about each annotator."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from noiseproof.crowd.answers import Answers
from noiseproof.crowd.with_features import Consensus
from noiseproof.noise.clustered import independent, units_of
from noiseproof.noise.matrix import Doubles

#: With fewer answers than this, an annotator is not judged.
FEW = 10
#: Annotators whose answers are worth less than this, where 1 is a perfect one and 0 chance.
WORTHLESS = 0.25
#: The share of one answer from which on an annotator "always" gives it.
ALWAYS = 0.95
#: A confusion is told where it makes up this share of a class and has this many answers.
CONFUSED, LEAST = 0.15, 2.0
#: Confusions told of each annotator.
PAIRS = 2

RANDOM, SAME, AGAINST = "at random", "always the same", "worse than chance"


@dataclass(frozen=True)
class Annotator:
    """An annotator, as the others and the features see them.

    Args:
        name: the name.
        answers: how many answers they gave.
        accuracy: the estimated share of right ones.
        low: the lower end of its 95 % interval.
        high: the upper end.
        chance: the share that would be right if the same answers were given to items at random.
        verdict: :data:`RANDOM`, :data:`SAME`, :data:`AGAINST`; "" where nothing is wrong or there
            are too few answers to tell.
        confused: the most frequent mistakes: the true class, the answer, and its share; none for
            who always gives the same answer.
    """

    name: str
    answers: int
    accuracy: float
    low: float
    high: float
    chance: float
    verdict: str
    confused: tuple[tuple[int, int, float], ...]

    def to_dict(self, classes: tuple[str, ...]) -> dict[str, Any]:
        """Return the fields as a dict for JSON, with the names of the classes."""
        told = [[classes[z], classes[c], round(share, 4)] for z, c, share in self.confused]
        numbers = ("accuracy", "low", "high", "chance")
        rounded = {name: round(getattr(self, name), 4) for name in numbers}
        return asdict(self) | rounded | {"confused": told}


def judge(answers: Answers, consensus: Consensus) -> list[Annotator]:
    """Return the annotators, those with most answers first."""
    found = consensus.annotators
    given = np.zeros((len(answers.names), answers.classes))
    np.add.at(given, (answers.annotator, answers.code), 1.0)
    count = given.sum(axis=1)
    chance = given @ found.prior / count
    counts = _independent(answers, consensus.soft) + found.strengths[0]
    # Where all agree nobody is ever wrong; half an answer, as Jeffreys has it, leaves an interval.
    right = np.maximum(found.accuracy * counts, 0.5)
    wrong = np.maximum((1 - found.accuracy) * counts, 0.5)
    low, high = beta.ppf([[0.025], [0.975]], right, wrong)
    low, high = np.minimum(low, found.accuracy), np.maximum(high, found.accuracy)
    worth = (high - chance) / np.maximum(1 - chance, 1e-9)
    out = []
    for w in np.argsort(-count, kind="stable"):
        verdict, always = "", given[w].max() >= ALWAYS * count[w]
        if count[w] >= FEW and high[w] < chance[w]:
            verdict = AGAINST
        elif count[w] >= FEW and worth[w] < WORTHLESS:
            verdict = SAME if always else RANDOM
        one = Annotator(
            answers.names[w], int(count[w]), float(found.accuracy[w]), float(low[w]),
            float(high[w]), float(chance[w]), verdict,
            () if always else _confused(found.matrix(int(w))),
        )  # fmt: skip
        out.append(one)
    return out


def _independent(answers: Answers, soft: Doubles) -> Doubles:
    """Return (W,) how many independent answers would say as much of each annotator.

    Whoever finds a document hard finds all of its sentences hard.
    """
    count = np.bincount(answers.annotator, minlength=len(answers.names))
    if answers.groups is None:
        return count.astype(np.float64)
    right, group = soft[answers.item, answers.code], answers.groups[answers.item]
    order = np.argsort(answers.annotator, kind="stable")
    ends = np.cumsum(count)[:-1]
    mine = zip(np.split(right[order], ends), np.split(group[order], ends), strict=True)
    return np.array([independent(values, units_of(units)) for values, units in mine])


def _confused(counts: Any) -> tuple[tuple[int, int, float], ...]:
    """Return the most frequent mistakes, by how many of a class's items they take."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9)
    shares[(counts < LEAST) | (shares < CONFUSED)] = 0
    np.fill_diagonal(shares, 0)
    order = np.argsort(-shares, axis=None, kind="stable")[:PAIRS]
    found = [divmod(int(at), len(counts)) for at in order]
    return tuple((z, c, float(shares[z, c])) for z, c in found if shares[z, c] > 0)
