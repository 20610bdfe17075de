"""Agree on labels by the answers and the features together.

Dawid and Skene's EM knows an item by its answers alone, and with one or two of them that is
little. Here the prior of an item is what a learner says of it that was trained on the other items:
the learner is trained on the soft labels, the soft labels follow from its held-out predictions and
the answers, and so in turn (Raykar et al., Learning from crowds, 2010, with held-out predictions
in place of fitted ones, which would confirm themselves).
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noiseproof.crowd.annotators import Annotators, posterior, together, unseen
from noiseproof.crowd.answers import Answers, Codes, normalised
from noiseproof.noise.matrix import Doubles

#: Rounds of training, and updates of the annotators after each.
ROUNDS, UPDATES = 8, 5
#: Stop when fewer labels than this share change in a round.
SETTLED = 0.002
#: Powers of the predictions to choose from.
POWERS = tuple(np.geomspace(0.3, 4, 21).tolist())
#: Powers of the soft labels to choose from by checked items, and how many of those it takes.
CERTAINTIES = tuple(np.geomspace(0.05, 2, 31).tolist())
ENOUGH = 30
#: How much of an answer is news beside the others about the item, the most first.
NEWS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)

#: From soft labels (N, K) to probabilities (N, K) for rows that were held out.
Predict = Callable[[Doubles], Doubles]


@dataclass(frozen=True, eq=False)
class Checked:
    """Items whose class is known because a person checked them.

    Args:
        rows: (M,) the items.
        codes: (M,) their true classes.
        random: (M,) whether an item was drawn at random; only these stand for all items.
    """

    rows: Codes
    codes: Codes
    random: NDArray[np.bool_]

    def take(self, some: NDArray[np.bool_]) -> "Checked":
        """Return some of the items."""
        return Checked(self.rows[some], self.codes[some], self.random[some])

    def pin(self, q: Doubles) -> Doubles:
        """Return soft labels (N, K) in which the checked items are certain."""
        out = q.copy()
        out[self.rows] = np.eye(q.shape[1])[self.codes]
        return out

    def calibrated(self, q: Doubles) -> Doubles:
        """Return soft labels (N, K) as sure as the items drawn at random show them to be."""
        rows, codes = self.rows[self.random], self.codes[self.random]
        if len(rows) < ENOUGH:
            return q

        def fit(power: float) -> float:
            return float(np.log(_powered(q[rows], power)[np.arange(len(rows)), codes]).mean())

        return _powered(q, max(CERTAINTIES, key=fit))


@dataclass(frozen=True, eq=False)
class Consensus:
    """What annotators, or annotators and features, agree on.

    Args:
        soft: (N, K) the probability of each class by the answers and the features; certain for
            items that were checked.
        judge: (N, K) the same by the answers alone, all classes being equally likely before;
            predictions for rows that were held out can be judged by it.
        annotators: the estimates that both rest on.
        news: how much of each answer is news beside the others; 1 where annotators are wrong
            independently of each other, less where they find the same items hard.
        free: (N, K) as ``soft``, but each checked item as if it had not been checked.
        cut_short: whether the time was over before the labels had settled.
    """

    soft: Doubles
    judge: Doubles
    annotators: Annotators
    news: float
    free: Doubles
    cut_short: bool = False

    @classmethod
    def of(cls, answers: Answers, soft: Doubles, checked: Checked | None = None) -> "Consensus":
        """Judge annotators by soft labels that some other method agreed on."""
        known = soft if checked is None else checked.pin(soft)
        likelihood = together(answers, unseen(answers, known, answers.parts()))
        judge = posterior(likelihood, np.ones(answers.classes))
        return cls(known, judge, Annotators.of(answers, known), 1.0, soft)

    @property
    def by_answers(self) -> Doubles:
        """The probability of each class by the answers and the share of the classes, (N, K)."""
        return normalised(self.judge * self.annotators.prior)


def agree(
    answers: Answers,
    predict: Predict | None = None,
    minutes: float = math.inf,
    checked: Checked | None = None,
    hold_out: bool = True,
) -> Consensus:
    """Return the consensus.

    With features, annotators are judged by other items than the one in question, and predictions
    are held out. So the likelihood of the answers tells how far either can be trusted, and when
    another round of training makes things worse. Rules overlap too much for that: they get every
    round, until one changes more labels than the round before, which leads away from the votes.

    Args:
        answers: the answers.
        predict: trains on soft labels and predicts held-out rows; without it the answers decide
            alone, by Dawid and Skene's EM with the priors of :mod:`noiseproof.crowd.annotators`.
        minutes: the time after which no further round is started.
        checked: items whose class is known; they tell how good the annotators are.
        hold_out: agree on each checked item without its check as well.
    """
    deadline = time.monotonic() + 60 * minutes
    pin = checked.pin if checked is not None else np.asarray
    part, q, news = answers.parts(), pin(answers.start()), 1.0
    found: list[tuple[float, Doubles, Doubles]] = []
    step = math.inf
    for turn in range(ROUNDS):
        before = q.argmax(axis=1)
        p = None if predict is None else np.asarray(predict(q), dtype=np.float64)
        if p is not None and turn == 0:
            q = pin(p)  # annotators are first judged by others: votes contain their own answers
        for _ in range(UPDATES):
            each = (
                Annotators.of(answers, q).each(answers) if p is None else unseen(answers, q, part)
            )
            likelihood = together(answers, each)
            prior = normalised(q.sum(axis=0)) if p is None else fitting(p, news * likelihood)
            news = _news(answers, each, likelihood, prior)
            free = posterior(news * likelihood, prior)
            q = pin(free)
        found.append((explained(prior, likelihood), free, news * likelihood))
        last, step = step, float((q.argmax(axis=1) != before).mean())
        settled = step < SETTLED
        if p is not None and answers.one_sided:
            worse = step > last
            if worse:
                found.pop()
        else:
            worse = p is not None and _past_best(found)
        late = time.monotonic() > deadline
        if settled or worse or late:
            break
    if p is None or answers.one_sided:
        found = found[-1:]
    _, free, likelihood = max(found, key=lambda one: one[0])
    if checked is not None and hold_out:
        if p is None:
            # Annotators were judged by the checks of the very items in question.
            for k in np.unique(part[checked.rows]):
                mine = part[checked.rows] == k
                rest = agree(answers, checked=checked.take(~mine), hold_out=False)
                free[checked.rows[mine]] = rest.free[checked.rows[mine]]
        free = checked.calibrated(free)
    q = pin(free)
    judge = posterior(likelihood, np.ones(answers.classes))
    cut_short = late and not settled and not worse and turn < ROUNDS - 1
    return Consensus(q, judge, Annotators.of(answers, q), news, free, cut_short)


def _past_best(found: Sequence[tuple[float, Doubles, Doubles]]) -> bool:
    """Return whether the last two rounds explained the answers less well than one before."""
    return len(found) > 2 and max(one[0] for one in found[:-2]) > max(one[0] for one in found[-2:])


def fitting(p: Doubles, log_likelihood: Doubles) -> Doubles:
    """Return predictions raised to the power that makes the answers most likely."""
    return _powered(p, max(POWERS, key=lambda s: explained(_powered(p, s), log_likelihood)))


def explained(p: Doubles, log_likelihood: Doubles) -> float:
    """Return the mean log-likelihood of the answers when predictions (N, K) are the prior."""
    top = log_likelihood.max(axis=1, keepdims=True)
    rest = np.log((p * np.exp(log_likelihood - top)).sum(axis=1) + 1e-300)
    return float((rest + top[:, 0]).mean())


def _news(answers: Answers, own: Doubles, log_likelihood: Doubles, prior: Doubles) -> float:
    """Return the exponent for the other answers at which they best predict a left-out answer."""
    others = log_likelihood[answers.item] - own
    before = prior if prior.ndim == 1 else prior[answers.item]

    def predicted(power: float) -> float:
        likely = (posterior(power * others, before) * np.exp(own)).sum(axis=1)
        return round(float(np.log(likely).mean()), 9)  # so that of equals the first is taken

    return max(NEWS, key=predicted)


def _powered(p: Doubles, power: float) -> Doubles:
    return normalised(np.maximum(p, 1e-6) ** power)
