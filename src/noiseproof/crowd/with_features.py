"""Agree on labels by the answers and the features together.

Dawid and Skene's EM knows an item by its answers alone, and with one or two of them that is
little. Here the prior of an item is what a learner says of it that was trained on the other items:
the learner is trained on the soft labels, the soft labels follow from its held-out predictions and
the answers, and so in turn (Raykar et al., Learning from crowds, 2010, with held-out predictions
in place of fitted ones, which would confirm themselves).
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from noiseproof.crowd.annotators import Annotators, posterior
from noiseproof.crowd.answers import Answers, Floats, normalised

#: Rounds of training, and updates of the annotators after each.
ROUNDS, UPDATES = 8, 5
#: Stop when fewer labels than this share change in a round.
SETTLED = 0.002
#: Powers of the predictions to choose from.
POWERS = tuple(np.geomspace(0.3, 4, 21).tolist())
#: How much of an answer is news beside the others about the item, the most first.
NEWS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)

#: From soft labels (N, K) to probabilities (N, K) for rows that were held out.
Predict = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Consensus:
    """What annotators, or annotators and features, agree on.

    Args:
        soft: (N, K) the probability of each class by the answers and the features.
        judge: (N, K) the same by the answers alone, all classes being equally likely before;
            predictions for rows that were held out can be judged by it.
        annotators: the estimates that both rest on.
        news: how much of each answer is news beside the others; 1 where annotators are wrong
            independently of each other, less where they find the same items hard.
    """

    soft: Floats
    judge: Floats
    annotators: Annotators
    news: float = 1.0

    @classmethod
    def of(cls, answers: Answers, soft: Floats) -> "Consensus":
        """Judge annotators by soft labels that some other method agreed on."""
        annotators = Annotators.of(answers, soft)
        likelihood = annotators.log_likelihood(answers)
        return cls(soft, posterior(likelihood, np.ones(answers.classes)), annotators)

    @property
    def by_answers(self) -> Floats:
        """The probability of each class by the answers and the share of the classes, (N, K)."""
        return normalised(self.judge * self.annotators.prior)


def agree(answers: Answers, predict: Predict | None = None, minutes: float = math.inf) -> Consensus:
    """Return the consensus.

    Args:
        answers: the answers.
        predict: trains on soft labels and predicts held-out rows; without it the answers decide
            alone, by Dawid and Skene's EM with the priors of :mod:`noiseproof.crowd.annotators`.
        minutes: the time after which no further round is started.
    """
    deadline = time.monotonic() + 60 * minutes
    q, news = answers.start(), 1.0
    for turn in range(ROUNDS):
        before = q.argmax(axis=1)
        p = None if predict is None else np.asarray(predict(q), dtype=np.float64)
        if p is not None and turn == 0:
            q = p  # annotators are first judged by others: votes contain their own answers
        for _ in range(UPDATES):
            found = Annotators.of(answers, q)
            likelihood = found.log_likelihood(answers)
            prior = found.prior if p is None else fitting(p, news * likelihood)
            news = _news(answers, found, likelihood, prior)
            q = posterior(news * likelihood, prior)
        settled = (q.argmax(axis=1) != before).mean() < SETTLED
        if settled or time.monotonic() > deadline:
            break
    judge = posterior(news * likelihood, np.ones(answers.classes))
    return Consensus(q, judge, found, news)


def fitting(p: Floats, log_likelihood: Floats) -> Floats:
    """Return predictions raised to the power that makes the answers most likely."""
    return _powered(p, max(POWERS, key=lambda s: explained(_powered(p, s), log_likelihood)))


def explained(p: Floats, log_likelihood: Floats) -> float:
    """Return the mean log-likelihood of the answers when predictions (N, K) are the prior."""
    top = log_likelihood.max(axis=1, keepdims=True)
    rest = np.log((p * np.exp(log_likelihood - top)).sum(axis=1) + 1e-300)
    return float((rest + top[:, 0]).mean())


def _news(answers: Answers, found: Annotators, log_likelihood: Floats, prior: Floats) -> float:
    """Return the power of the other answers about an item that predicts each answer best."""
    own = found.each(answers)
    others = log_likelihood[answers.item] - own
    before = prior if prior.ndim == 1 else prior[answers.item]

    def predicted(power: float) -> float:
        likely = (posterior(power * others, before) * np.exp(own)).sum(axis=1)
        return round(float(np.log(likely).mean()), 9)  # so that of equals the first is taken

    return max(NEWS, key=predicted)


def _powered(p: Floats, power: float) -> Floats:
    return normalised(np.maximum(p, 1e-6) ** power)
