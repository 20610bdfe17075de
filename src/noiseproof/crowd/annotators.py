"""What annotators answer about items of each class, and whether they answer at all.

An annotator w is described by

    pi_w[z, c]   how often they answer c about an item of class z (Dawid and Skene, 1979)
    rate_w[z]    how much more often they answer items of class z than of any class

People are asked about items at random: their rates are 1, and only what they say counts. A rule
always says the same, and fires on the items it was written for: only the rate counts.

Everything is estimated from soft labels q with three Dirichlet priors, which serve annotators
with few answers: a personal accuracy around the mean of all, rows of pi around that accuracy, and
rates around 1. The strength of each prior is the one that makes the counts most likely, so people
who all work alike are pooled, and annotators who differ are told apart.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln, logit

from noiseproof.crowd.answers import Answers, Codes, normalised
from noiseproof.noise.matrix import Doubles

#: Strengths of a prior to choose from, in answers.
STRENGTHS: tuple[float, ...] = tuple(np.geomspace(0.5, 5000, 25).tolist())
#: A person's accuracy is drawn towards the mean by this many answers at most: however alike the
#: others are, a new annotator may be different.
PERSONAL = 20.0
#: The least probability of an answer, before anything was counted.
LEAST = 1e-4


@dataclass(frozen=True, eq=False)
class Annotators:
    """Estimates for W annotators and K classes; matrices only where somebody answered.

    Args:
        pair_annotator: (P,) the annotator of each pair of annotator and answer that occurs.
        pair_code: (P,) the answer of the pair.
        pair: (A,) the pair of each answer.
        counts: (P, K) expected answers of the pair about items of each class.
        pi: (P, K) the probability of the answer given each class.
        rates: (W, K) how much more often they answer items of each class.
        accuracy: (W,) the share of right answers, drawn towards the mean of all.
        strengths: the strengths of the priors of accuracies, of rows of pi, and of rates.
        mean: the mean accuracy.
        off: (K, K) which wrong answer is given about each class, by all together.
        prior: (K,) the share of each class.
    """

    pair_annotator: Codes
    pair_code: Codes
    pair: Codes
    counts: Doubles
    pi: Doubles
    rates: Doubles
    accuracy: Doubles
    strengths: tuple[float, float, float]
    mean: float
    off: Doubles
    prior: Doubles

    @classmethod
    def of(
        cls,
        answers: Answers,
        q: Doubles,
        items: Doubles | None = None,
        strengths: tuple[float, float, float] | None = None,
    ) -> "Annotators":
        """Estimate annotators from their answers.

        Args:
            answers: the answers.
            q: (N, K) soft labels of the items.
            items: (N,) what each item counts; by default, 1.
            strengths: those of the priors; by default, the most likely ones.
        """
        W, K = len(answers.names), answers.classes
        pairs, pair = np.unique(answers.annotator * K + answers.code, return_inverse=True)
        who, said = pairs // K, pairs % K
        at = np.arange(len(pairs))
        known = q if items is None else q * items[:, None]
        counts = _sums(pair, known[answers.item], len(pairs))
        by_class = _sums(who, counts, W)
        right = np.bincount(who, counts[at, said], minlength=W)
        total = by_class.sum(axis=1)
        mean = float(right.sum() / total.sum())
        if strengths is None:
            split = np.stack([right, total - right], axis=1)
            split_mean = np.broadcast_to([mean, 1 - mean], split.shape)
            strength = min(_strength(split, split_mean, total), PERSONAL)
        else:
            strength = strengths[0]
        accuracy = (right + strength * mean) / (total + strength)

        pooled = _sums(said, counts, K).T
        off = 1 + pooled
        np.fill_diagonal(off, 0)
        off = normalised(off)
        hard = np.diag(pooled) + PERSONAL * mean
        hard = hard / (pooled.sum(axis=1) + PERSONAL)
        right_of = expit(_odds(accuracy)[:, None] + _odds(hard) - _odds(mean))
        base = (1 - right_of[who]) * off[:, said].T
        base[at, said] = right_of[who, said]
        base = np.maximum(base, LEAST)
        of_rows = _strength(counts, base, by_class) if strengths is None else strengths[1]
        pi = (counts + of_rows * base) / (by_class[who] + of_rows)

        prior = normalised(known.sum(axis=0) + LEAST)
        if strengths is None:
            of_rates = _strength(by_class, np.broadcast_to(prior, by_class.shape), total)
        else:
            of_rates = strengths[2]
        rates = normalised(by_class + of_rates * prior) / prior
        return cls(
            who, said, pair, counts, np.minimum(pi, 1), rates, accuracy,
            (strength, of_rows, of_rates), mean, off, prior,
        )  # fmt: skip

    def each(self, answers: Answers) -> Doubles:
        """Return (A, K): the log-probability of each answer, had its item each class."""
        return np.asarray(np.log(self.pi)[self.pair] + np.log(self.rates)[answers.annotator])

    def matrix(self, annotator: int) -> Doubles:
        """Return the expected answers of one annotator, (K, K): by class, then by answer."""
        found = np.zeros((len(self.prior), len(self.prior)))
        mine = np.flatnonzero(self.pair_annotator == annotator)
        found[:, self.pair_code[mine]] = self.counts[mine].T
        return found


def unseen(answers: Answers, q: Doubles, part: Codes) -> Doubles:
    """Return (A, K): the log-probability of each answer by annotators as other items show them.

    An annotator with few answers is known by little else than the answer itself, which would
    explain it whatever its item is.

    Args:
        answers: the answers.
        q: (N, K) soft labels.
        part: (N,) the part of each item; its annotators are estimated from the other parts.
    """
    found = np.empty((len(answers.item), answers.classes))
    strengths = Annotators.of(answers, q).strengths
    for k in np.unique(part):
        mine = part[answers.item] == k
        others = Annotators.of(answers, q, (part != k).astype(np.float64), strengths)
        found[mine] = others.each(answers)[mine]
    return found


def together(answers: Answers, each: Doubles) -> Doubles:
    """Return (N, K): the log-probability of all answers about an item, from that of each."""
    return _sums(answers.item, each, answers.items)


def posterior(log_likelihood: Doubles, prior: Doubles) -> Doubles:
    """Return the probability of each class, (N, K), from a prior (K,) or (N, K)."""
    found = log_likelihood + np.log(np.maximum(prior, 1e-6))
    return normalised(np.exp(found - found.max(axis=1, keepdims=True)))


def _sums(group: Codes, values: Doubles, groups: int) -> Doubles:
    """Return (G, K): the sums of the rows of each group."""
    columns = [np.bincount(group, column, minlength=groups) for column in values.T]
    return np.stack(columns, axis=1)


def _odds(p: Doubles | float) -> Doubles:
    return np.asarray(logit(np.clip(p, LEAST, 1 - LEAST)))


def _strength(counts: Doubles, mean: Doubles, totals: Doubles) -> float:
    """Return the strength of the Dirichlet prior that makes counts most likely.

    Args:
        counts: of each outcome that occurred.
        mean: of the prior, in the shape of the counts.
        totals: of the groups that the counts belong to.
    """
    counts, mean, totals = counts.ravel(), mean.ravel(), totals.ravel()
    mean = np.maximum(mean, 1e-12)

    def fit(c: float) -> float:
        groups = gammaln(c) - gammaln(c + totals)
        return float(groups.sum() + (gammaln(c * mean + counts) - gammaln(c * mean)).sum())

    return max(STRENGTHS, key=fit)
